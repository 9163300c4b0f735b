class GraphModule(torch.nn.Module):
    def forward(self, x: "f16[16, 256]", q: "i32[32, 128]", s: "f16[2, 128]", k: "f16[256, 128]", b: "i8[256, 128]", many: "f16[4096, 256]"):
        # words of eight fields, with scales of groups
        at: "i32[8]" = torch.ops.aten.arange.start_step(0, 32, 4, dtype = torch.int32)
        shifts: "i32[1, 8, 1]" = torch.ops.aten.view.default(at, [1, 8, 1]);  at = None
        words: "i32[32, 1, 128]" = torch.ops.aten.unsqueeze.default(q, 1);  q = None
        shifted: "i32[32, 8, 128]" = torch.ops.aten.bitwise_right_shift.Tensor(words, shifts);  words = shifts = None
        fields: "i32[32, 8, 128]" = torch.ops.aten.bitwise_and.Scalar(shifted, 15);  shifted = None
        groups: "i32[2, 128, 128]" = torch.ops.aten.view.default(fields, [2, 128, 128]);  fields = None
        scales: "f16[2, 1, 128]" = torch.ops.aten.unsqueeze.default(s, 1);  s = None
        scaled: "f16[2, 128, 128]" = torch.ops.aten.mul.Tensor(groups, scales);  groups = scales = None
        weight: "f16[256, 128]" = torch.ops.aten.view.default(scaled, [256, 128]);  scaled = None
        packed: "f16[16, 128]" = torch.ops.aten.mm.default(x, weight);  weight = None
        # as many bytes as the weight has: it is written once
        halved: "f16[256, 128]" = torch.ops.aten.mul.Tensor(k, 0.5);  k = None
        kept: "f16[16, 128]" = torch.ops.aten.mm.default(x, halved);  x = halved = None
        # many rows: so is this
        wide: "f16[256, 128]" = torch.ops.aten.to.dtype(b, torch.float16);  b = None
        long: "f16[4096, 128]" = torch.ops.aten.mm.default(many, wide);  many = wide = None
        return (packed, kept, long)
