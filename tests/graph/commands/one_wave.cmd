# Tiles of 192 rows and columns, of which there are as many as processors, or none too many; those of
# 192x192 only where the right operand's columns are contiguous.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "bf16[6304, 3072]", w: "bf16[768, 3072]", v: "bf16[3072, 768]", y: "bf16[4096, 3072]", r: "bf16[6304, 768]"):
    a = torch.ops.aten.linear.default(x, w)
    s = torch.ops.aten.add.Tensor(a, r)
    b = torch.ops.aten.mm.default(x, v)
    t = torch.ops.aten.add.Tensor(b, r)
    c = torch.ops.aten.mm.default(y, v)
    return (s, t, c)
MODEL
nereid graph $TMP/m.py --device cuda:sm_90a --libraries none --emit plan | sed -n 's/^step \([a-z0-9_]*\)(.*\(BM: [0-9]*, BN: [0-9]*, BK: [0-9]*\)) \(grid.*warps [0-9]* stages [0-9]*\).*/\1 \2 \3/p'
