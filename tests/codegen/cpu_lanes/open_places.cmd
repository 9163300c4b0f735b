# Places of what a graph with open sizes reads, or makes, by the index of an element are computed once
# a row, and a row of any length is summed by few elements at a time.
cat >$TMP/places.txt <<G
class M(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", s1: "Sym(s1)", s2: "Sym(s2)", x: "f32[s0, s1]", y: "f32[s2, s1]", at: "i64[s2]"):
        cat: "f32[s0 + s2, s1]" = torch.ops.aten.cat.default([x, y])
        picked: "f32[s2, s1]" = torch.ops.aten.index_select.default(x, 0, at)
        sum: "f32[s0]" = torch.ops.aten.sum.dim_IntList(x, [1])
        return (cat, picked, sum)
G
nereid build $TMP/places.txt -o $TMP/places --target cpu:8 >$TMP/log 2>&1
grep -E 'index = |for start|tl.load' $TMP/places/kernels.py
nereid graph $TMP/places.txt --device cpu --emit plan | grep -oE '^step k[0-9]+|[RX]BLOCK: [0-9]+'
