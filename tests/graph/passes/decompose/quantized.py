# A zero point in a domain that there is not.
class G(torch.nn.Module):
    def forward(self, x: "i8[4, 4]", s: "f32[4]"):
        y = torch.ops.torchao.dequantize_affine.default(x, [1, 4], s, None, torch.int8, -8, 7, 'HALF')
        return (y,)
