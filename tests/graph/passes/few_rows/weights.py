class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[2, 256]", one: "bf16[1, 256]", many: "bf16[9, 256]", w: "bf16[64, 256]", b: "i8[64, 256]", turned: "bf16[256, 64]", p_w: "bf16[64, 256]", odd: "bf16[2, 132]", v: "bf16[64, 132]"):
        # a weight as it is, along the sum
        rows: "bf16[256, 64]" = torch.ops.aten.permute.default(w, [1, 0])
        few: "bf16[2, 64]" = torch.ops.aten.mm.default(x, rows)
        # one row of it; many rows are a product of tiles
        row: "bf16[1, 64]" = torch.ops.aten.mm.default(one, rows)
        long: "bf16[9, 64]" = torch.ops.aten.mm.default(many, rows);  many = rows = None
        # bytes
        wide: "bf16[64, 256]" = torch.ops.aten.to.dtype(b, torch.bfloat16);  b = None
        bytes: "bf16[256, 64]" = torch.ops.aten.permute.default(wide, [1, 0]);  wide = None
        packed: "bf16[1, 64]" = torch.ops.aten.mm.default(one, bytes);  one = bytes = None
        # along columns
        across: "bf16[2, 64]" = torch.ops.aten.mm.default(x, turned);  turned = None
        # constant: pass pack has these
        constant: "bf16[256, 64]" = torch.ops.aten.permute.default(p_w, [1, 0]);  p_w = None
        panels: "bf16[2, 64]" = torch.ops.aten.mm.default(x, constant);  x = constant = None
        # no multiple of a vector along the sum
        short: "bf16[132, 64]" = torch.ops.aten.permute.default(v, [1, 0]);  v = None
        rest: "bf16[2, 64]" = torch.ops.aten.mm.default(odd, short);  odd = short = None
        return (few, row, long, packed, across, panels, rest)
