def forward(self, q: "f32[1, 2, 6, 16]", k: "f32[1, 2, 9, 16]", v: "f32[1, 2, 9, 8]", bias: "f32[1, 2, 6, 9]", g: "f32[1, 2, 6, 8]"):
    a = torch.ops.aten._scaled_dot_product_efficient_attention.default(q, k, v, bias, True)
    a0 = a[0]
    a1 = a[1]
    a2 = a[2]
    a3 = a[3]
    b = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default(g, q, k, v, bias, a0, a1, a2, a3, 0.0, [True, True, True, True])
    b0 = b[0]
    b1 = b[1]
    b2 = b[2]
    b3 = b[3]
    return (a0, b0, b1, b2, b3)
