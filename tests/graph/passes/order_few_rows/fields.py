class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 256]", q: "u8[64, 128]", s: "f32[64, 2]", w: "f32[64, 256]"):
        # two fields a byte
        lo: "u8[64, 128]" = torch.ops.aten.bitwise_and.Scalar(q, 15)
        at: "i32[2]" = torch.ops.aten.arange.start_step(0, 8, 4, dtype = torch.int32);  lo = None
        bytes: "u8[64, 128, 1]" = torch.ops.aten.unsqueeze.default(q, 2);  q = None
        words: "i32[64, 128, 1]" = torch.ops.aten.to.dtype(bytes, torch.int32);  bytes = None
        shifted: "i32[64, 128, 2]" = torch.ops.aten.bitwise_right_shift.Tensor(words, at);  words = at = None
        fields: "i32[64, 128, 2]" = torch.ops.aten.bitwise_and.Scalar(shifted, 15);  shifted = None
        groups: "i32[64, 2, 128]" = torch.ops.aten.view.default(fields, [64, 2, 128]);  fields = None
        scales: "f32[64, 2, 1]" = torch.ops.aten.unsqueeze.default(s, 2);  s = None
        scaled: "f32[64, 2, 128]" = torch.ops.aten.mul.Tensor(groups, scales);  groups = scales = None
        rows: "f32[64, 256]" = torch.ops.aten.view.default(scaled, [64, 256]);  scaled = None
        weight: "f32[256, 64]" = torch.ops.aten.permute.default(rows, [1, 0]);  rows = None
        packed: "f32[2, 64]" = nereid.packed_mm.default(x, weight, torch.float32);  weight = None
        # as it is
        whole: "f32[256, 64]" = torch.ops.aten.permute.default(w, [1, 0]);  w = None
        plain: "f32[2, 64]" = nereid.packed_mm.default(x, whole, torch.float32);  x = whole = None
        return (packed, plain)
