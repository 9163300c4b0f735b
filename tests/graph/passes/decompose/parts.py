def forward(self, x: "f32[5, 6]", s: "f32[s0, 4]"):
    a = torch.ops.aten.slice.Tensor(x, 1, -4, -1)
    b = torch.ops.aten.slice.Tensor(x, 0, 1, 9223372036854775807, 2)
    c = torch.ops.aten.narrow.default(x, 1, -3, 2)
    d = torch.ops.aten.select.int(x, 1, -1)
    e = torch.ops.aten.chunk.default(x, 2, 0)
    f = e[0]
    g = e[1]
    h = torch.ops.aten.split_with_sizes.default(x, [1, 2, 3], 1)
    i = h[2]
    j = torch.ops.aten.unbind.int(x, 0)
    k = j[4]
    l = torch.ops.aten.slice.Tensor(s, 0, -1)
    m = torch.ops.aten.slice.Tensor(s, 0, 0, 16)
    n = torch.ops.aten.cat.default(e, 0)
    return (a, b, c, d, f, g, i, k, l, m, n)
