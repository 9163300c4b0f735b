# Products with scales of blocks leave room for three programs a processor: three stages, not four.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f8e4m3fn[8192, 4096]", w: "f8e4m3fn[14336, 4096]", a: "f32[8192, 32]", b: "f32[32, 112]"):
    t = torch.ops.aten.permute.default(w, [1, 0])
    blocks = nereid.float8_mm.default(x, t, a, b, rows = 1, columns = 128, promotes = True)
    whole = nereid.float8_mm.default(x, t, None, None, rows = 1, columns = 1, promotes = False)
    return (blocks, whole)
MODEL
nereid graph $TMP/m.py --device cuda:sm_90a --libraries none --emit plan | sed -n 's/^step \([a-z0-9_]*\)(.*\(BM: [0-9]*, BN: [0-9]*, BK: [0-9]*\)) grid.*\(warps [0-9]* stages [0-9]*\).*/\1 \2 \3/p'
