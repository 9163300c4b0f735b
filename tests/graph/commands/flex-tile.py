def forward(self, q: "f32[1, 2, 64, 16]", k: "f32[1, 2, 64, 16]", v: "f32[1, 2, 64, 16]"):
    x = torch.ops.nereid.attention_scores.default(q, k, scale = 0.25)
    y = torch.ops.aten.mul.Tensor(x, 2.0)
    r = torch.ops.nereid.flex_attention.default(q, k, v, y, None, None, None, None, None, 0, 0, scale = 0.25)
    o = r[0]
    sums = torch.ops.aten.sum.dim_IntList(y, [3])
    return (o, sums)
