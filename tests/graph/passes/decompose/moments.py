def forward(self, x: "f32[2, 3, s0]", h: "f16[2, 8]"):
    a = torch.ops.aten.var.correction(x, [0, 1], correction = 0)
    b = torch.ops.aten.std.dim(h, [1], True, True)
    c = torch.ops.aten.var_mean.correction(x, [2])
    d = c[0]
    e = c[1]
    f = torch.ops.aten.linalg_vector_norm.default(x, 2, [-1])
    g = torch.ops.aten.linalg_vector_norm.default(h, 1)
    i = torch.ops.aten.linalg_vector_norm.default(x, 3, [0], True)
    j = torch.ops.aten.linalg_vector_norm.default(x, inf, [1])
    return (a, b, d, e, f, g, i, j)
