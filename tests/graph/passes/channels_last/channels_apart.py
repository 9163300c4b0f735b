class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 4, 4, 64]", y: "f32[2, 16, 64]"):
        # The tensor that the last permutation reads has its sizes last, but not in memory.
        permute: "f32[2, 64, 4, 4]" = torch.ops.aten.permute.default(x, [0, 3, 1, 2]);  x = None
        view: "f32[2, 64, 16]" = torch.ops.aten.view.default(permute, [2, 64, 16]);  permute = None
        back: "f32[2, 16, 64]" = torch.ops.aten.permute.default(view, [0, 2, 1]);  view = None
        add: "f32[2, 16, 64]" = torch.ops.aten.add.Tensor(back, y);  back = y = None
        return (add,)
