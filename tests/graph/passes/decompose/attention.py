# Heads that are too wide for the kernel.
def forward(self, q: "f32[2, 4, 3, 264]", k: "f32[2, 4, 5, 264]", v: "f32[2, 4, 5, 6]"):
    a = torch.ops.aten.scaled_dot_product_attention.default(q, k, v)
    return (a,)
