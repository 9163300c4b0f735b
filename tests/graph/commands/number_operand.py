class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 4]"):
        n: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
        least: "f32[]" = torch.ops.aten.amin.default(x)
        item: "Sym(zuf0)" = torch.ops.aten.item.default(least)
        f: "Sym(Max(s0, zuf0))" = torch.sym_max(item, b = n)
        y: "f32[s0, 4]" = torch.ops.aten.mul.Tensor(x, f)
        return (y,)
