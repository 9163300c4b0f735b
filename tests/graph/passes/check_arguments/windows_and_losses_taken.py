# Calls that look like those of windows_and_losses.py: empty batches, promoted losses, whole factors.
class M(torch.nn.Module):
    def forward(self, f: "f32[2, 2]", i: "i64[2, 2]", t: "b8[2, 2]", im: "f32[1, 2, 4, 4]", w: "f32[3, 2, 2, 2]", wt: "f32[2, 3, 2, 2]", col: "f32[1, 8, 9]", batch: "f32[0, 2, 4, 4]", theta: "f32[1, 2, 3]"):
        a0 = torch.ops.aten.conv2d.default(batch, w, None, [1, 1], [1, 0])
        a1 = torch.ops.aten.conv_transpose2d.input(im, wt, None, [2, 2], [0, 0], [1, 0])
        a2 = torch.ops.aten.col2im.default(col, [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])
        a3 = torch.ops.aten.max_pool2d.default(batch, [2, 2])
        a4 = torch.ops.aten._pdist_forward.default(f, -1.0)
        a5 = torch.ops.aten.histc.default(f, 10, 1, 1)
        a6 = torch.ops.aten.add.Tensor(t, t, alpha=2)
        a7 = torch.ops.aten.add.Scalar(i, 1.5, 0.5)
        a8 = torch.ops.aten.mse_loss.default(f, i)
        a9 = torch.ops.aten.l1_loss.default(i, i, 0)
        a10 = torch.ops.aten.huber_loss.default(f, i)
        a11 = torch.ops.aten.upsample_nearest2d.default(batch, [2, 2])
        a12 = torch.ops.aten.arange.start_step(10, 0, -100)
        a13 = torch.ops.aten.affine_grid_generator.default(theta, [1, 3, 2, 5], False)
        return (a0,)
