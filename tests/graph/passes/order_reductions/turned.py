# Reductions go along axes as memory has them, with what is computed between a permutation and them; a
# result of several axes is permuted.  Heads, whose columns stay last, stay as they are, and so do
# operands of different orders, and what others read, too.
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[512, 256]", y: "f32[8, 16, 32]", z: "bf16[4, 56, 56, 96]", w: "f32[256, 512]"):
        turned: "f32[256, 512]" = torch.ops.aten.permute.default(x, [1, 0])
        root: "f32[256, 512]" = torch.ops.aten.exp.default(turned)
        rows: "f32[256]" = torch.ops.aten.sum.dim_IntList(root, [1])
        largest: "f32[]" = torch.ops.aten.amax.default(turned, [0, 1])
        last: "f32[32, 8, 16]" = torch.ops.aten.permute.default(y, [2, 0, 1])
        kept: "f32[32, 1, 16]" = torch.ops.aten.sum.dim_IntList(last, [1], True)
        inner: "f32[32, 8]" = torch.ops.aten.prod.dim_int(last, 2)
        heads: "f32[16, 8, 32]" = torch.ops.aten.permute.default(y, [1, 0, 2])
        sums: "f32[16, 32]" = torch.ops.aten.sum.dim_IntList(heads, [1])
        images: "bf16[4, 96, 56, 56]" = torch.ops.aten.permute.default(z, [0, 3, 1, 2])
        wide: "f32[4, 96, 56, 56]" = torch.ops.aten.to.dtype(images, torch.float32)
        mean: "f32[4, 96, 1, 1]" = torch.ops.aten.sum.dim_IntList(wide, [2, 3], True)
        less: "f32[4, 96, 56, 56]" = torch.ops.aten.sub.Tensor(wide, mean)
        square: "f32[4, 96, 56, 56]" = torch.ops.aten.mul.Tensor(less, less)
        other: "f32[4, 96]" = torch.ops.aten.sum.dim_IntList(square, [2, 3])
        mixed: "f32[256, 512]" = torch.ops.aten.add.Tensor(turned, w)
        apart: "f32[256]" = torch.ops.aten.sum.dim_IntList(mixed, [1])
        logs: "f32[256, 512]" = torch.ops.aten.log.default(turned)
        own: "f32[512]" = torch.ops.aten.sum.dim_IntList(logs, [0])
        return (rows, largest, kept, inner, sums, other, apart, logs, own)
