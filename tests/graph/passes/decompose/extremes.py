def forward(self, x: "f32[2, 3, 4]"):
    a = torch.ops.aten.max.default(x)
    b = torch.ops.aten.max.dim(x, -1, True)
    c = b[0]
    d = b[1]
    e = torch.ops.aten.min.dim(x, 0)
    f = e[1]
    g = torch.ops.aten.amin.default(x, [-2])
    h = torch.ops.aten.argmax.default(x)
    i = torch.ops.aten.argmin.default(x, -1)
    j = torch.ops.aten.aminmax.default(x, dim = 1)
    k = j[1]
    return (a, c, d, f, g, h, i, k)
