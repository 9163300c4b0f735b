"""The softmax of each row, as torch.fx prints a graph.

build/nereid graph examples/graphs/softmax.py --random-inputs --device cpu
"""
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[64, 1000]"):
        softmax: "f32[64, 1000]" = torch.ops.aten.softmax.int(x, -1);  x = None
        return (softmax,)
