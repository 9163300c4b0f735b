class M(torch.nn.Module):
    def forward(self, b: "f32[4]", x: "f32[3, 2]", y: "f32[2, 4]"):
        out = torch.ops.aten._addmm_activation.default(b, x, y, use_gelu=True)
        return (out,)
