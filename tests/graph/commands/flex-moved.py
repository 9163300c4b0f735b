def forward(self, q: "f32[1, 2, 64, 16]", k: "f32[1, 2, 64, 16]", v: "f32[1, 2, 64, 16]"):
    x = torch.ops.nereid.attention_scores.default(q, k, scale = 0.25)
    moved = torch.ops.aten.transpose.int(x, 2, 3)
    t = torch.ops.aten.mul.Tensor(moved, 2.0)
    y = torch.ops.aten.add.Tensor(x, t)
    r = torch.ops.nereid.flex_attention.default(q, k, v, y, None, None, None, None, None, 0, 0, scale = 0.25)
    o = r[0]
    return (o,)
