# No element is chosen, and the model asserts that some are, though nothing uses the number.
class M(torch.nn.Module):
    def forward(self, x: "f32[6]", m: "b8[6]"):
        chosen = torch.ops.aten.index.Tensor(x, [m])
        n = torch.ops.aten.sym_size.int(chosen, 0)
        enough = n >= 2
        none = torch.ops.aten._assert_scalar.default(enough, 'at least two')
        twice = torch.ops.aten.mul.Tensor(x, 2)
        return (twice,)
