# Sums of columns on a CPU: tiles are rows or wide pieces of them, also where programs store what they sum up.
# Longer sums, and those of few columns, have sums of several rows.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[300, 3072]", y: "f32[700, 96]", z: "f32[300, 384]", u: "f32[5000, 384]", w: "f32[300, 24]"):
    a = torch.ops.aten.gelu.default(x)
    b = torch.ops.aten.sum.dim_IntList(a, [0])
    c = torch.ops.aten.sum.dim_IntList(y, [0])
    d = torch.ops.aten.sum.dim_IntList(z, [0])
    e = torch.ops.aten.sum.dim_IntList(u, [0])
    f = torch.ops.aten.sum.dim_IntList(w, [0])
    return (a, b, c, d, e, f)
MODEL
nereid graph $TMP/m.py --device cpu --emit plan | sed -n 's|^step \([a-z0-9_]*\)(.*%[a-z0-9_]*, \(RBLOCK.*\)) \(grid.*\) warps.*|\1 \2 \3|p'
nereid graph $TMP/m.py --device cpu --random-inputs --out-dir $TMP/a 2>/dev/null
nereid graph $TMP/m.py --device interp --random-inputs --compare $TMP/a >/dev/null 2>&1 && echo agrees
