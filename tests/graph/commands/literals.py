def forward(self, x: "u8[3]"):
    a = torch.ops.aten.new_full.default(x, [3], -1)
    b = torch.ops.aten.eq.Scalar(a, -1)
    c = torch.ops.aten.constant_pad_nd.default(x, [1, 1], -2)
    return (a, b, c)
