class M(torch.nn.Module):
    def forward(self, x: "i64[]", y: "f32[2]"):
        n = torch.ops.aten.item.default(x)
        some = n > 0
        none = torch.ops.aten._assert_scalar.default(some, 'x is positive')
        return (y,)
