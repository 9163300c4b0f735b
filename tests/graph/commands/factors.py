# Integers that are drawn are 0: matrices of zeros are singular.
class M(torch.nn.Module):
    def forward(self, x: "i64[2, 3, 3]"):
        a: "f32[2, 3, 3]" = torch.ops.aten._to_copy.default(x, dtype=torch.float32)
        inverse = torch.ops.aten.linalg_inv.default(a)
        return (inverse,)
