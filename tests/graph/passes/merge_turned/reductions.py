# Reductions read memory as it lies: all elements in any order, others before they are permuted.  What
# others read of a permutation, as `scaled` does, keeps its axes.
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[512, 256]", y: "f32[8, 16, 32]", z: "f32[512, 256]"):
        turned: "f32[256, 512]" = torch.ops.aten.permute.default(x, [1, 0])
        absolute: "f32[256, 512]" = torch.ops.aten.abs.default(turned)
        root: "f32[256, 512]" = torch.ops.aten.sqrt.default(absolute)
        largest: "f32[]" = torch.ops.aten.amax.default(root, [0, 1])
        own: "f32[512, 256]" = torch.ops.aten.abs.default(x)
        own_root: "f32[512, 256]" = torch.ops.aten.sqrt.default(own)
        own_largest: "f32[]" = torch.ops.aten.amax.default(own_root, [0, 1])
        permuted: "f32[32, 8, 16]" = torch.ops.aten.permute.default(y, [2, 0, 1])
        permuted_exp: "f32[32, 8, 16]" = torch.ops.aten.exp.default(permuted)
        sums: "f32[32, 1, 16]" = torch.ops.aten.sum.dim_IntList(permuted_exp, [1], True)
        kept: "f32[256, 512]" = torch.ops.aten.permute.default(z, [1, 0])
        kept_exp: "f32[256, 512]" = torch.ops.aten.exp.default(kept)
        rows: "f32[256]" = torch.ops.aten.sum.dim_IntList(kept_exp, [1])
        first: "f32[256, 512]" = torch.ops.aten.permute.default(x, [1, 0])
        second: "f32[256, 512]" = torch.ops.aten.permute.default(z, [1, 0])
        own_sum: "f32[256, 512]" = torch.ops.aten.add.Tensor(first, second)
        other: "f32[512, 256]" = torch.ops.aten.permute.default(own_sum, [1, 0])
        columns: "f32[256]" = torch.ops.aten.sum.dim_IntList(other, [0])
        scaled: "f32[512, 256]" = torch.ops.aten.mul.Tensor(other, x)
        return (largest, own_largest, sums, kept_exp, rows, columns, scaled)
