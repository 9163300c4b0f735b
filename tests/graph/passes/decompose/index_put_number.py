# One value for all that indices name is chosen where there is a writer, and not gathered.
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[9, 4]", at: "i64[3, 2]", v: "f32[1]"):
        zero: "f32[]" = torch.ops.aten.full.default([], 0.0)
        rows: "f32[9, 4]" = torch.ops.aten.index_put.default(x, [at], zero)
        columns: "f32[9, 4]" = torch.ops.aten.index_put.default(x, [None, at], v)
        return (rows, columns)
