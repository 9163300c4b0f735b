# On a CPU a tile of rows is one row: brief sums and products go through it in blocks that divide it, others, or what nothing divides, are computed at once.
# Rows shorter than a vector share a tile.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[64, 768]", y: "f32[64, 197]", z: "f32[64, 8]", w: "f32[768]", u: "f32[64, 768]"):
    a = torch.ops.aten.native_layer_norm.default(u, [768], w, w, 1e-05)
    f = a[0]
    b = torch.ops.aten._softmax.default(x, 1, False)
    c = torch.ops.aten._softmax.default(y, 1, False)
    d = torch.ops.aten._softmax.default(z, 1, False)
    e = torch.ops.aten.sum.dim_IntList(y, [1])
    return (f, b, c, d, e)
MODEL
nereid graph $TMP/m.py --device cpu --emit plan | sed -n 's|^step \([a-z0-9_]*\)(.*%[a-z0-9_]*, \(RBLOCK.*\)) \(grid.*\) warps.*|\1 \2 \3|p'
nereid graph $TMP/m.py --device cpu --random-inputs --out-dir $TMP/a 2>/dev/null
nereid graph $TMP/m.py --device interp --random-inputs --compare $TMP/a >/dev/null 2>&1 && echo agrees
