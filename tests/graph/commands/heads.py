def forward(self, q: "f32[h, 32]", k: "f32[g, 32]"):
    q4 = torch.ops.aten.view.default(q, [1, h, 1, 32])
    k4 = torch.ops.aten.view.default(k, [1, g, 1, 32])
    a = torch.ops.aten.scaled_dot_product_attention.default(q4, k4, k4, enable_gqa = True)
    return (a,)
