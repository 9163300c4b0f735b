class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 8]", w: "f32[8, 3]", y: "bf16[512, 1536]", v: "bf16[1536, 768]"):
        # slices of paddings that the graph has itself: of ones in front, and after the elements
        front: "f32[4, 10]" = torch.ops.aten.constant_pad_nd.default(x, [2, 0], 1.0);  x = None
        last: "f32[4, 8]" = torch.ops.aten.slice.Tensor(front, 1, 2, 10);  front = None
        a: "f32[4, 3]" = torch.ops.aten.mm.default(last, w);  last = w = None
        after: "bf16[512, 1540]" = torch.ops.aten.constant_pad_nd.default(y, [0, 4], 1.0);  y = None
        first: "bf16[512, 1536]" = torch.ops.aten.slice.Tensor(after, 1, 0, 1536);  after = None
        b: "bf16[512, 768]" = torch.ops.aten.mm.default(first, v);  first = v = None
        return (a, b)
