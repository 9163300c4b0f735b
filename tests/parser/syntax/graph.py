class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[8, 16][16, 1]cuda:0", primals_2: "Sym(s0)"):
         # File: model.py:12 in forward, code: return self.linear(x)
        permute: "f32[16, 8][1, 16]cuda:0" = torch.ops.aten.permute.default(primals_1, [1, 0]);  primals_1 = None
        addmm: "f32[8, 8]" = torch.ops.aten.addmm.default(primals_2, permute, permute)
        getitem = addmm[(slice(None, None, None), -1)]
        return (addmm, getitem, permute, None)
