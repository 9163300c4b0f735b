# Products of slices of one tensor, along a middle and the last axis, share a kernel on a CPU, which
# has the slice's offset as a parameter; seven slices have kernels of their own.
"$PYTHON" - $TMP <<'PY'
import os, sys
import numpy as np
os.chdir(sys.argv[1])
x, w = (np.random.default_rng(s).standard_normal(n).astype("f4") for s, n in ((1, (5, 9, 12)), (2, (5, 5))))
np.save("x.npy", x), np.save("w.npy", w)
for axis, n in ((1, 9), (2, 12), (1, 7)):
    size = [d for i, d in enumerate(x.shape) if i != axis]
    lines = ["class Products:", '    def forward(self, x: "f32[5, 9, 12]", w: "f32[5, 5]"):',
             '        exp: "f32[5, 9, 12]" = torch.ops.aten.exp.default(x)']
    total = 0
    for t in range(n):
        lines += [f'        s{t}: "f32{size}" = torch.ops.aten.select.int(exp, {axis}, {t})',
                  f'        t{t}: "f32{size[::-1]}" = torch.ops.aten.permute.default(s{t}, [1, 0])',
                  f'        p{t}: "f32[{size[1]}, 5]" = torch.ops.aten.mm.default(t{t}, w)',
                  f'        q{t}: "f32[{size[1]}, 5]" = torch.ops.aten.mul.Tensor(p{t}, {t + 1}.0)']
        total = total + (t + 1) * (np.exp(x.astype("f8")).take(t, axis).T @ w)
        if t:
            lines += [f'        r{t}: "f32[{size[1]}, 5]" = torch.ops.aten.add.Tensor('
                      f'{"r" if t > 1 else "q"}{t - 1}, q{t})']
    name = f"axis{axis}_{n}"
    open(f"{name}.py", "w").write("\n".join(lines + [f"        return (r{n - 1},)", ""]))
    os.mkdir(name), np.save(f"{name}/output_0.npy", total.astype("f4"))
PY
for name in axis1_9 axis2_12 axis1_7; do
  for device in cpu interp; do
    nereid graph $TMP/$name.py $TMP/x.npy $TMP/w.npy --device $device --compare $TMP/$name | sed 's/:.*//'
  done
  nereid graph $TMP/$name.py --device cpu --emit kernels | grep '_mm.*offset' | wc -l
done
