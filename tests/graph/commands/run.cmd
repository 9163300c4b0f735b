# Outputs are printed, written or compared; what is written compares equal.
cat >$TMP/g.py <<'END'
def forward(self, x: "f32[s0, 4]", i: "i64[2]"):
    neg: "f32[s0, 4]" = torch.ops.aten.neg.default(x)
    rows: "f32[2, 4]" = torch.ops.aten.index_select.default(neg, 0, i)
    add: "i64[2]" = torch.ops.aten.add.Tensor(i, 7)
    return (rows, add)
END
nereid graph $TMP/g.py --random-inputs --device interp
nereid graph $TMP/g.py --random-inputs --device cpu --out-dir $TMP/out && ls $TMP/out
nereid graph $TMP/g.py --random-inputs --device nest --compare $TMP/out
nereid graph $TMP/g.py --random-inputs --device cpu --mode eager --compare $TMP/out --tol 0
cp $TMP/out/output_0.npy $TMP/out/input_0.npy
nereid graph $TMP/g.py $TMP/out/input_0.npy --random-inputs --device interp | head -n 1
nereid graph $TMP/g.py --random-inputs --device interp --time | sed 's/[0-9.]* us .*/N us/; s/mapped.*//'
