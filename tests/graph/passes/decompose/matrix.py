# Too many rows for a step each.
class G(torch.nn.Module):
    def forward(self, x: "f32[17, 17]"):
        y = torch.ops.aten.linalg_inv.default(x)
        return (y,)
