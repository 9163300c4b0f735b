class Pooled(torch.nn.Module):
    def forward(self, x: "f32[2, 6, 6, 8]", row: "i64[5]"):
        permute: "f32[2, 8, 6, 6]" = torch.ops.aten.permute.default(x, [0, 3, 1, 2])
        relu: "f32[2, 8, 6, 6]" = torch.ops.aten.relu.default(permute)
        index_select: "f32[2, 8, 5, 6]" = torch.ops.aten.index_select.default(relu, 2, row)
        amax: "f32[2, 8, 5]" = torch.ops.aten.amax.default(index_select, [3])
        permute_1: "f32[2, 5, 6, 8]" = torch.ops.aten.permute.default(index_select, [0, 2, 3, 1])
        return (permute_1, amax)
