# Distributions and histograms whose numbers eager mode refuses; draws_taken.py has those next to them.
class M(torch.nn.Module):
    def forward(self, x: "f32[2]"):
        a0 = torch.ops.aten.exponential.default(x, 0.0)
        a1 = torch.ops.aten.exponential.default(x, -1.0)
        a2 = torch.ops.aten.geometric.default(x, 0.0)
        a3 = torch.ops.aten.geometric.default(x, 1.0)
        a4 = torch.ops.aten.log_normal.default(x, 1.0, 0.0)
        a5 = torch.ops.aten.cauchy.default(x, 0.0, 0.0)
        a6 = torch.ops.aten.uniform.default(x, 3.0, -2.0)
        a7 = torch.ops.aten.normal_functional.default(x, 0.0, -1.0)
        a8 = torch.ops.aten.histogram.bin_ct(x, 4, range=[1.0, -1.0])
        a9 = torch.ops.aten.histogram.bin_ct(x, 4, range=[-inf, inf])
        return (a0,)
