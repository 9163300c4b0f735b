class Rotary(torch.nn.Module):
    def forward(self, x: "f32[1, 8, 32]"):
        transpose: "f32[1, 32, 8]" = torch.ops.aten.transpose.int(x, 1, 2)
        cat: "f32[1, 32, 16]" = torch.ops.aten.cat.default([transpose, transpose], -1)
        cos: "f32[1, 32, 16]" = torch.ops.aten.cos.default(cat)
        return (cos,)
