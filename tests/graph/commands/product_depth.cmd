# A product of a depth below a step has one step, and needs no masks along it.
cat >$TMP/m.py <<'MODEL'
def forward(self, u: "f32[300, 24]", v: "f32[24, 6]"):
    d = torch.ops.aten.mm.default(u, v)
    return (d, )
MODEL
nereid graph $TMP/m.py --device cpu --emit plan | grep -o 'BK: [0-9][0-9]*'
