class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[1, 2, 7, 2, 7, 3]"):
        permute = torch.ops.aten.permute.default(x, [0, 5, 2, 1, 4, 3])
        view = torch.ops.aten.reshape.default(permute, [1, 3, 14, 14])
        pool = torch.ops.aten.avg_pool2d.default(view, [3, 3], [2, 2], [1, 1])
        unsqueeze = torch.ops.aten.unsqueeze.default(view, 4)
        stored = torch.ops.aten.sum.dim_IntList(unsqueeze, [4])
        expected = torch.ops.aten.avg_pool2d.default(stored, [3, 3], [2, 2], [1, 1])
        sub = torch.ops.aten.sub.Tensor(pool, expected)
        abs_1 = torch.ops.aten.abs.default(sub)
        amax = torch.ops.aten.amax.default(abs_1)
        return (amax,)
