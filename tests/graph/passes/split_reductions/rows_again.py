# Elements of the rows of `x` meet their maximum again: one kernel keeps a row.  Those of `total` don't; there
# are too few of `few`, and those of `long` are too long.
def forward(self, x: "f32[512, 131072]", few: "f32[100, 131072]", long: "f32[512, 524288]"):
    most = torch.ops.aten.amax.default(x, [1], True)
    less = torch.ops.aten.sub.Tensor(x, most)
    total = torch.ops.aten.sum.dim_IntList(x, [1])
    most_few = torch.ops.aten.amax.default(few, [1], True)
    less_few = torch.ops.aten.sub.Tensor(few, most_few)
    most_long = torch.ops.aten.amax.default(long, [1], True)
    less_long = torch.ops.aten.sub.Tensor(long, most_long)
    return (less, total, less_few, less_long)
