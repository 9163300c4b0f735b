class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 3, 4]", y: "f32[8, 4]"):
        # a permutation of a permutation is one; the inverse of one is its operand
        a: "f32[4, 2, 3]" = torch.ops.aten.permute.default(x, [2, 0, 1]);  x = None
        b: "f32[3, 2, 4]" = torch.ops.aten.permute.default(a, [-1, 1, 0]);  a = None
        c: "f32[4, 8]" = torch.ops.aten.permute.default(y, [1, 0]);  y = None
        d: "f32[8, 4]" = torch.ops.aten.permute.default(c, [1, 0])
        e: "f32[8, 4]" = torch.ops.aten.relu.default(d);  d = None
        return (b, c, e)
