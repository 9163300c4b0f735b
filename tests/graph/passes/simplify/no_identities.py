# -0.0 + 0 is 0.0; dropout in training, casts, and what broadcasts do something.
def forward(self, x: "f32[4, 4]", i: "i64[4]", s: "f32[]"):
    a = torch.ops.aten.add.Tensor(x, 0)
    b = torch.ops.aten.dropout.default(a, 0.5, True)
    c = torch.ops.aten.dropout.default(a, 0.5, True)
    d = torch.ops.aten.permute.default(b, [1, 0])
    e = torch.ops.aten.flip.default(d, [0])
    f = torch.ops.aten.constant_pad_nd.default(e, [1, -1])
    g = torch.ops.aten.mul.Tensor(i, 1.0)
    h = torch.ops.aten.add.Tensor(i, 0, alpha = 2)
    k = torch.ops.aten.div.Tensor(i, 1)
    l = torch.ops.aten.mul.Tensor(s, x)
    m = torch.ops.aten.roll.default(l, [1], [0])
    return (f, c, g, h, k, m)
