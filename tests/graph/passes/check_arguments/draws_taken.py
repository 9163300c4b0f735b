# Distributions at the limits of their numbers.
class M(torch.nn.Module):
    def forward(self, x: "f32[2]"):
        a0 = torch.ops.aten.exponential.default(x, 0.001)
        a1 = torch.ops.aten.geometric.default(x, 0.999)
        a2 = torch.ops.aten.log_normal.default(x, 1.0, 0.001)
        a3 = torch.ops.aten.uniform.default(x, 2.0, 2.0)
        a4 = torch.ops.aten.normal_functional.default(x, 0.0, 0.0)
        return (a0,)
