def forward(self, x: "f32[2, 5, s0]"):
    a = torch.ops.aten.pad.default(x, [1, 2])
    b = torch.ops.aten.pad.default(x, [1, 2, 0, 3], 'constant', 0.5)
    c = torch.ops.aten.reflection_pad1d.default(x, [2, 1])
    d = torch.ops.aten.replication_pad2d.default(x, [0, 0, 1, 1])
    e = torch.ops.aten.pad.default(x, [1, 1], 'circular')
    return (a, b, c, d, e)
