# Indices that are scaled by exact floats are expressions, as of the nearest pixel of half an image;
# those that are rounded, or may be negative, are computed.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[4, 64]"):
    arange = torch.ops.aten.arange.default(128)
    to = torch.ops.aten.to.dtype(arange, torch.float32)
    add = torch.ops.aten.add.Tensor(to, 0.5)
    half = torch.ops.aten.mul.Tensor(add, 0.5)
    exact = torch.ops.aten.to.dtype(half, torch.int64)
    a = torch.ops.aten.index.Tensor(x, [None, exact])
    third = torch.ops.aten.mul.Tensor(to, 0.3333)
    rounded = torch.ops.aten.to.dtype(third, torch.int64)
    b = torch.ops.aten.index.Tensor(x, [None, rounded])
    below = torch.ops.aten.sub.Tensor(half, 0.5)
    negative = torch.ops.aten.to.dtype(below, torch.int64)
    c = torch.ops.aten.index.Tensor(x, [None, negative])
    lower = torch.ops.aten.floor.default(below)
    floor = torch.ops.aten.to.dtype(lower, torch.int64)
    d = torch.ops.aten.index.Tensor(x, [None, floor])
    small = torch.ops.aten.to.dtype(arange, torch.bfloat16)
    eighth = torch.ops.aten.mul.Tensor(small, 0.125)
    octave = torch.ops.aten.to.dtype(eighth, torch.int64)
    e = torch.ops.aten.index.Tensor(x, [None, octave])
    scaled = torch.ops.aten.mul.Tensor(small, 0.375)
    lost = torch.ops.aten.to.dtype(scaled, torch.int64)
    f = torch.ops.aten.index.Tensor(x, [None, lost])
    return (a, b, c, d, e, f)
MODEL
nereid graph $TMP/m.py --device cpu --emit kernels --no-checks | grep -o 'tl.load(in0_ptr.*, mask'
# What an operand loses as it is cast to the operator's dtype is no exact float.
cat >$TMP/n.py <<'MODEL'
def forward(self, x: "f32[64]"):
    arange = torch.ops.aten.arange.start(20000000, 20000010)
    rest = torch.ops.aten.sub.Tensor(arange, 20000000.0)
    place = torch.ops.aten.to.dtype(rest, torch.int64)
    a = torch.ops.aten.index.Tensor(x, [place])
    return (a,)
MODEL
nereid graph $TMP/n.py --device cpu --emit kernels --no-checks | grep -o 'tl.load(in0_ptr.*, mask'
