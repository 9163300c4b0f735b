# Real and imaginary parts of results are stored as pairs, as those of operands are loaded.
cat >$TMP/times.txt <<G
class M(torch.nn.Module):
    def forward(self, x: "c64[1024]", y: "c64[1024]"):
        mul: "c64[1024]" = torch.ops.aten.mul.Tensor(x, y)
        return (mul,)
G
nereid build $TMP/times.txt -o $TMP/times --target cpu:8 >$TMP/log 2>&1
sed -n '/_program(/,/^}/p' $TMP/times/kernels_1.c | grep -E 'pairs|scatter|for \(|vfma'
