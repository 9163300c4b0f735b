def forward(self, p_w: "f32[5, 4]", p_b: "f32[5]", x: "f32[2, s0, 4]", m: "f32[3, 4]", v: "f32[4]"):
    a = torch.ops.aten.linear.default(x, p_w, p_b)
    b = torch.ops.aten.linear.default(m, p_w)
    c = torch.ops.aten.linear.default(v, p_w, p_b)
    return (a, b, c)
