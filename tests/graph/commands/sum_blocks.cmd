# Sums of many rows go block by block and multiply and add at once; few rows, and sums of sums, do not.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "bf16[1, 4096]", w: "bf16[14336, 4096]", y: "f32[2048, 4096]", z: "bf16[64, 4096]", v: "bf16[1024, 14336]", u: "bf16[1, 14336]"):
    t = torch.ops.aten.permute.default(w, [1, 0])
    a = torch.ops.aten.mm.default(x, t)
    b = torch.ops.aten.logsumexp.default(y, [1])
    s = torch.ops.aten.permute.default(z, [1, 0])
    c = torch.ops.aten.mm.default(x, s)
    q = torch.ops.aten.permute.default(v, [1, 0])
    d = torch.ops.aten.mm.default(u, q)
    return (a, b, c, d)
MODEL
nereid graph $TMP/m.py --device cuda --emit plan | sed -n 's/^step \([a-z0-9_]*\)(.*\(RBLOCK: [0-9]*, XBLOCK: [0-9]*\)) \(grid.*\) stages.*/\1 \2 \3/p'
nereid build $TMP/m.py -o $TMP/project --target sm_90a && grep -o 'visible .entry k[0-9]*\|fma.rn.f32' $TMP/project/kernels_sm_90a.c | uniq -c
# Matrices that are read once leave the cache first.
nereid graph $TMP/m.py --device cuda --emit kernels | grep -B100 evict_first | grep -o 'def k[a-z0-9_]*\|in[0-9]_ptr + .*evict_first'
