# Exponentials of what is at most 0 have the short form where its error is none beside others.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "bf16[64]", y: "f32[64]"):
    to = torch.ops.aten.to.dtype(x, torch.float32)
    square = torch.ops.aten.mul.Tensor(to, to)
    scaled = torch.ops.aten.mul.Tensor(square, -0.5)
    short = torch.ops.aten.exp.default(scaled)
    grown = torch.ops.aten.mul.Tensor(square, 0.5)
    large = torch.ops.aten.exp.default(grown)
    square_1 = torch.ops.aten.mul.Tensor(y, y)
    scaled_1 = torch.ops.aten.mul.Tensor(square_1, -0.5)
    whole = torch.ops.aten.exp.default(scaled_1)
    product = torch.ops.aten.mul.Tensor(to, y)
    scaled_2 = torch.ops.aten.mul.Tensor(product, -0.5)
    mixed = torch.ops.aten.exp.default(scaled_2)
    return (short, large, whole, mixed)
MODEL
nereid graph $TMP/m.py --device cpu --emit kernels | sed -n 's/^ *\(exp.* = .*exp(.*\)/\1/p'
