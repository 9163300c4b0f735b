class M(torch.nn.Module):
    def forward(self, x: "i64[3, 3]"):
        a: "f32[3, 3]" = torch.ops.aten._to_copy.default(x, dtype=torch.float32)
        lower = torch.ops.aten.linalg_cholesky.default(a)
        return (a,)
