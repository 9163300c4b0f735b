# Products with a vector: of rows that three or four blocks divide, do not divide, and of long ones.
def forward(self, x: "f32[1, 14336]", w: "f32[4, 14336]", y: "f32[1, 9001]", v: "f32[3, 9001]", z: "f32[1, 40000]", u: "f32[3, 40000]"):
    wt = torch.ops.aten.permute.default(w, [1, 0])
    a = torch.ops.aten.mm.default(x, wt)
    vt = torch.ops.aten.permute.default(v, [1, 0])
    b = torch.ops.aten.mm.default(y, vt)
    ut = torch.ops.aten.permute.default(u, [1, 0])
    c = torch.ops.aten.mm.default(z, ut)
    return (a, b, c)
