# Of a transposed one it may be either.
def forward(self, x: "f32[4, 6]"):
    base = torch.ops.aten.neg.default(x)
    t = torch.ops.aten.t.default(base)
    reshape = torch.ops.aten.reshape.default(t, [24])
    relu_ = torch.ops.aten.relu_.default(base)
    exp = torch.ops.aten.exp.default(reshape)
    return (exp,)
