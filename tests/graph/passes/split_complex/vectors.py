# Vectors are solved from the left alone.
class G(torch.nn.Module):
    def forward(self, a: "c64[3, 3]", b: "c64[3]"):
        x = torch.ops.aten.linalg_solve.default(a, b, left = False)
        return (x,)
