# What was written to inputs and buffers goes out behind the outputs.
def forward(self, b_cache: "f32[1, 8, 4]", b_count: "i64[]", x: "f32[1, 2, 4]", pos: "i64[2]"):
    index_copy_ = torch.ops.aten.index_copy_.default(b_cache, 1, pos, x)
    sum_1 = torch.ops.aten.sum.dim_IntList(index_copy_, [1])
    add_ = torch.ops.aten.add_.Tensor(b_count, 1)
    mul = torch.ops.aten.mul.Tensor(sum_1, b_count)
    return (mul,)
