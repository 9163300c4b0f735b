# One product of real rows where the parts are pairs in memory; four where they are planes.
class G(torch.nn.Module):
    def forward(self, a: "c64[6, 8]", b: "c64[8, 5]", x: "f32[6, 8]", p: "f32[6, 8]", q: "f32[6, 8]"):
        m = torch.ops.aten.mm.default(a, b)
        r = torch.ops.aten.mm.default(x, b)
        c = torch.ops.aten.complex.default(p, q)
        n = torch.ops.aten.mm.default(c, b)
        return (m, r, n)
