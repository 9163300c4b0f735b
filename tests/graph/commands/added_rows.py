# Rows go where an index says one after the other; those of bags are their bag's.
class Tables(torch.nn.Module):
    def forward(self, x: "f32[s0, 200]", i: "i64[s1]", v: "bf16[s1, 200]", g: "f32[20, 32]",
                token: "i64[90]", number: "i64[90]", offset: "i64[20]", weight: "f32[90]", cube: "f32[4, 9, 30]",
                at: "i64[4, 50, 30]", new: "f32[4, 50, 30]"):
        wide: "f32[s1, 200]" = torch.ops.aten.to.dtype(v, torch.float32)
        rows: "f32[s0, 200]" = torch.ops.aten.index_add.default(x, 0, i, wide)
        bags: "f32[300, 32]" = torch.ops.aten._embedding_bag_backward.default(
            g, token, offset, number, offset, offset, 300, False, 0, False, weight)
        most: "f32[4, 9, 30]" = torch.ops.aten.scatter_reduce.two(cube, 1, at, new, "amax")
        return (rows, bags, most)
