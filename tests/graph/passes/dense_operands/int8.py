# Operands of products of 8-bit integers are next to each other along the sum.
class GraphModule(torch.nn.Module):
    def forward(self, x: "i8[512, 256]", w: "i8[384, 256]", z: "i8[256, 64]"):
        wt: "i8[256, 384]" = torch.ops.aten.permute.default(w, [1, 0])
        next: "i32[512, 384]" = nereid.int8_mm.default(x, wt)
        apart: "i32[512, 64]" = nereid.int8_mm.default(x, z)
        return (next, apart)
