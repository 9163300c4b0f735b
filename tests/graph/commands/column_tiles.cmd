# Tiles of columns: few values for each element make them wide, long parts get more warps.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "bf16[128, 28, 28, 512]", y: "bf16[128, 56, 56, 256]", z: "bf16[128, 7, 7, 64]"):
    a = torch.ops.aten.sum.dim_IntList(x, [0, 1, 2])
    b = torch.ops.aten.sum.dim_IntList(y, [0, 1, 2])
    c = torch.ops.aten.sum.dim_IntList(z, [0, 1, 2])
    return (a, b, c)
MODEL
nereid graph $TMP/m.py --device cuda --emit plan | sed -n 's|^step \([a-z0-9_]*\)(.*%[a-z0-9_]*, \(.*\)) \(grid.*\) stages.*|\1 \2 \3|p'
