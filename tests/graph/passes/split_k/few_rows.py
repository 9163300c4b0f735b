class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[2048, 1024]", u: "bf16[32, 8192]", w: "bf16[2048, 1024]", z: "bf16[2048, 8192]"):
        transposed: "bf16[1024, 2048]" = torch.ops.aten.permute.default(w, [1, 0]);  w = None
        many_rows: "bf16[2048, 2048]" = torch.ops.aten.mm.default(x, transposed);  x = transposed = None
        long: "bf16[8192, 2048]" = torch.ops.aten.permute.default(z, [1, 0]);  z = None
        few_rows: "bf16[32, 2048]" = torch.ops.aten.mm.default(u, long);  u = long = None
        return (many_rows, few_rows)
