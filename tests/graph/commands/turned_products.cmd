# Two linear layers of the same rows, whose weights each run is given, read one packed copy of these.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[40, 80]", v: "f32[96, 80]", w: "f32[112, 80]", y: "f32[80, 96]"):
    t = torch.ops.aten.t.default(v)
    u = torch.ops.aten.t.default(w)
    a = torch.ops.aten.mm.default(x, t)
    b = torch.ops.aten.mm.default(x, u)
    c = torch.ops.aten.mm.default(x, y)
    return (a, b, c)
MODEL
nereid graph $TMP/m.py --device cpu --emit fused | grep -v '^import'
for d in cpu interp; do
  nereid graph $TMP/m.py --random-inputs --device $d 2>/dev/null | sed 's/ \[.*//'
done
