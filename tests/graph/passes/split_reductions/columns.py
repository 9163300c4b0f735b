class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8192, 768]", images: "f32[128, 64, 56, 56]", nhwc: "f32[128, 56, 56, 64]", few: "f32[100, 768]", images_of_rows: "f32[64, 197, 768]", odd: "f32[8191, 768]", s: "f32[s0, 768]"):
        bias: "f32[1, 768]" = torch.ops.aten.sum.dim_IntList(x, [0], True);  x = None
        channels: "f32[64]" = torch.ops.aten.sum.dim_IntList(images, [0, 2, 3]);  images = None
        last: "f32[128, 64, 56, 56]" = torch.ops.aten.permute.default(nhwc, [0, 3, 1, 2]);  nhwc = None
        largest: "f32[64]" = torch.ops.aten.amax.default(last, [0, 2, 3]);  last = None
        short: "f32[768]" = torch.ops.aten.sum.dim_IntList(few, [0]);  few = None
        prime: "f32[768]" = torch.ops.aten.sum.dim_IntList(odd, [0]);  odd = None
        open: "f32[768]" = torch.ops.aten.sum.dim_IntList(s, [0]);  s = None
        rows: "f32[768]" = torch.ops.aten.sum.dim_IntList(images_of_rows, [0, 1]);  images_of_rows = None
        return (bias, channels, largest, short, prime, open, rows)
