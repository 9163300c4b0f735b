class GraphModule(torch.nn.Module):
    def forward(self, i: "i64[4, 5]"):
        b = torch.ops.nereid.scatter.default(i, i, i, 'prod')
        return (b,)
