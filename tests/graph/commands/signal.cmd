# On a CPU long windows that take a signal to many features are a product, and a signal that is reflected
# at its borders is copied once; one window, and short ones, stay as they are.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[2, 1, 200]", w: "f32[40, 1, 64]", v: "f32[1, 1, 64]", u: "f32[40, 1, 3]"):
    p = torch.ops.aten.reflection_pad1d.default(x, [0, 24])
    a = torch.ops.aten.conv1d.default(p, w, None, 32)
    b = torch.ops.aten.conv1d.default(x, v, None, 32)
    c = torch.ops.aten.conv1d.default(x, u, None, 32)
    return (a, b, c)
MODEL
nereid graph $TMP/m.py --device cpu --emit fused | grep -v '^import'
for d in cpu interp; do
  nereid graph $TMP/m.py --random-inputs --device $d --out-dir $TMP/$d 2>/dev/null
done
nereid graph $TMP/m.py --random-inputs --device cpu --compare $TMP/interp
