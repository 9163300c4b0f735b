# Products of libraries: plans that can't run or be built, and options.
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[s0, 4]", w: "f32[8, 4]", b: "f32[8]"):
    y = torch.ops.aten.linear.default(x, w, b)
    z = torch.ops.aten.relu.default(y)
    e = torch.ops.aten.exp.default(z)
    return (z, e)
MODEL
cd $TMP
nereid graph m.py --device cpu --libraries always --emit plan >a.plan
sed '/^source/,$d' a.plan
nereid graph m.py --device cuda --libraries always --emit plan | sed '/^source/,$d'
nereid graph m.py --device cuda --libraries always --emit fused
nereid graph m.py --device interp --libraries always --emit fused
nereid graph m.py --device cuda --libraries alway --emit fused
nereid graph a.plan --random-inputs --device interp
nereid build a.plan -o p --target cpu
sed 's/blas.gemm/blas.sgemm/' a.plan >b.plan
nereid graph b.plan --emit plan
sed 's/k = 4, //' a.plan >b.plan
nereid graph b.plan --emit plan
cat >$TMP/n.py <<'MODEL'
def forward(self, x: "f32[4, 4, 4]", w: "f32[4, 4]"):
    p = torch.ops.aten.permute.default(x, [1, 0, 2])
    v = torch.ops.aten.view.default(p, [16, 4])
    y = torch.ops.nereid.library_product.default(v, w, None, [16, 4], 'blas.gemm', 'none', torch.float32)
    return (y,)
MODEL
nereid graph n.py --device cpu --emit plan
sed 's/blas.gemm/blas/' n.py >o.py
nereid graph o.py --device cpu --emit plan
