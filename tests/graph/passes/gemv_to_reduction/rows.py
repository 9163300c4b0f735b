class GraphModule(torch.nn.Module):
    def forward(self, v: "bf16[1, 1024]", w: "bf16[2048, 1024]", plain: "bf16[1024, 512]", c: "f32[1024, 1]", s: "f32[64, 1024]", u: "bf16[2, 1024]"):
        transposed: "bf16[1024, 2048]" = torch.ops.aten.permute.default(w, [1, 0]);  w = None
        row: "bf16[1, 2048]" = torch.ops.aten.mm.default(v, transposed)
        rows_apart: "bf16[1, 512]" = torch.ops.aten.mm.default(v, plain);  v = plain = None
        column: "f32[64, 1]" = torch.ops.aten.mm.default(s, c);  s = c = None
        two_rows: "bf16[2, 2048]" = torch.ops.aten.mm.default(u, transposed);  u = transposed = None
        return (row, rows_apart, column, two_rows)
