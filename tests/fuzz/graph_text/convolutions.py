class G(torch.nn.Module):
    def forward(self, x: "f32[2, 4, 9, 8]", w: "f32[6, 4, 3, 3]", d: "f32[6, 1, 3, 3]", l: "f64[2, 6, 9]", h: "f64[1, 2, 5]", p: "f64[15, 9]", q: "f64[15, 5]"):
        a = torch.ops.aten.conv2d.padding(x, w, None, [1, 1], 'same', [2, 1])
        b = torch.ops.aten.relu.default(a)
        c = torch.ops.aten.max_pool2d_with_indices.default(b, 3, 2, 1)
        e = c[0]
        f = torch.ops.aten.conv2d.default(e, d, None, 1, 1, 1, 6)
        g = torch.ops.aten.conv_transpose2d.input(f, w, None, 2, 1)
        i = torch.ops.aten.adaptive_avg_pool2d.default(b, [5, 3])
        j = torch.ops.aten.avg_pool2d.default(i, [2, 1], 1, [1, 0], True, False)
        s = torch.ops.aten.split.Tensor(b, 2, 1)
        t = s[1]
        k = torch.ops.aten.constant_pad_nd.default(t, [1, 0, 2, 1])
        v = torch.ops.aten.mean.dim(k, [2, 3], True)
        r = torch.ops.aten.gru.input(l, h, [p, q], False, 1, 0.0, False, False, True)
        m = r[0]
        o = torch.ops.aten.im2col.default(x, [3, 2], [1, 2], [1, 0], [2, 1])
        return (g, j, v, m, o)
