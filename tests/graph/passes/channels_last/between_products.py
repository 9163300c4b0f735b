# Convolutions with windows of one element are products: the permutations between them meet.
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[50, 8]"):
        image: "f32[1, 5, 10, 8]" = torch.ops.aten.view.default(x, [1, 5, 10, 8])
        doubled: "f32[1, 5, 10, 2, 2, 2]" = torch.ops.aten.view.default(image, [1, 5, 10, 2, 2, 2])
        turned: "f32[1, 5, 2, 10, 2, 2]" = torch.ops.aten.permute.default(doubled, [0, 1, 3, 2, 4, 5])
        large: "f32[1, 10, 20, 2]" = torch.ops.aten.view.default(turned, [1, 10, 20, 2])
        first: "f32[1, 2, 10, 20]" = torch.ops.aten.permute.default(large, [0, 3, 1, 2])
        relu: "f32[1, 2, 10, 20]" = torch.ops.aten.relu.default(first)
        last: "f32[1, 10, 20, 2]" = torch.ops.aten.permute.default(relu, [0, 2, 3, 1])
        rows: "f32[50, 8]" = torch.ops.aten.view.default(last, [50, 8])
        return (rows,)
