def forward(self, x: "f32[2, 3, 4]", y: "f32[2, 4, 5]", z: "f32[5, 6]", s: "f32[4, 4]", q: "f32[7, 2, 3, 4]"):
    a = torch.ops.aten.einsum.default('bij,bjk->bik', [x, y])
    b = torch.ops.aten.einsum.default('bij,bjk,kl->li', [x, y, z])
    c = torch.ops.aten.einsum.default('ij->ji', [z])
    d = torch.ops.aten.einsum.default('bij', [x])
    e = torch.ops.aten.einsum.default('...ij,...kj->...ik', [x, q])
    f = torch.ops.aten.einsum.default('ii->i', [s])
    g = torch.ops.aten.einsum.default('ij,kl->ikl', [s, z])
    return (a, b, c, d, e, f, g)
