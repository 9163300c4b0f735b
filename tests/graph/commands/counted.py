def forward(self, x: "f32[s0]", y: "f32[s0]"):
    # The annotation says how many elements are positive, and that two tensors have as many.
    a: "b8[s0]" = torch.ops.aten.gt.Scalar(x, 0)
    b: "b8[s0]" = torch.ops.aten.gt.Scalar(y, 0)
    c: "f32[2]" = torch.ops.aten.masked_select.default(x, a)
    d: "f32[u0]" = torch.ops.aten.masked_select.default(y, a)
    e: "f32[u0]" = torch.ops.aten.masked_select.default(y, b)
    return (c, d, e)
