# Narrower ranges of sizes: in the plan, and for inputs.
m=../../models/dyn_mlp
nereid graph $m/model.pt2 --emit plan | grep symbol
s=$(nereid graph $m/model.pt2 --emit plan | sed -n 's/^symbol \(s[0-9]*\) .*/\1/p' | head -1)
nereid graph $m/model.pt2 --emit plan --range $s=4..32 | grep symbol
nereid graph $m/model.pt2 --emit plan -o $TMP/mlp.plan
nereid graph $TMP/mlp.plan --emit plan --range $s=4..4 | grep symbol
nereid graph $m/model.pt2 $m/input_0.npy --device interp --range $s=2..3
nereid graph $m/model.pt2 --range $s=0..3
nereid graph $m/model.pt2 --range $s=3..2
nereid graph $m/model.pt2 --range batch=2..3
nereid graph ../../models/mlp/model.pt2 --range s0=2..3
# Sizes by the inputs that have them; a size that follows from others is no open one.
cat >$TMP/g.py <<'END'
def forward(self, x: "f32[s77, 3]", y: "f32[2*s77, 4]", n: "Sym(s5)", z: "f32[s3, 3]"):
    a = torch.ops.aten.add.Tensor(x, z)
    b = torch.ops.aten.mul.Tensor(y, n)
    return (a, b)
END
for range in 'x[0]=2..8' n=3..4 's77=2..9' 'x[1]=2..8' 'y[0]=2..8' 'x[2]=1..2' 'x[0=1..2' w=1..2; do
  nereid graph $TMP/g.py --emit plan --device cpu --range "$range" | grep ^symbol
done
nereid graph $TMP/g.py --emit plan --device cpu -o $TMP/g.plan
nereid graph $TMP/g.plan --emit plan --range 'z[0]=5..5' | grep ^symbol
cd $TMP
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "import numpy as np; [np.save(f'{n}_{k}', np.ones((n, k), 'f4')) for n in (2, 3, 4) for k in (3, 4)]"
nereid graph g.py 3_3.npy 4_4.npy n=3 3_3.npy --device interp
nereid graph g.py 2_3.npy 4_4.npy n=3 3_3.npy --device interp
nereid graph g.py 2_3.npy 4_4.npy n=3 2_3.npy --device interp --range 'x[0]=3..8'
