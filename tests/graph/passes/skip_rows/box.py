class GraphModule(torch.nn.Module):
    def forward(self, x: "f16[500, 16]", up: "f16[4, 16, 32]", down: "f16[4, 32, 8]", at: "i64[500]", other: "i64[500]", full: "f16[1024, 16]"):
        # a box that is read by the index that it is written by, and casts between the products
        box: "f16[1024, 16]" = torch.ops.aten.index_put.default(full, [at], x)
        rows: "f16[4, 256, 16]" = torch.ops.aten.view.default(box, [4, 256, 16])
        both: "f16[4, 256, 32]" = torch.ops.aten.bmm.default(rows, up)
        wide: "f32[4, 256, 32]" = torch.ops.prims.convert_element_type.default(both, torch.float32)
        exp: "f32[4, 256, 32]" = torch.ops.aten.exp.default(wide)
        hidden: "f16[4, 256, 32]" = torch.ops.prims.convert_element_type.default(exp, torch.float16)
        out: "f16[4, 256, 8]" = torch.ops.aten.bmm.default(hidden, down)
        flat: "f16[1024, 8]" = torch.ops.aten.view.default(out, [1024, 8])
        chosen: "f16[500, 8]" = torch.ops.aten.index.Tensor(flat, [at])
        # by another index, and by sums
        kept: "f16[1024, 16]" = torch.ops.aten.index_put.default(full, [other], x)
        kept_rows: "f16[4, 256, 16]" = torch.ops.aten.view.default(kept, [4, 256, 16])
        kept_both: "f16[4, 256, 32]" = torch.ops.aten.bmm.default(kept_rows, up)
        kept_flat: "f16[1024, 32]" = torch.ops.aten.view.default(kept_both, [1024, 32])
        kept_chosen: "f16[500, 32]" = torch.ops.aten.index.Tensor(kept_flat, [at])
        sums: "f16[1024, 16]" = torch.ops.aten.index_put.default(full, [at], x, True)
        sums_rows: "f16[4, 256, 16]" = torch.ops.aten.view.default(sums, [4, 256, 16])
        sums_both: "f16[4, 256, 32]" = torch.ops.aten.bmm.default(sums_rows, up)
        sums_flat: "f16[1024, 32]" = torch.ops.aten.view.default(sums_both, [1024, 32])
        sums_chosen: "f16[500, 32]" = torch.ops.aten.index.Tensor(sums_flat, [at])
        return (chosen, kept_chosen, sums_chosen)
