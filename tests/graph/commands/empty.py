def forward(self, x: "f32[0, 4]", y: "f32[4, 0]"):
    a = torch.ops.aten.sum.dim_IntList(x, [0])
    b = torch.ops.aten.prod.dim_int(x, 0)
    c = torch.ops.aten.any.dim(x, 0)
    d = torch.ops.aten.sum.default(x)
    e = torch.ops.aten.cumsum.default(x, 0)
    f = torch.ops.aten.mm.default(y, x)
    g = torch.ops.aten.mm.default(x, y)
    return (a, b, c, d, e, f, g)
