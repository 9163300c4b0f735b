def forward(self, x: "f32[1, 2, 4, 6]"):
    a = torch.ops.aten.upsample_bilinear2d.vec(x, [8, 6], False, None)
    b = torch.ops.aten.upsample_bicubic2d.vec(x, [4, 3], False, None)
    return (a, b)
