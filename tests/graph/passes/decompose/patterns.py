def forward(self, x: "f32[3, 4]", b: "b8[3, 4]", i: "i64[5]", v: "f32[3]"):
    a = torch.ops.aten.tril.default(x)
    c = torch.ops.aten.triu.default(b, 1)
    d = torch.ops.aten.eye.m(3, 4)
    e = torch.ops.aten.one_hot.default(i, 10)
    f = torch.ops.aten.linspace.default(0, 1, 5)
    g = torch.ops.aten.diag_embed.default(v, -1)
    return (a, c, d, e, f, g)
