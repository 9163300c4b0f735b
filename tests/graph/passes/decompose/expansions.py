def forward(self, x: "f32[2, 3]", v: "f32[3]", w: "f32[2]"):
    a = torch.ops.aten.expand.default(x, [4, -1, 3])
    b = torch.ops.aten.expand_as.default(v, x)
    c = torch.ops.aten.repeat.default(x, [2, 1, 4])
    d = torch.ops.aten.tile.default(x, [5])
    e = torch.ops.aten.repeat_interleave.self_int(x, 3, 1)
    f = torch.ops.aten.repeat_interleave.self_int(x, 2)
    g = torch.ops.aten.broadcast_tensors.default([x, v])
    h = g[1]
    i = torch.ops.aten.meshgrid.indexing([v, w], indexing = 'xy')
    j = i[0]
    k = i[1]
    return (a, b, c, d, e, f, h, j, k)
