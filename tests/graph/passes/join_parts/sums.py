class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[4, 6]", b: "f32[4, 6]", c: "f32[4, 6]", d: "f32[2, 4, 6]", w: "f32[3, 4, 6]"):
        # three rows in another order; a gap and an end of zeros
        z: "f32[3, 4, 6]" = torch.ops.aten.full.default([3, 4, 6], 0, dtype = torch.float32)
        s0: "f32[3, 4, 6]" = torch.ops.aten.select_scatter.default(z, a, 0, 2)
        s1: "f32[3, 4, 6]" = torch.ops.aten.select_scatter.default(z, b, 0, -2)
        s2: "f32[3, 4, 6]" = torch.ops.aten.select_scatter.default(z, c, 0, 0)
        t0: "f32[3, 4, 6]" = torch.ops.aten.add.Tensor(s0, s1)
        whole: "f32[3, 4, 6]" = torch.ops.aten.add.Tensor(t0, s2)
        y: "f32[7, 4, 6]" = torch.ops.aten.full.default([7, 4, 6], 0.0, dtype = torch.float32)
        p0: "f32[7, 4, 6]" = torch.ops.aten.slice_scatter.default(y, d, 0, 3, 5)
        p1: "f32[7, 4, 6]" = torch.ops.aten.select_scatter.default(y, a, 0, 1)
        gaps: "f32[7, 4, 6]" = torch.ops.aten.add.Tensor(p0, p1)
        return (whole, gaps)
