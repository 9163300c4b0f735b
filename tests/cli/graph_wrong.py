class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, s0]", *more):
        a: "f99[2]" = torch.ops.aten.relu.default(y)
        b = torch.ops.aten.relu.default(x if x else x)
        b = torch.ops.aten.relu.default(x)
        for i in x:
            pass
        return (b,)
        c = torch.ops.aten.relu.default(b)
