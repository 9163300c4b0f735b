# Rotary embeddings; a complex output and a complex input that is returned.
class G(torch.nn.Module):
    def forward(self, x: "f32[2, 3, 8]", f: "c64[3, 4]"):
        v = torch.ops.aten.view.default(x, [2, 3, 4, 2])
        c = torch.ops.aten.view_as_complex.default(v)
        m = torch.ops.aten.mul.Tensor(c, f)
        r = torch.ops.aten.view_as_real.default(m)
        a = torch.ops.aten.abs.default(m)
        p = torch.ops.aten.split.Tensor(m, 1, 1)
        q = p[2]
        return (r, a, q, f)
