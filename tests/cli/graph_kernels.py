class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, s0]"):
        a = torch.ops.aten.nonzero.default(x)
        return (a,)
