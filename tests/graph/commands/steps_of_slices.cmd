# Steps that read slices of one tensor share a kernel on a CPU, which has the slice's offset as a
# parameter; the values are those of the slices.
"$PYTHON" - $TMP <<'PY'
import os, sys
import numpy as np
os.chdir(sys.argv[1])
lines = ["class Steps:", '    def forward(self, x: "f32[5, 8, 3]", w: "f32[3, 3]"):',
         '        exp: "f32[5, 8, 3]" = torch.ops.aten.exp.default(x)',
         '        s0: "f32[5, 3]" = torch.ops.aten.select.int(exp, 1, 0)']
for t in range(1, 8):
    lines += [f'        m{t}: "f32[5, 3]" = torch.ops.aten.mm.default(s{t - 1}, w)',
              f'        p{t}: "f32[5, 3]" = torch.ops.aten.select.int(exp, 1, {t})',
              f'        s{t}: "f32[5, 3]" = torch.ops.aten.add.Tensor(m{t}, p{t})']
open("steps.py", "w").write("\n".join(lines + ["        return (s7,)", ""]))
x, w = (np.random.default_rng(s).standard_normal(n).astype("f4") for s, n in ((1, (5, 8, 3)), (2, (3, 3))))
np.save("x.npy", x), np.save("w.npy", w)
y = np.exp(x.astype("f8"))
s = y[:, 0]
for t in range(1, 8):
    s = s @ w + y[:, t]
os.mkdir("want"), np.save("want/output_0.npy", s.astype("f4"))
PY
for device in cpu interp; do
  nereid graph $TMP/steps.py $TMP/x.npy $TMP/w.npy --device $device --compare $TMP/want | sed 's/:.*//'
done
nereid graph $TMP/steps.py --device cpu --emit plan | grep -o 'step [a-z0-9_]*(\|offset[_0-9]* = [0-9]*' | sed 's/k[0-9]*_//' | tr '\n' ' '
