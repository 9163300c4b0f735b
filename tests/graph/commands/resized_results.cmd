# On a CPU an image behind the last convolution is turned before it grows; before another convolution it stays with its channels last.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[1, 16, 6, 6]", w: "f32[8, 16, 3, 3]", v: "f32[8, 8, 3, 3]", r: "i64[12]"):
    c = torch.ops.aten.conv2d.default(x, w, None, [1, 1], [1, 1])
    larger = torch.ops.aten.index_select.default(c, 2, r)
    wide = torch.ops.aten.index_select.default(larger, 3, r)
    again = torch.ops.aten.index_select.default(c, 2, r)
    d = torch.ops.aten.conv2d.default(again, v, None, [1, 1], [1, 1])
    return (wide, d)
MODEL
nereid graph $TMP/m.py --device cpu --emit fused | grep -v '^import' | sed 's/^[0-9]*: //'
for d in cpu interp; do
  nereid graph $TMP/m.py --random-inputs --device $d --out-dir $TMP/$d 2>/dev/null
done
nereid graph $TMP/m.py --random-inputs --device cpu --compare $TMP/interp >/dev/null 2>&1 && echo right
