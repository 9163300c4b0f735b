def forward(self, p_b: "f32[5]", x: "f32[3, 4]", y: "f32[4, 5]", s: "f32[2, 3, 5]", bx: "f32[2, 3, 4]", by: "f32[2, 4, 5]", v: "f32[4]"):
    a = torch.ops.aten.addmm.default(p_b, x, y)
    b = torch.ops.aten.addmm.default(p_b, x, y, beta = 2, alpha = 0.5)
    c = torch.ops.aten.addmm.default(p_b, x, y, beta = 0)
    d = torch.ops.aten.baddbmm.default(s, bx, by)
    e = torch.ops.aten.mv.default(x, v)
    f = torch.ops.aten.dot.default(v, v)
    g = torch.ops.aten.outer.default(v, p_b)
    return (a, b, c, d, e, f, g)
