# Indices of which it is not known; equal checks are one, and tell the first node.  What counts from
# the end by itself is looked through, and so are casts between integers.
class M(torch.nn.Module):
    def forward(self, x: "f32[6, 4]", y: "f32[s0, 4]", i: "i64[5]", j: "i32[5]", t: "i64[6]"):
        a: "f32[5, 4]" = torch.ops.aten.embedding.default(x, i)
        b: "f32[5, 4]" = torch.ops.aten.index_select.default(x, 0, i)
        c: "f32[5, 4]" = torch.ops.aten.index.Tensor(x, [i])
        wide: "i64[5]" = torch.ops.aten.to.dtype(j, torch.int64)
        d: "f32[5, 4]" = torch.ops.aten.embedding.default(y, wide)
        low: "b8[5]" = torch.ops.aten.lt.Scalar(i, 0)
        moved: "i64[5]" = torch.ops.aten.add.Tensor(i, 4)
        wrapped: "i64[5]" = torch.ops.aten.where.self(low, moved, i)
        e: "f32[6, 5]" = torch.ops.aten.index_select.default(x, 1, wrapped)
        f: "f32[]" = torch.ops.aten.cross_entropy_loss.default(x, t)
        limited: "i64[5]" = torch.ops.aten.clamp.default(i, 0, 6)
        g: "f32[5, 4]" = torch.ops.aten.embedding.default(x, limited)
        narrow: "i32[5]" = torch.ops.aten.add.Tensor(j, 1)
        h: "f32[5, 4]" = torch.ops.aten.embedding.default(x, narrow)
        k: "f32[5, 4]" = torch.ops.aten._unsafe_index.Tensor(x, [i])
        return (a, b, c, d, e, f, g, h, k)
