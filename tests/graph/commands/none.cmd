# Axes without elements, fixed and open: values where PyTorch has some, else a message before it runs.
# slow: a C compiler
unset MAKEFLAGS MFLAGS # of the make that runs the tests
cat >$TMP/g.py <<'END'
def forward(self, x: "f32[s0, 3]", y: "f32[2, s0]", i: "i64[s0]", u: "u8[s0, 2]", f: "f32[4, 3]", n: "f32[0, 3]"):
    sum_1 = torch.ops.aten.sum.dim_IntList(x, [0])
    prod = torch.ops.aten.prod.dim_int(x, 0)
    mean = torch.ops.aten.mean.dim(x, [0])
    logsumexp = torch.ops.aten.logsumexp.default(x, [0])
    any_1 = torch.ops.aten.any.dim(x, 0)
    all_1 = torch.ops.aten.all.dim(x, 0)
    softmax = torch.ops.aten._softmax.default(x, 0, False)
    mm = torch.ops.aten.mm.default(y, x)
    cat = torch.ops.aten.cat.default([x, f])
    roll = torch.ops.aten.roll.default(x, [1], [0])
    copy = torch.ops.aten.index_copy.default(f, 0, i, x)
    cummin = torch.ops.aten.cummin.default(u, 0)
    least = cummin[0]
    softmax_1 = torch.ops.aten._softmax.default(n, 0, False)
    logsumexp_1 = torch.ops.aten.logsumexp.default(n, [0])
    cat_1 = torch.ops.aten.cat.default([n, n])
    attend = torch.ops.aten.scaled_dot_product_attention.default(f, n, n)
    return (sum_1, prod, mean, logsumexp, any_1, all_1, softmax, mm, cat, roll, copy, least, softmax_1, logsumexp_1, cat_1, attend)
END
cd $TMP
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "
import numpy as np
for name, shape, dtype in ('x', (0, 3), 'f4'), ('y', (2, 0), 'f4'), ('i', 0, 'i8'), ('u', (0, 2), 'u1'), ('n', (0, 3), 'f4'):
    np.save(name, np.zeros(shape, dtype))
np.save('f', np.arange(12, dtype='f4').reshape(4, 3))"
for device in interp cpu; do nereid graph g.py x.npy y.npy i.npy u.npy f.npy n.npy --device $device; done
while read call; do
  printf 'def forward(self, x: "f32[s0, 3]"):\n    r = torch.ops.aten.%s\n' "$call" >one.py
  case $call in topk*|*dim*) echo '    y = r[0]'; echo '    return (y,)';; *) echo '    return (r,)';; esac >>one.py
  nereid graph one.py x.npy --device interp
  nereid graph one.py f.npy --device interp >/dev/null || echo "wrong: $call"
done <<'END'
amax.default(x, [0])
argmin.default(x, 0)
max.dim(x, 0)
median.dim(x, 0)
max.default(x)
select.int(x, 0, 1)
select.int(x, 0, -3)
narrow.default(x, 0, 1, 2)
topk.default(x, 3, 0)
END
cat >gather.py <<'END'
def forward(self, x: "f32[s0, 3]", i: "i64[4, 2]"):
    r = torch.ops.aten.gather.default(x, 1, i)
    return (r,)
END
$python -c "import numpy as np; np.save('i', np.zeros((4, 2), 'i8'))"
nereid graph gather.py x.npy i.npy --device interp
nereid graph gather.py f.npy i.npy --device interp
nereid build gather.py -o gather --target cpu && make -s -C gather && gather/model x.npy i.npy
nereid graph gather.py --emit plan --device cpu | grep '^least'
cat >read.py <<'END'
def forward(self, x: "f32[s0, 3]"):
    nonzero = torch.ops.aten.nonzero.default(x)
    r = torch.ops.aten.amax.default(nonzero, [0])
    return (r,)
END
nereid graph read.py f.npy --device interp
$python -c "import numpy as np; np.save('f', np.zeros((4, 3), 'f4'))"
nereid graph read.py f.npy --device interp
