class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, s0]", *more):
        a: "f99[2]" = torch.ops.aten.relu.default(y)
        b = torch.ops.aten.relu.default(x if x else x)
        b = torch.ops.aten.relu.default(x)
        self = torch.ops.aten.relu.default(b)
        for i in x:
            pass
        return (self,)
        c = torch.ops.aten.relu.default(self)
