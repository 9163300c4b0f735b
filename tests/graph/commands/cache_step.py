# A new row of a cache, and sums over all of it.
def forward(self, cache: "f32[64, 4096, 128]", x: "f32[64, 1, 128]", position: "i64[1]"):
    new = torch.ops.aten.index_put.default(cache, [None, position], x)
    largest = torch.ops.aten.amax.default(new, [1])
    y = torch.ops.aten.sum.dim_IntList(largest, [0])
    u = torch.ops.aten.copy_.default(cache, new)
    return (y,)
