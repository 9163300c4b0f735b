# On a CPU long runs of sources are slices of the result, which are copied without conditions, a row at a
# time where its length is odd; the rows of two axes that are copied whole are one.  A concatenation of
# which elements are computed has limits that lanes count, without a division.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "u8[200, 197]", y: "u8[200, 197]", z: "f32[8, 30, 61]", w: "f32[8, 50, 61]"):
    rows = torch.ops.aten.cat.default([x, y])
    columns = torch.ops.aten.cat.default([x, y], 1)
    middle = torch.ops.aten.cat.default([z, z, w, z], 1)
    joined = torch.ops.aten.cat.default([z, w], 1)
    double = torch.ops.aten.add.Tensor(joined, 1)
    return (rows, columns, middle, double)
MODEL
nereid graph $TMP/m.py --device cpu --emit kernels | grep 'insert_slice.default\|tl.store\|inside.* =\|_mask = .index <'
for d in cpu interp; do
  nereid graph $TMP/m.py --random-inputs --device $d 2>/dev/null | sed 's/sum.*//'
done
