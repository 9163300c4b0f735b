class GraphModule(torch.nn.Module):
    def forward(self, short: "bf16[4096, 999]", y: "bf16[999, 768]", narrow: "bf16[4096, 50257]", v: "bf16[50257, 16]", wide: "f32[4096, 1537]", u: "f32[1537, 768]", aligned: "bf16[4096, 2048]", t: "bf16[2048, 768]", open: "bf16[s0, 1537]", s: "bf16[1537, 768]"):
        # short rows, a product of few columns, elements of 32 bits, aligned rows, an open number of rows
        a: "bf16[4096, 768]" = torch.ops.aten.mm.default(short, y);  short = y = None
        b: "bf16[4096, 16]" = torch.ops.aten.mm.default(narrow, v);  narrow = v = None
        c: "f32[4096, 768]" = torch.ops.aten.mm.default(wide, u);  wide = u = None
        d: "bf16[4096, 768]" = torch.ops.aten.mm.default(aligned, t);  aligned = t = None
        e: "bf16[s0, 768]" = torch.ops.aten.mm.default(open, s);  open = s = None
        return (a, b, c, d, e)
