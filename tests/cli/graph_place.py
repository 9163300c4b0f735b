class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[1048576, 10465535, 1048576]", y: "f32[4]"):
        a = torch.ops.aten.mul.Tensor(x, 2)
        b = torch.ops.aten.exp.default(y)
        return (a, b)
