class GraphModule(torch.nn.Module):
    def forward(self, i: "i64[4, 5]"):
        b = torch.ops.aten.nonzero.default(i)
        return (b,)
