# Indices that are in range whatever the data is have no check.
class M(torch.nn.Module):
    def forward(self, x: "f32[6, 4]", y: "f32[s0, 4]", i: "i64[5]", n: "f32[6, 9]"):
        places: "i64[6]" = torch.ops.aten.arange.default(6)
        a: "f32[6, 4]" = torch.ops.aten.index_select.default(x, 0, places)
        rows: "i64[s0]" = torch.ops.aten.arange.default(s0)
        b: "f32[s0, 4]" = torch.ops.aten.index_select.default(y, 0, rows)
        largest: "i64[4]" = torch.ops.aten.argmax.default(x, 0)
        c: "f32[4, 4]" = torch.ops.aten.index_select.default(x, 0, largest)
        top = torch.ops.aten.topk.default(x, 2, 0)
        chosen: "i64[2, 4]" = top[1]
        d: "f32[2, 4]" = torch.ops.aten.gather.default(x, 0, chosen)
        limited: "i64[5]" = torch.ops.aten.clamp.default(i, 0, 5)
        e: "f32[5, 4]" = torch.ops.aten.embedding.default(x, limited)
        rest: "i64[5]" = torch.ops.aten.remainder.Scalar(i, 6)
        f: "f32[5, 4]" = torch.ops.aten.embedding.default(x, rest)
        below: "i64[5]" = torch.ops.aten.sub.Tensor(rest, 6)
        g: "f32[5, 4]" = torch.ops.aten.index.Tensor(x, [below])
        bits: "i64[5]" = torch.ops.aten.bitwise_and.Scalar(i, 3)
        h: "f32[6, 5]" = torch.ops.aten.index.Tensor(x, [None, bits])
        sorted = torch.ops.aten.sort.default(n)
        order: "i64[6, 9]" = sorted[1]
        k: "f32[6, 9]" = torch.ops.aten.scatter_add.default(n, 1, order, n)
        halves: "i64[5]" = torch.ops.aten.floor_divide.default(rest, 2)
        both: "i64[10]" = torch.ops.aten.cat.default([halves, bits])
        l: "f32[6, 10]" = torch.ops.aten.index_select.default(x, 1, both)
        return (a, b, c, d, e, f, g, h, k, l)
