# The tensor that is written keeps its dtype.
def forward(self, x: "bf16[4]", y: "f32[4]", mask: "b8[4]", other: "b8[4]"):
    copy = torch.ops.aten.clone.default(x)
    add_ = torch.ops.aten.add_.Tensor(copy, y)
    div_ = torch.ops.aten.div_.Tensor(copy, 3)
    copy_ = torch.ops.aten.copy_.default(copy, y)
    bits = torch.ops.aten.clone.default(mask)
    iand = torch.ops.aten.__iand__.Tensor(bits, other)
    return (copy, bits)
