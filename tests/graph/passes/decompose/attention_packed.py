# Few rows of heads that share their keys are packed; many aren't, nor are those with dropout.
def forward(self, q: "f32[2, 6, 5, 16]", k: "f32[2, 2, 50, 16]", v: "f32[2, 2, 50, 16]", many: "f32[2, 6, 64, 16]"):
    a = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, True, enable_gqa=True)
    b = torch.ops.aten.scaled_dot_product_attention.default(many, k, v, enable_gqa=True)
    c = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.5, enable_gqa=True)
    return (a, b, c)
