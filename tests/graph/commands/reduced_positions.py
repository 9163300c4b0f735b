# Positions of signals whose channels are last in memory are reduced row by row, and so are masks.
class Points(torch.nn.Module):
    def forward(self, x: "f32[4096, 512]", kept: "b8[8, 512, 64]"):
        view: "f32[8, 512, 512]" = torch.ops.aten.view.default(x, [8, 512, 512])
        channels: "f32[8, 512, 512]" = torch.ops.aten.permute.default(view, [0, 2, 1])
        relu: "f32[8, 512, 512]" = torch.ops.aten.relu.default(channels)
        amax: "f32[8, 512]" = torch.ops.aten.amax.default(relu, [-1])
        mask: "b8[8, 64, 512]" = torch.ops.aten.permute.default(kept, [0, 2, 1])
        count: "i64[8, 64]" = torch.ops.aten.sum.dim_IntList(mask, [2])
        return (amax, count)
