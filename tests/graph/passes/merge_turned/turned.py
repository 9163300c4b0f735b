# What is computed of a permutation is a permutation of what is computed of the tensor.
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[512, 256]", y: "f32[8, 16, 32]", s: "f32[]"):
        wide: "f32[512, 256]" = torch.ops.aten.to.dtype(x, torch.float32)
        scaled: "f32[512, 256]" = torch.ops.aten.mul.Tensor(wide, s)
        turned: "bf16[256, 512]" = torch.ops.aten.permute.default(x, [1, 0])
        wide_turned: "f32[256, 512]" = torch.ops.aten.to.dtype(turned, torch.float32)
        scaled_turned: "f32[256, 512]" = torch.ops.aten.mul.Tensor(wide_turned, s)
        first: "f32[32, 8, 16]" = torch.ops.aten.permute.default(y, [2, 0, 1])
        first_exp: "f32[32, 8, 16]" = torch.ops.aten.exp.default(first)
        second: "f32[16, 8, 32]" = torch.ops.aten.permute.default(y, [1, -3, 2])
        second_exp: "f32[16, 8, 32]" = torch.ops.aten.exp.default(second)
        other: "f32[16, 8, 32]" = torch.ops.aten.exp2.default(second)
        return (scaled, scaled_turned, first_exp, second_exp, other)
