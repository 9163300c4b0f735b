class M(torch.nn.Module):
    def forward(self, x: "i64[2, 3]", f: "f32[2]", n: "i64[s0, 0]", y: "i64[s0, 1]"):
        a: "f32[2]" = torch.ops.aten.remainder.Scalar(f, 0)
        empty: "i64[s0, 0]" = torch.ops.aten.floor_divide.default(n, y)
        b: "i64[2, 3]" = torch.ops.aten.fmod.Scalar(x, 0)
        return (a, b, empty)
