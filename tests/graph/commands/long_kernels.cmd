# On a CPU a kernel has few long functions, so that a C compiler's time is short, and spread over
# cores: eight that are written out, or a sort, or two scans.  A GPU's kernel has all.
cat >$TMP/functions.py <<'MODEL'
def forward(self, x: "f32[1000]"):
    a = torch.ops.aten.special_airy_ai.default(x)
    b = torch.ops.aten.special_bessel_j0.default(x)
    c = torch.ops.aten.special_bessel_j1.default(x)
    d = torch.ops.aten.erf.default(x)
    e = torch.ops.aten.erfc.default(x)
    f = torch.ops.aten.lgamma.default(x)
    g = torch.ops.aten.log1p.default(x)
    h = torch.ops.aten.expm1.default(x)
    i = torch.ops.aten.atan.default(x)
    j = torch.ops.aten.asinh.default(x)
    return (a, b, c, d, e, f, g, h, i, j)
MODEL
cat >$TMP/orders.py <<'MODEL'
def forward(self, x: "f32[256]"):
    a = torch.ops.aten.argsort.default(x)
    b = torch.ops.aten.argsort.default(x, -1, True)
    c = torch.ops.aten.cumprod.default(x, 0)
    d = torch.ops.aten.logcumsumexp.default(x, 0)
    e = torch.ops.aten.cumsum.default(x, 0)
    return (a, b, c, d, e)
MODEL
for model in functions orders; do
  for device in cpu cuda; do
    echo $model, $device
    nereid graph $TMP/$model.py --device $device --emit plan | sed -n 's/^step \([a-z0-9_]*\)(.*/  \1/p'
  done
done
