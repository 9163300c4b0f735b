# A size that is read when the plan runs; and one that cannot be.
$PYTHON -c "
import numpy as np
for n in 0, 3, 4, 5, -1: np.save(f'$TMP/{n}.npy', np.int64(n))"
for n in 0 3 4 5 -1; do nereid graph read.plan $TMP/$n.npy --device interp; done
# How often numbers occur: one is negative, one has no room, and one has no number after it.
$PYTHON -c "
import numpy as np
for n in 3, -3, 70000, 2**63 - 1: np.save(f'$TMP/{n}.npy', np.array([1, n, 1]))"
cat > $TMP/bincount.py <<'END'
def forward(self, x: "i64[3]"):
    y = torch.ops.aten.bincount.default(x)
    return (y,)
END
for n in 3 -3 70000 9223372036854775807; do
  nereid graph $TMP/bincount.py $TMP/$n.npy --device interp
done
