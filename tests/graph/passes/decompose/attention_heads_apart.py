def forward(self, q: "f16[1, 4, 1030, 16]", k: "f16[1, 1, 9, 16]", v: "f16[1, 1, 9, 8]", a0: "f16[1, 4, 1030, 8]", a1: "f32[1, 4, 1030]", g: "f16[1, 4, 1030, 8]"):
    b = torch.ops.nereid.scaled_dot_product_attention_backward.default(g, q, k, v, None, a0, a1, None, 0.0, [True, True, True, False])
    b0 = b[0]
    b1 = b[1]
    b2 = b[2]
    return (b0, b1, b2)
