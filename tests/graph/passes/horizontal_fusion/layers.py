# Query, key and value, of which one has no bias, become one product; so do two whose results
# pointwise ops use, of few rows.  Others stay: one that a pointwise op uses, one of no weights,
# one of a width that is no multiple of 16.
def forward(self, p_q: "f32[16, 8]", p_qb: "f32[16]", p_k: "f32[32, 8]", p_n: "f32[12, 8]", p_v: "f32[16, 8]", p_vb: "f32[16]", p_g: "f32[8, 8]", x: "f32[2, 40, 8]", y: "f32[3, 8]", w: "f32[4, 8]"):
    q = torch.ops.aten.linear.default(x, p_q, p_qb)
    k = torch.ops.aten.linear.default(x, p_k)
    v = torch.ops.aten.linear.default(x, p_v, p_vb)
    n = torch.ops.aten.linear.default(x, p_n)
    g = torch.ops.aten.linear.default(x, p_g)
    s = torch.ops.aten.tanh.default(g)
    qt = torch.ops.aten.transpose.int(q, 1, 2)
    m = torch.ops.aten.matmul.default(qt, v)
    up = torch.ops.aten.linear.default(y, p_q)
    gate = torch.ops.aten.linear.default(y, p_v)
    t = torch.ops.aten.tanh.default(gate)
    z = torch.ops.aten.mul.Tensor(t, up)
    own = torch.ops.aten.linear.default(y, w)
    return (m, k, n, s, z, own)
