# Numbers that eager mode makes an element of 16 bits of, and numbers that it computes with in f32;
# a float that an integer's dtype can't hold, though the integer next to it could be.
class M(torch.nn.Module):
    def forward(self, x: "f16[4]", u: "u8[4]", m: "b8[4]", f: "f64[]", h: "f16[]", n: "i64[]"):
        a = torch.ops.aten.item.default(f)
        b = torch.ops.aten.item.default(h)
        i = torch.ops.aten.item.default(n)
        fill = torch.ops.aten.fill.Scalar(x, a)
        one = torch.ops.aten.full.default([1], a, dtype = torch.float16)
        whole = torch.ops.aten.full_like.default(x, i)
        held = torch.ops.aten.full_like.default(x, b)
        masked = torch.ops.aten.masked_fill.Scalar(x, m, a)
        bound = torch.ops.aten.clamp.default(x, a)
        slope = torch.ops.aten.leaky_relu.default(x, a)
        byte = torch.ops.aten.fill.Scalar(u, a)
        power = torch.ops.aten.pow.Tensor_Scalar(x, a)
        return (fill, one, whole, held, masked, bound, slope, byte, power)
