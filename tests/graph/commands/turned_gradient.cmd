# On a CPU the copy of a gradient in another order of axes, for the product of a weight's gradient, is not in the loops
# that sum its columns, which have other elements in common order; a copy of the elements that are summed is.
cat >$TMP/m.py <<'MODEL'
def forward(self, g: "f32[96, 160]", x: "f32[96, 64]"):
    t = torch.ops.aten.permute.default(g, [1, 0])
    turned = torch.ops.aten.clone.default(t)
    bias = torch.ops.aten.sum.dim_IntList(g, [0], True)
    scaled = torch.ops.aten.mul.Tensor(x, 2)
    sums = torch.ops.aten.sum.dim_IntList(x, [0], True)
    return (turned, bias, scaled, sums)
MODEL
nereid graph $TMP/m.py --device cpu --emit fused
$PYTHON -c "
import numpy as np
np.save('$TMP/g.npy', np.arange(96 * 160, dtype=np.float32).reshape(96, 160))
np.save('$TMP/x.npy', np.arange(96 * 64, dtype=np.float32).reshape(96, 64))"
for d in cpu interp; do nereid graph $TMP/m.py $TMP/g.npy $TMP/x.npy --device $d; done
