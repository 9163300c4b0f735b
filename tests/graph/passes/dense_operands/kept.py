class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[4, 2, 50, 16]", w: "bf16[32, 32]", a: "bf16[200, 16]", b: "bf16[16, 32]"):
        # read in two orders: a copy would be one more value in memory
        relu: "bf16[4, 2, 50, 16]" = torch.ops.aten.relu.default(x);  x = None
        rows: "bf16[4, 50, 2, 16]" = torch.ops.aten.permute.default(relu, [0, 2, 1, 3])
        whole: "bf16[200, 32]" = torch.ops.aten.view.default(rows, [200, 32]);  rows = None
        y: "bf16[200, 32]" = torch.ops.aten.mm.default(whole, w);  whole = w = None
        # a product has a kernel that writes its own order
        mm: "bf16[200, 32]" = torch.ops.aten.mm.default(a, b);  a = b = None
        heads: "bf16[4, 50, 2, 16]" = torch.ops.aten.view.default(mm, [4, 50, 2, 16]);  mm = None
        moved: "bf16[4, 2, 50, 16]" = torch.ops.aten.permute.default(heads, [0, 2, 1, 3]);  heads = None
        flat: "bf16[32, 200]" = torch.ops.aten.view.default(moved, [32, 200]);  moved = None
        z: "bf16[32, 32]" = torch.ops.aten.mm.default(flat, y);  flat = None
        return (relu, y, z)
