class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[2048, 1024]", v: "bf16[1, 1024]", u: "bf16[32, 8192]", w: "bf16[2048, 1024]", z: "bf16[2048, 8192]", plain: "bf16[1024, 512]", c: "f32[1024, 1]", s: "f32[64, 1024]"):
        transposed: "bf16[1024, 2048]" = torch.ops.aten.permute.default(w, [1, 0])
        many_rows: "bf16[2048, 2048]" = torch.ops.aten.mm.default(x, transposed);  x = None
        row: "bf16[1, 2048]" = torch.ops.aten.mm.default(v, transposed);  transposed = None
        rows_apart: "bf16[1, 512]" = torch.ops.aten.mm.default(v, plain);  v = plain = None
        long: "bf16[8192, 2048]" = torch.ops.aten.permute.default(z, [1, 0]);  z = None
        few_rows: "bf16[32, 2048]" = torch.ops.aten.mm.default(u, long);  u = long = None
        column: "f32[64, 1]" = torch.ops.aten.mm.default(s, c);  s = c = None
        return (many_rows, row, rows_apart, few_rows, column)
