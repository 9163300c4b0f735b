def forward(self, x: "f32[4]"):
    a = torch.ops.aten.neg.default(x)
    b = torch.ops.aten.relu_.default(a)
    return (b,)
