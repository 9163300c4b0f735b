# Eager mode runs what nothing uses, and finds its indices out of range.
class M(torch.nn.Module):
    def forward(self, x: "f32[6, 4]", i: "i64[5]", j: "i64[5]"):
        used: "f32[5, 4]" = torch.ops.aten.index_select.default(x, 0, i)
        moved: "i64[5]" = torch.ops.aten.add.Tensor(j, 1)
        unused: "f32[5, 4]" = torch.ops.aten.index_select.default(x, 0, moved)
        doubled: "f32[5, 4]" = torch.ops.aten.mul.Tensor(unused, 2.0)
        return (used,)
