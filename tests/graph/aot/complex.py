def forward(self, x: "c64[s0, 6]"):
    y = torch.ops.aten.fft_fft.default(x)
    return (y,)
