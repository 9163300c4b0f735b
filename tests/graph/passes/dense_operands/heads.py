class GraphModule(torch.nn.Module):
    def forward(self, q: "bf16[4, 2, 50, 16]", k: "bf16[4, 2, 50, 16]", v: "bf16[4, 2, 50, 16]", w: "bf16[96, 32]", x: "bf16[50, 200]"):
        # gradients of queries, keys and values of all heads, side by side
        cat: "bf16[12, 2, 50, 16]" = torch.ops.aten.cat.default([q, k, v]);  q = k = v = None
        parts: "bf16[3, 4, 2, 50, 16]" = torch.ops.aten.view.default(cat, [3, 4, 2, 50, 16]);  cat = None
        rows: "bf16[4, 50, 3, 2, 16]" = torch.ops.aten.permute.default(parts, [1, 3, 0, 2, 4]);  parts = None
        whole: "bf16[200, 96]" = torch.ops.aten.view.default(rows, [200, 96]);  rows = None
        grad: "bf16[200, 32]" = torch.ops.aten.mm.default(whole, w);  w = None
        turned: "bf16[96, 200]" = torch.ops.aten.permute.default(whole, [1, 0])
        weight: "bf16[96, 96]" = torch.ops.aten.mm.default(turned, whole);  turned = whole = None
        # a matrix in another order is one
        relu: "bf16[50, 200]" = torch.ops.aten.relu.default(x);  x = None
        columns: "bf16[200, 50]" = torch.ops.aten.permute.default(relu, [1, 0]);  relu = None
        turned_back: "bf16[50, 200]" = torch.ops.aten.permute.default(columns, [1, 0])
        square: "bf16[200, 200]" = torch.ops.aten.mm.default(columns, turned_back);  columns = None
        return (grad, weight, square)
