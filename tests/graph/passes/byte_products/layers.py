# Layers of dequantized bytes: a convolution whose weight has zero points, a product with a weight's
# transpose.  A product of other floats stays.
def forward(self, x: "u8[2, 6, 5, 7]", w: "i8[8, 3, 3, 1]", s: "f32[8]", z: "i64[8]", b: "f32[8]", m: "i8[4, 12]", v: "i8[5, 12]", t: "f32[5]", f: "f32[4, 12]"):
    xf = torch.ops.quantized_decomposed.dequantize_per_tensor.default(x, 0.5, 120, 0, 255, torch.uint8)
    wf = torch.ops.quantized_decomposed.dequantize_per_channel.default(w, s, z, 0, -128, 127, torch.int8)
    y = torch.ops.aten.convolution.default(xf, wf, b, [1, 2], [1, 0], [1, 1], False, [0, 0], 2)
    mf = torch.ops.quantized_decomposed.dequantize_per_tensor.default(m, 0.25, 0, -128, 127, torch.int8)
    vf = torch.ops.quantized_decomposed.dequantize_per_channel.default(v, t, None, 0, -128, 127, torch.int8)
    u = torch.ops.aten.permute.default(vf, [1, 0])
    p = torch.ops.aten.addmm.default(t, mf, u)
    o = torch.ops.aten.mm.default(f, u)
    return (y, p, o)
