class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[6, 20]", w: "f32[20, 16]", t: "f32[9, 16]", i: "i64[6]"):
        mm: "f32[6, 16]" = torch.ops.aten.mm.default(x, w)
        relu: "f32[6, 16]" = torch.ops.aten.relu.default(mm)
        softmax: "f32[6, 16]" = torch.ops.aten.softmax.int(relu, -1)
        embedding: "f32[6, 16]" = torch.ops.aten.embedding.default(t, i)
        add: "f32[6, 16]" = torch.ops.aten.add.Tensor(softmax, embedding)
        cumsum: "f32[6, 16]" = torch.ops.aten.cumsum.default(add, 1)
        permute: "f32[16, 6]" = torch.ops.aten.permute.default(cumsum, [1, 0])
        return (permute, relu)
