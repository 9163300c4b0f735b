def forward(self, x: "u8[2]", n: "Sym(s0)"):
    a = torch.ops.aten.expand.default(x, [n, 2])
    b = torch.ops.aten.add.Tensor(a, 1)
    return (b,)
