class GraphModule(torch.nn.Module):
    def forward(self, grad: "bf16[4, 1024, 50257]", x: "bf16[4096, 768]", w: "bf16[50257, 768]", short: "bf16[4096, 999]", y: "bf16[999, 768]", narrow: "bf16[4096, 50257]", v: "bf16[50257, 16]"):
        # the gradient of a vocabulary's scores: two products read it
        rows: "bf16[4096, 50257]" = torch.ops.aten.view.default(grad, [4096, 50257]);  grad = None
        of_rows: "bf16[4096, 768]" = torch.ops.aten.mm.default(rows, w);  w = None
        turned: "bf16[50257, 4096]" = torch.ops.aten.permute.default(rows, [1, 0]);  rows = None
        of_weight: "bf16[50257, 768]" = torch.ops.aten.mm.default(turned, x);  turned = x = None
        # rows that are short, and a product that reads its operand for few columns
        small: "bf16[4096, 768]" = torch.ops.aten.mm.default(short, y);  short = y = None
        few: "bf16[4096, 16]" = torch.ops.aten.mm.default(narrow, v);  narrow = v = None
        return (of_rows, of_weight, small, few)
