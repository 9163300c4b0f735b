# Small steps that do not depend on each other are one launch, whose programs are numbered through;
# one that reads what another writes, one that writes to what another reads, and a large one are not.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[40, 100]", y: "f32[3000]", z: "f32[4096, 4096]", i: "i64[9]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.amax.default(x, [1])
    c = torch.ops.aten.exp.default(y)
    d = torch.ops.aten.gather.default(y, 0, i)
    e = torch.ops.aten.cos.default(z)
    s = torch.ops.aten.sort.default(b)
    f = s[0]
    g = torch.ops.aten.cumsum.default(f, 0)
    h = torch.ops.aten.sum.dim_IntList(y, [0])
    return (a, b, c, d, e, f, g, h)
MODEL
nereid graph $TMP/m.py --device cuda --emit plan -o $TMP/m.plan
sed -n 's/^step \([a-z0-9_]*\)(.* \(grid.*\) covers.*/\1 \2/p' $TMP/m.plan
nereid graph $TMP/m.py --random-inputs --device cpu --out-dir $TMP/want 2>$TMP/notes
nereid graph $TMP/m.plan --random-inputs --device cpu --compare $TMP/want 2>$TMP/notes | sed 's/:.*relative/: relative/;s/[0-9.]*e-[0-9]*/small/g'
# Each part has the text that it has alone, with its programs' numbers.
nereid graph $TMP/m.plan --emit kernels | grep ' program\|_and_k\|tl.program_id'
# Launches whose first two parts are the same, and the third is not, are two kernels.
cat >$TMP/m.py <<'MODEL'
def forward(self, p: "f32[40, 100]", q: "f32[40, 100]", x: "f32[3000]", r: "f32[40, 100]", t: "f32[40, 100]", y: "f32[3000]", z: "f32[4096, 4096]"):
    a = torch.ops.aten.amax.default(p, [1])
    b = torch.ops.aten.amax.default(q, [1])
    c = torch.ops.aten.sin.default(x)
    d = torch.ops.aten.cos.default(z)
    e = torch.ops.aten.amax.default(r, [1])
    f = torch.ops.aten.amax.default(t, [1])
    g = torch.ops.aten.exp.default(y)
    return (a, b, c, d, e, f, g)
MODEL
nereid graph $TMP/m.py --device cuda --emit plan -o $TMP/m.plan
sed -n 's/^step \([a-z0-9_]*\)(.* \(grid.*\) covers.*/\1 \2/p' $TMP/m.plan
rm -r $TMP/want
nereid graph $TMP/m.py --random-inputs --device cpu --out-dir $TMP/want 2>$TMP/notes
nereid graph $TMP/m.plan --random-inputs --device cpu --compare $TMP/want 2>$TMP/notes | sed 's/:.*relative/: relative/;s/[0-9.]*e-[0-9]*/small/g'
