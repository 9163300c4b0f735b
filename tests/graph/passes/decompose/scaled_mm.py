# Products of 8-bit floats: the unit's sums, by scales of the whole and of rows after them, by those
# of blocks within them.
class GraphModule(torch.nn.Module):
    def forward(self, x: "f8e4m3fn[48, 320]", w: "f8e4m3fn[160, 320]", v: "f8e5m2[160, 320]", e: "f32[]", g: "f32[1]", h: "f32[48, 1]", k: "f32[1, 160]", c: "bf16[160]", ab: "f32[48, 3]", bb: "f32[3, 2]", bc: "f32[3, 160]", aw: "f32[1, 3]"):
        t: "f8e4m3fn[320, 160]" = torch.ops.aten.permute.default(w, [1, 0])
        u: "f8e5m2[320, 160]" = torch.ops.aten.permute.default(v, [1, 0])
        whole: "bf16[48, 160]" = torch.ops.aten._scaled_mm.default(x, t, e, g, c, None, torch.bfloat16)
        rows: "f32[48, 160]" = torch.ops.aten._scaled_mm.default(x, u, h, k, None, None, torch.float32, True)
        blocks: "f32[48, 160]" = torch.ops.aten._scaled_mm.default(x, t, ab, bb, None, None, torch.float32)
        both: "f16[48, 160]" = torch.ops.aten._scaled_mm.default(x, t, ab, bc, None, None, torch.float16, True)
        wide: "f32[48, 160]" = torch.ops.aten._scaled_mm.default(x, t, aw, bc, None, None, torch.float32)
        return (whole, rows, blocks, both, wide)
