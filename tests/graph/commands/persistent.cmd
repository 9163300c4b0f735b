# Programs make several tiles each where these are more than processors, but not if the nodes after
# the product read as much as it has, or the sum is short.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "bf16[8192, 512]", w: "bf16[8192, 512]", o: "bf16[8192, 512]", b: "bf16[8192]", r: "bf16[8192, 8192]", s: "bf16[8192, 32]", v: "bf16[32, 8192]"):
    y = torch.ops.aten.linear.default(x, w, b)
    z = torch.ops.aten.relu.default(y)
    t = torch.ops.aten.mm.default(s, v)
    p = torch.ops.aten.permute.default(o, [1, 0])
    u = torch.ops.aten.mm.default(x, p)
    q = torch.ops.aten.add.Tensor(u, r)
    return (z, t, q)
MODEL
nereid graph $TMP/m.py --device cuda:sm_90a --libraries none --emit plan | sed -n 's/^step \([a-z0-9_]*\)(.*\(BM: [0-9]*, BN: [0-9]*, BK: [0-9]*\)) \(grid.*warps [0-9]* stages [0-9]*\).*/\1 \2 \3/p'
nereid graph $TMP/m.py --device cuda:sm_90a --libraries none --emit plan | grep -A3 'num_programs'
