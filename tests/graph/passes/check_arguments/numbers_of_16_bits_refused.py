# Numbers that eager mode makes an element of, and 16 bits, or an integer, can't hold.
class M(torch.nn.Module):
    def forward(self, x: "f16[4]", u: "u8[4]", m: "b8[4]", t: "b8[4]", f: "f64[]", y: "bf16[4]", i: "i64[1]", s: "f16[1]"):
        a = torch.ops.aten.item.default(f)
        fill = torch.ops.aten.fill.Scalar(x, 65519.0)
        largest = torch.ops.aten.fill.Scalar(x, 65504.0)
        masked = torch.ops.aten.masked_fill.Scalar(x, m, -100000)
        slope = torch.ops.aten.leaky_relu.default(x, 100000.0)
        byte = torch.ops.aten.fill.Scalar(u, 255.5)
        negative = torch.ops.aten.fill.Scalar(u, -0.5)
        wraps = torch.ops.aten.fill.Scalar(u, -255)
        alpha = torch.ops.aten.add.Tensor(t, m, alpha = a)
        beta = torch.ops.aten.softplus.default(x, 1e39)
        added = torch.ops.aten.index_add.default(x, 0, i, s, alpha = 100000.0)
        wide = torch.ops.aten.fill.Scalar(y, 3.395e38)
        widest = torch.ops.aten.fill.Scalar(y, 3.3895313892515355e38)
        return (fill, largest, masked, slope, byte, negative, wraps, alpha, beta, added, wide, widest)
