class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[6, 4]", s0: "Sym(s0)", y: "f32[s0, 4]"):
        # Writes through parts: pass functionalize sees views.
        parts = torch.ops.aten.tensor_split.sections(x, 4)
        first = parts[0]
        third = parts[2]
        relu_ = torch.ops.aten.relu_.default(first)
        norm = torch.ops.aten.linalg_norm.default(x, 1)
        halves = torch.ops.aten.tensor_split.sections(y, 2)
        half = halves[1]
        # In inference, a drawn slope is a constant.
        rrelu = torch.ops.aten.rrelu.default(third, 0.25, 0.75)
        loss = torch.ops.aten.margin_ranking_loss.default(third, rrelu, third, 0.5)
        return (norm, half, loss, x)
