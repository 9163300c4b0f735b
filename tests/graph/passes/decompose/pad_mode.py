def forward(self, x: "f32[2, 5]"):
    a = torch.ops.aten.pad.default(x, [1, 2], 'mirror')
    return (a,)
