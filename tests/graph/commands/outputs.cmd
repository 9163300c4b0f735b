# What is returned and is no tensor keeps its place: numbers are tensors without axes, None is none.
# slow: a C compiler
unset MAKEFLAGS MFLAGS # of the make that runs the tests
cd $TMP
cat >g.py <<'END'
def forward(self, x: "f32[s0, 4]"):
    size: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
    add: "f32[s0, 4]" = torch.ops.aten.add.Tensor(x, 1)
    mul: "f32[s0, 4]" = torch.ops.aten.mul.Tensor(x, 2)
    return (None, add, 3, size, None, 2.5, True, mul, add, None)
END
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "import numpy; numpy.save('x.npy', numpy.ones((2, 4), 'f4'))"
nereid graph g.py x.npy --device interp
nereid graph g.py --emit plan -o g.plan && grep ^return g.plan
nereid graph g.plan --emit plan | cmp - g.plan
nereid graph g.plan x.npy --device interp --out-dir out && ls out
nereid graph g.py x.npy --device interp --mode eager --compare out
nereid build g.py -o p --target cpu | sed '2,$d' && make -s -C p && p/model x.npy && p/model x.npy --out-dir q && ls q
nereid graph g.py x.npy --device interp --compare q | wc -l
echo 'def forward(self, x: "f32[2]"): return (None, 7)' > h.py
nereid graph h.py --device interp --random-inputs 2>/dev/null
