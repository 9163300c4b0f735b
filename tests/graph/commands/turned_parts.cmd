# Parts next to each other whose channels become the first axis are turned in tiles on a CPU, and rows that a table chooses along the last axis are rows of tiles.
cat >$TMP/m.py <<'MODEL'
def forward(self, y: "f32[1, 40, 40]", z: "f32[1, 60, 40]", t: "i64[64]", u: "f32[20, 32]"):
    a = torch.ops.aten.cat.default([y, z], 1)
    t_1 = torch.ops.aten.transpose.int(a, 1, 2)
    r = torch.ops.aten.sigmoid.default(t_1)
    s = torch.ops.aten.index_select.default(u, 1, t)
    return (r, s)
MODEL
nereid graph $TMP/m.py --device cpu --emit plan | grep '^step' | sed 's/(in0.*out0_ptr/ (out0_ptr/; s/ grid.*//'
for d in cpu interp; do
  nereid graph $TMP/m.py --random-inputs --device $d --out-dir $TMP/$d 2>/dev/null
done
nereid graph $TMP/m.py --random-inputs --device cpu --compare $TMP/interp >/dev/null 2>&1 && echo right
