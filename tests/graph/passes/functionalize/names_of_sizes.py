# A node that has a symbol's name gets another: behind the pass that name is the symbol.
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[n, s0]", n: "Sym(n)"):
        s0: "f32[n, s0]" = torch.ops.aten.relu.default(x)
        y: "f32[n, 4]" = torch.ops.aten.new_zeros.default(s0, [n, 4])
        return (s0, y)
