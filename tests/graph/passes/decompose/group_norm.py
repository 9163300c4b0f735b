def forward(self, p_w: "f32[6]", p_b: "f32[6]", x: "f32[2, 6, 4, s0]"):
    a = torch.ops.aten.group_norm.default(x, 3, p_w, p_b)
    b = torch.ops.aten.instance_norm.default(x, None, None, None, None, True, 0.1, 1e-05, False)
    return (a, b)
