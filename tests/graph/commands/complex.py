class GraphModule(torch.nn.Module):
    def forward(self, x: "c64[4, s0]", y: "f32[s0]"):
        z: "c64[4, s0]" = torch.ops.aten.mul.Tensor(x, y)
        a: "f32[4, s0]" = torch.ops.aten.abs.default(z)
        return (z, a)
