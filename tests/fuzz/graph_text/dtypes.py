def forward(self, x: "f32[2]"):
    a = torch.ops.aten.no_such_op.default(x, torch.float8_e5m2fnuz, dtype = torch.complex64)
    b = torch.ops.aten.no_such_op.default(a, torch.float8_e4m3fnuz, torch.complex32)
    return (b,)
