# A long sum of few tiles is cut into parts that need not divide it; each has whole steps, the last one those that are left.
cat >$TMP/m.py <<'MODEL'
def forward(self, a: "bf16[2056, 192]", b: "bf16[2056, 384]", c: "bf16[384]"):
    t = torch.ops.aten.transpose.int(a, -1, -2)
    r = torch.ops.aten.mm.default(t, b)
    s = torch.ops.aten.add.Tensor(r, c)
    return (s,)
MODEL
nereid graph $TMP/m.py --device cuda:sm_90a --emit plan -o $TMP/m.plan
grep -o 'grid.*covers' $TMP/m.plan
nereid graph $TMP/m.py --device cuda:sm_90a --emit kernels | grep -E 'depth|for start|tl.load\(in[01]'
nereid graph $TMP/m.plan --device interp --random-inputs --out-dir $TMP 2>&1 | grep -v random
nereid graph $TMP/m.py --device cpu --random-inputs --compare $TMP 2>&1 | grep -v random
