def forward(self, x: "f32[3, 4]", m: "b8[3]"):
    a = torch.ops.aten.nonzero.default(x)
    b = torch.ops.aten.index.Tensor(x, [m])
    return (a, b)
