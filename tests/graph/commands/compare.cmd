# Wrong outputs and one of another shape: all of them are told.  A file that is not there is told
# before anything runs.
cat >$TMP/g.py <<'END'
def forward(self, x: "f32[2, 4]", i: "i64[2]", y: "f32[3]"):
    relu: "f32[2, 4]" = torch.ops.aten.relu.default(x)
    add: "i64[2]" = torch.ops.aten.add.Tensor(i, 7)
    neg: "f32[3]" = torch.ops.aten.neg.default(y)
    mul: "f32[3]" = torch.ops.aten.mul.Tensor(y, 7)
    return (relu, add, mul, neg)
END
nereid graph $TMP/g.py --random-inputs --device interp --out-dir $TMP/out
cp $TMP/out/output_3.npy $TMP/out/output_0.npy
cd $TMP
sed 's/, 7)/, 8)/' g.py >h.py
nereid graph h.py --random-inputs --device interp --compare out --tol 0.1
rm out/output_3.npy
nereid graph h.py --random-inputs --device interp --compare out --tol 0.1
