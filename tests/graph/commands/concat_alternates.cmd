# On a CPU sources whose elements take turns in a vector each write their slices, and so do two of one
# element each; three sources, or long ones, are read where the result's elements are computed.
cat >$TMP/m.py <<'MODEL'
def forward(self, a: "f32[64, 1]", b: "f32[64, 2]", c: "f32[64, 16]"):
    x = torch.ops.aten.sin.default(a)
    y = torch.ops.aten.cat.default([x, b, a, x], 1)
    z = torch.ops.aten.cat.default([x, a, x], 1)
    w = torch.ops.aten.cat.default([c, b, c, a], 1)
    v = torch.ops.aten.cat.default([x, a], 1)
    u = torch.ops.aten.cat.default([b, a], 1)
    return (y, z, w, v, u)
MODEL
nereid graph $TMP/m.py --device cpu --emit fused | grep -v '^import'
for d in cpu interp; do
  nereid graph $TMP/m.py --random-inputs --device $d 2>/dev/null | sed 's/sum.*//'
done
