# Complex values are split before.
class G(torch.nn.Module):
    def forward(self, x: "c64[2]"):
        y = torch.ops.aten.neg.default(x)
        return (y,)
