class GraphModule(torch.nn.Module):
    def forward(self, box: "f16[1024, 16]", up: "f16[4, 16, 32]", down: "f16[4, 16, 8]", at: "i64[500]", many: "i64[4, 200]", far: "i64[50]", f: "f32[1024, 16]"):
        # two products of a chain, whose rows one gather reads, the last index for none
        rows: "f16[4, 256, 16]" = torch.ops.aten.view.default(box, [4, 256, 16])
        both: "f16[4, 256, 32]" = torch.ops.aten.bmm.default(rows, up)
        halves = torch.ops.aten.chunk.default(both, 2, -1)
        gate: "f16[4, 256, 16]" = halves[0]
        value: "f16[4, 256, 16]" = halves[1]
        silu: "f16[4, 256, 16]" = torch.ops.aten.silu.default(gate)
        hidden: "f16[4, 256, 16]" = torch.ops.aten.mul.Tensor(silu, value)
        out: "f16[4, 256, 8]" = torch.ops.aten.bmm.default(hidden, down)
        flat: "f16[1024, 8]" = torch.ops.aten.view.default(out, [1024, 8])
        zero: "f16[1, 8]" = torch.ops.aten.new_zeros.default(flat, [1, 8])
        all: "f16[1025, 8]" = torch.ops.aten.cat.default([flat, zero])
        chosen: "f16[500, 8]" = torch.ops.aten.index.Tensor(all, [at])
        # more than three quarters of the rows
        most: "f16[4, 256, 32]" = torch.ops.aten.bmm.default(rows, up)
        most_flat: "f16[1024, 32]" = torch.ops.aten.view.default(most, [1024, 32])
        most_chosen: "f16[4, 200, 32]" = torch.ops.aten.index.Tensor(most_flat, [many])
        # another use reads all
        seen: "f16[4, 256, 32]" = torch.ops.aten.bmm.default(rows, up)
        seen_flat: "f16[1024, 32]" = torch.ops.aten.view.default(seen, [1024, 32])
        seen_chosen: "f16[50, 32]" = torch.ops.aten.index.Tensor(seen_flat, [far])
        sum: "f16[32]" = torch.ops.aten.sum.dim_IntList(seen, [0, 1])
        # two gathers
        two: "f16[4, 256, 32]" = torch.ops.aten.bmm.default(rows, up)
        two_flat: "f16[1024, 32]" = torch.ops.aten.view.default(two, [1024, 32])
        two_first: "f16[50, 32]" = torch.ops.aten.index.Tensor(two_flat, [far])
        two_second: "f16[500, 32]" = torch.ops.aten.index.Tensor(two_flat, [at])
        # the index comes after the product
        own: "f16[4, 256, 32]" = torch.ops.aten.bmm.default(rows, up)
        own_flat: "f16[1024, 32]" = torch.ops.aten.view.default(own, [1024, 32])
        slice: "f16[50, 16]" = torch.ops.aten.slice.Tensor(box, 0, 0, 50)
        own_at: "i64[50]" = torch.ops.aten.argmax.default(slice, 1)
        own_chosen: "f16[50, 32]" = torch.ops.aten.index.Tensor(own_flat, [own_at])
        # 32-bit floats are left to libraries
        wide_rows: "f32[4, 256, 16]" = torch.ops.aten.view.default(f, [4, 256, 16])
        wide_up: "f32[4, 16, 32]" = torch.ops.aten.to.dtype(up, torch.float32)
        wide: "f32[4, 256, 32]" = torch.ops.aten.bmm.default(wide_rows, wide_up)
        wide_flat: "f32[1024, 32]" = torch.ops.aten.view.default(wide, [1024, 32])
        wide_chosen: "f32[50, 32]" = torch.ops.aten.index.Tensor(wide_flat, [far])
        return (chosen, most_chosen, seen_chosen, sum, two_first, two_second, own_chosen, wide_chosen)
