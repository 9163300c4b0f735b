def forward(self, p_w: "f32[8, 3, 3, 3]", p_d: "f32[8, 1, 4]", p_t: "f32[3, 8, 2, 2]", p_b: "f32[8]", x: "f32[2, 3, 9, 9]", l: "f32[8, 12]"):
    a = torch.ops.aten.conv2d.default(x, p_w, p_b, 2, [1, 0])
    b = torch.ops.aten.conv2d.padding(x, p_w, None, [1, 1], 'same', [2, 2])
    c = torch.ops.aten.conv1d.default(l, p_d, p_b, groups = 8)
    d = torch.ops.aten.conv1d.padding(l, p_d, None, 1, 'same', 1, 8)
    e = torch.ops.aten.conv_transpose2d.input(x, p_t, p_b, [2, 2], 0, 1)
    return (a, b, c, d, e)
