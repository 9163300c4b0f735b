# Rows of an open length: a row's place is computed once, and each vector of it is at the next one.
cat >$TMP/rows.txt <<G
class M(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", s1: "Sym(s1)", x: "f32[s0, s1]", bias: "f32[s1]"):
        add: "f32[s0, s1]" = torch.ops.aten.add.Tensor(x, bias)
        return (add,)
G
nereid build $TMP/rows.txt -o $TMP/rows --target cpu:8 >$TMP/log 2>&1
grep -E 'rindex|xindex' $TMP/rows/kernels.py
