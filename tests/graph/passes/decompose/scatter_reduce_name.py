def forward(self, x: "f32[4]", i: "i64[3]", y: "f32[3]"):
    a = torch.ops.aten.scatter_reduce.two(x, 0, i, y, 'median')
    return (a,)
