# A step on a GPU loads weights before the step before it has ended, and what no step writes any more: results of the
# step before but one and of earlier ones.  The first step of a run waits, as do loads of what the step before has
# written, or the step itself writes.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[64, 64]", w: "f32[64, 64]", v: "f32[64, 64]", c: "f32[64, 64]", p: "f32[64, 64]"):
    a = torch.ops.aten.mm.default(x, w)
    b = torch.ops.aten.relu.default(a)
    d = torch.ops.aten.mm.default(b, v)
    e = torch.ops.aten.add_.Tensor(c, d)
    f = torch.ops.aten.mm.default(e, w)
    g = torch.ops.aten.mm.default(f, p)
    k = torch.ops.aten.mm.default(b, w)
    h = torch.ops.aten.copy_.default(p, g)
    i = torch.ops.aten.sum.dim_IntList(x, [1])
    return (g, i, k)
MODEL
nereid graph $TMP/m.py --device cuda:sm_90a --libraries none --emit plan -o $TMP/m.plan
sed -n 's/^step \([a-z0-9_]*(.*ptr = [a-z]*[ ]*%[a-z0-9_]*\).*/\1/p' $TMP/m.plan
# It reads back.
nereid graph $TMP/m.plan --emit plan | cmp - $TMP/m.plan
# Kernels have the wait after these loads alone.
nereid graph $TMP/m.py --device cuda:sm_90a --libraries none --no-early-loads --emit plan | grep -c steady
nereid graph $TMP/m.py --device cpu --emit plan | grep -c steady
# A plan in which the first step does not wait is refused.
sed 's/in0_ptr = %x/in0_ptr = steady %x/' $TMP/m.plan >$TMP/early.plan
nereid graph $TMP/early.plan --emit plan 2>&1 | sed 's/^[^:]*://'
# Explanations name what a step loads early.
nereid graph $TMP/m.py --device cuda:sm_90a --libraries none --emit explain | grep '^step\|^  early'
