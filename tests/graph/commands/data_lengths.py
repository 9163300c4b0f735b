class M(torch.nn.Module):
    def forward(self, x: "f32[5, 2, 4]", packed: "i64[4]", steps: "i64[2]", sizes: "i64[2]"):
        r = torch.ops.aten.ctc_loss.Tensor(x, packed, steps, sizes)
        return (r,)
