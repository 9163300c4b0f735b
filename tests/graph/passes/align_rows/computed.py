class GraphModule(torch.nn.Module):
    def forward(self, scores: "bf16[512, 2, 1537]", w: "bf16[768, 1537]", other: "bf16[768, 1537]"):
        # a computed operand: all that read it read the padded one, but what is returned
        relu: "bf16[512, 2, 1537]" = torch.ops.aten.relu.default(scores);  scores = None
        rows: "bf16[1024, 1537]" = torch.ops.aten.view.default(relu, [1024, 1537])
        turned: "bf16[1537, 768]" = torch.ops.aten.permute.default(w, [1, 0]);  w = None
        y: "bf16[1024, 768]" = torch.ops.aten.mm.default(rows, turned)
        # the sum's other operand is no operand of a sum along its own rows
        columns: "bf16[1537, 1024]" = torch.ops.aten.permute.default(rows, [1, 0]);  rows = None
        z: "bf16[1537, 768]" = torch.ops.aten.mm.default(columns, y);  columns = None
        total: "bf16[1537]" = torch.ops.aten.sum.dim_IntList(relu, [0, 1])
        return (relu, y, z, total)
