class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 32]"):
        y: "f32[s0, 32]" = torch.ops.aten.squeeze.dim(x, 0)
        return (y,)
