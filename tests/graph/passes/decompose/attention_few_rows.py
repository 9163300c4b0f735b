# Nine tenths of the multiprocessors have a program without shares of keys.
def forward(self, q: "bf16[119, 1, 1, 16]", k: "bf16[119, 1, 2048, 16]", r: "bf16[118, 1, 1, 16]", l: "bf16[118, 1, 2048, 16]"):
    a = torch.ops.aten.scaled_dot_product_attention.default(q, k, k)
    b = torch.ops.aten.scaled_dot_product_attention.default(r, l, l)
    return (a, b)
