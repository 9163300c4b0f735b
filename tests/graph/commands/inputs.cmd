# Inputs of another shape or dtype, too many of them, and one that is no file.
m=../../models
nereid graph $m/chain/model.pt2 $m/mlp/input_0.npy --device interp
nereid graph $m/dyn_mlp/model.pt2 $m/mlp/input_0.npy --device interp
nereid graph $m/chain/model.pt2 $m/hf_bert/input_0.npy --device interp
nereid graph $m/chain/model.pt2 $m/chain/input_0.npy $m/chain/input_0.npy --device interp
nereid graph $m/chain/model.pt2 $m/chain/readable.txt --device interp
nereid graph $m/mlp/readable.txt --weights $m/chain/model.pt2 --device interp
nereid graph $m/none.pt2
# Inputs by name; those that are missing are an error, also where no result is shown, or are drawn.
cat >$TMP/g.py <<'END'
def forward(self, first: "f32[s0, 4]", second: "f32[4]", unused: "f32[2]", n: "Sym(s0)"):
    sub: "f32[s0, 4]" = torch.ops.aten.sub.Tensor(first, second)
    mul: "f32[s0, 4]" = torch.ops.aten.mul.Tensor(sub, n)
    return (mul,)
END
cd $TMP
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "import numpy; numpy.save('a.npy', numpy.ones((2, 4), 'f4')); numpy.save('b.npy', numpy.arange(4, dtype='f4')); numpy.save('c.npy', numpy.ones(2, 'f4'))"
for args in "" "--time" "--explain --time" "a.npy --out-dir out" "a.npy b.npy" "a.npy b.npy c.npy" "a.npy --input unused=c.npy --input second=b.npy" \
  "--input second=b.npy --input unused=c.npy --input first=a.npy" "--input second=b.npy --input n=2 a.npy --input unused=c.npy" \
  "--input first=a.npy --random-inputs" "--input secnod=b.npy a.npy" "a.npy --input first=a.npy" \
  "--input first" "--input =a.npy" "--input first=none.npy" "--emit kernels -o k.py"; do
  echo "graph $args" | tee /dev/stderr
  nereid graph g.py $args --device interp; echo $?
done
ls out 2>/dev/null
