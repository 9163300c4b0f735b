class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, s1, s2, s3, s4, s5, s6, s7]"):
        p0 = torch.ops.aten.permute.default(x, [7, 6, 5, 4, 3, 2, 1, 0])
        v0 = torch.ops.aten.view.default(p0, [s0, s1, s2, s3, s4, s5, s6, s7])
        p1 = torch.ops.aten.permute.default(v0, [7, 6, 5, 4, 3, 2, 1, 0])
        v1 = torch.ops.aten.view.default(p1, [s0, s1, s2, s3, s4, s5, s6, s7])
        p2 = torch.ops.aten.permute.default(v1, [7, 6, 5, 4, 3, 2, 1, 0])
        v2 = torch.ops.aten.view.default(p2, [s0, s1, s2, s3, s4, s5, s6, s7])
        p3 = torch.ops.aten.permute.default(v2, [7, 6, 5, 4, 3, 2, 1, 0])
        v3 = torch.ops.aten.view.default(p3, [s0, s1, s2, s3, s4, s5, s6, s7])
        r = torch.ops.aten.relu.default(v3)
        return (r,)
