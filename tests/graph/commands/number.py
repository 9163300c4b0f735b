class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 4]", n: "Sym(s1)", m: "Sym(2*s0)"):
        expand: "f32[s0, 4]" = torch.ops.aten.mul.Tensor(x, n)
        add: "Sym(s1 + 4)" = n + 4
        full: "f32[s1, 4]" = torch.ops.aten.full.default([n, 4], 2.0)
        cat: "f32[s0 + s1, 4]" = torch.ops.aten.cat.default([expand, full])
        return (cat, n, m)
