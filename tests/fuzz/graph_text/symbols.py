def forward(self, s: "f32[1, 2, 3, s0]"):
    c: "f32[1, 2, 3, u1]" = torch.ops.aten.upsample_nearest2d.vec(s, None, [1.0, 2.5])
    d: "i64[u2]" = torch.ops.aten.arange.start_step(0, u2, 1, dtype = torch.int64)
    return (c, d)
