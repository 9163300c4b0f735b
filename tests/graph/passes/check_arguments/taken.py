# Calls that look like those of refused.py: infinity, numbers that wrap, sums that overflow.
class M(torch.nn.Module):
    def forward(self, x0: "f32[2]", x1: "f32[2]", x2: "u8[2]", m2: "b8[2]", x3: "f64[2]", x4: "f16[2]", m4: "b8[2]", x5: "f32[1, 3, 8]", w5: "f32[3, 6, 3]", x6: "i64[2]", x7: "f32[2]", x8: "f32[2]", x9: "i64[2]", x10: "i64[2]", x11: "b8[2]"):
        r0 = torch.ops.aten.clamp.default(x0, None, inf)
        r1 = torch.ops.aten.add.Tensor(x1, 1e39)
        r2 = torch.ops.aten.masked_fill.Scalar(x2, m2, -1)
        r3 = torch.ops.aten.fill.Scalar(x3, 3.4e39)
        r4 = torch.ops.aten.masked_fill.Scalar(x4, m4, -65504.0)
        r5 = torch.ops.aten.conv_transpose1d.default(x5, w5, None, [2], [0], [1])
        r6 = torch.ops.aten.pow.Tensor_Scalar(x6, -1.0)
        r7 = torch.ops.aten.celu.default(x7, 0.5)
        r8 = torch.ops.aten.randint.low(0, 256, [2], dtype=torch.uint8)
        r9 = torch.ops.aten.fill.Scalar(x9, 9223372036854775807)
        r10 = torch.ops.aten.clamp.default(x10, -9223372036854775808, 9223372036854775807)
        r11 = torch.ops.aten.fill.Scalar(x11, 300)
        return (r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11)
