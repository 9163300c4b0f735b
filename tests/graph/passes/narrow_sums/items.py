class GraphModule(torch.nn.Module):
    def forward(self, x: "f16[4, 5]", y: "bf16[5]", s: "f32[]", w: "f32[5]"):
        sum_1: "f16[4, 5]" = torch.ops.aten.add.Tensor(x, 0.1)
        sum_2: "f16[4, 5]" = torch.ops.aten.add.Tensor(x, s, alpha = 0.3)
        difference: "bf16[5]" = torch.ops.aten.rsub.Scalar(y, 257)
        product: "f16[4, 5]" = torch.ops.aten.mul.Tensor(x, 0.1)
        equal: "b8[4, 5]" = torch.ops.aten.eq.Scalar(x, 0.1)
        wide: "f32[5]" = torch.ops.aten.sub.Tensor(w, 0.1)
        return (sum_1, sum_2, difference, product, equal, wide)
