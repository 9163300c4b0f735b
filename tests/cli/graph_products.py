class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[1, 4, 5, 5]", w: "f32[4, 3, 3, 3]", i: "i64[4, 5]", j: "i64[5, 3]"):
        a = torch.ops.aten.conv_transpose2d.input(x, w)
        b = torch.ops.aten.mm.default(i, j)
        return (a, b)
