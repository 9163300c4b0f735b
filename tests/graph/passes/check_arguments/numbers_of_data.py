# Numbers that .item() reads, which an integer of few bits, or a float, may not hold.
class M(torch.nn.Module):
    def forward(self, x: "i8[4]", y: "f32[4]", n: "i64[]", k: "i8[]", f: "f64[]", e: "f32[]"):
        i = torch.ops.aten.item.default(n)
        j = torch.ops.aten.item.default(k)
        a = torch.ops.aten.item.default(f)
        b = torch.ops.aten.item.default(e)
        checked = torch.ops.aten.full.default([3], i, dtype = torch.int8)
        least = torch.ops.aten.clamp_min.default(x, i)
        large = torch.ops.aten.full_like.default(y, a)
        byte = torch.ops.aten.full.default([3], j, dtype = torch.uint8)
        held = torch.ops.aten.full.default([3], j, dtype = torch.int32)
        whole = torch.ops.aten.full.default([3], i, dtype = torch.int64)
        float = torch.ops.aten.full.default([3], b, dtype = torch.float32)
        return (checked, least, large, byte, held, whole, float)
