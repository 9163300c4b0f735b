# Weights of windows in the order of a CPU's products, also turned as a gradient has them: tiles of both orders, though a
# window has nine elements.
cat >$TMP/m.py <<'MODEL'
def forward(self, w: "f32[100, 96, 3, 3]"):
    a = torch.ops.aten.permute.default(w, [2, 3, 0, 1])
    b = torch.ops.aten.clone.default(a)
    c = torch.ops.aten.flip.default(w, [2, 3])
    d = torch.ops.aten.permute.default(c, [2, 3, 1, 0])
    e = torch.ops.aten.clone.default(d)
    return (b, e)
MODEL
nereid graph $TMP/m.py --device cpu --emit plan | sed -n 's|^step \([a-z0-9_]*\)(.*%[a-z0-9_]*, \(.*\)) grid.*|\1 \2|p'
$PYTHON -c "
import numpy as np
w = np.arange(100 * 96 * 9, dtype=np.float32).reshape(100, 96, 3, 3); np.save('$TMP/w.npy', w)"
for d in cpu interp; do nereid graph $TMP/m.py $TMP/w.npy --device $d --out-dir $TMP/$d >$TMP/log || cat $TMP/log; done
$PYTHON -c "
import numpy as np
w, a = np.load('$TMP/w.npy'), [np.load('$TMP/%s/output_%d.npy' % (d, i)) for d in ('cpu', 'interp') for i in (0, 1)]
b, e = w.transpose(2, 3, 0, 1), w[:, :, ::-1, ::-1].transpose(2, 3, 1, 0)
print([bool((x == y).all()) for x, y in zip(a, (b, e, b, e))])"
