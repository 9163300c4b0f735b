def forward(self, x: "f32[4, 6]", y: "f32[4, 2]", z: "f32[4]", r: "f32[6]", m: "f32[2, 6]"):
    a = torch.ops.aten.slice_scatter.default(x, y, 1, 3, 5)
    b = torch.ops.aten.slice_scatter.default(x, y, 1, -2)
    c = torch.ops.aten.slice_scatter.default(x, m, 0, 0, 4, 2)
    d = torch.ops.aten.select_scatter.default(x, z, 1, 0)
    e = torch.ops.aten.select_scatter.default(x, r, 0, -1)
    return (a, b, c, d, e)
