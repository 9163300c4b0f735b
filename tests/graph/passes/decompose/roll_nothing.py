def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.roll.default(x, [])
    b = torch.ops.aten.neg.default(a)
    return (b,)
