# A depthwise convolution with its channels last, and their statistics over all images.
def forward(self, i: "f32[4, 20, 20, 64]", w: "f32[64, 1, 5, 5]"):
    x = torch.ops.aten.permute.default(i, [0, 3, 1, 2])
    y = torch.ops.aten.convolution.default(x, w, None, [1, 1], [2, 2], [1, 1], False, [0, 0], 64)
    s = torch.ops.aten.var_mean.correction(y, [0, 2, 3], correction = 0, keepdim = True)
    v = s[0];  m = s[1]
    d = torch.ops.aten.sub.Tensor(y, m)
    e = torch.ops.aten.mul.Tensor(d, v)
    return (e,)
