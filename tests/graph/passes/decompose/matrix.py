# Too many rows for a tile.
class G(torch.nn.Module):
    def forward(self, x: "f32[33, 33]"):
        y = torch.ops.aten.linalg_inv.default(x)
        return (y,)
