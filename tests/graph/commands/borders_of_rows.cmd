# Places of reflected and replicated borders are expressions of indices that are known to be in range, so
# that nothing is checked and a CPU computes them once a row; a kernel has rows of columns.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[2, 40, 56]"):
    i = torch.ops.prims.iota.default(58, start = -1, step = 1, dtype = torch.int64, device = device(type='cpu'), requires_grad = False)
    left = torch.ops.aten.abs.default(i)
    back = torch.ops.aten.sub.Tensor(55, left)
    right = torch.ops.aten.abs.default(back)
    place = torch.ops.aten.sub.Tensor(55, right)
    reflected = torch.ops.aten.index.Tensor(x, [None, None, place])
    least = torch.ops.aten.full.default([58], 0, dtype = torch.int64)
    most = torch.ops.aten.full.default([58], 55, dtype = torch.int64)
    above = torch.ops.aten.maximum.default(i, least)
    inside = torch.ops.aten.minimum.default(above, most)
    replicated = torch.ops.aten.index.Tensor(x, [None, None, inside])
    return (reflected, replicated)
MODEL
nereid graph $TMP/m.py --device cpu --emit kernels | grep 'index =\|tl.load\|check'
for d in cpu interp; do
  nereid graph $TMP/m.py --random-inputs --device $d 2>/dev/null
done
