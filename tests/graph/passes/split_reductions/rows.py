class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[16, 1048576]", y: "f32[4096, 8192]", z: "f32[1000000]"):
        long: "f32[16]" = torch.ops.aten.sum.dim_IntList(x, [1]);  x = None
        many: "f32[4096]" = torch.ops.aten.sum.dim_IntList(y, [1]);  y = None
        one: "f32[]" = torch.ops.aten.sum.dim_IntList(z, [0]);  z = None
        return (long, many, one)
