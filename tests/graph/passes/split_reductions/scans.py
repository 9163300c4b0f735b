class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[16384, 32]", row: "f32[2, 262144]", odd: "f32[5003, 64]", many: "f32[4096, 4096]", short: "f32[1000, 512]"):
        columns: "f32[16384, 32]" = torch.ops.aten.cumsum.default(x, 0);  x = None
        rows: "f32[2, 262144]" = torch.ops.aten.cumsum.default(row, 1);  row = None
        products: "f32[5003, 64]" = torch.ops.aten.cumprod.default(odd, 0);  odd = None
        enough: "f32[4096, 4096]" = torch.ops.aten.cumsum.default(many, 0);  many = None
        few: "f32[1000, 512]" = torch.ops.aten.cumsum.default(short, 0);  short = None
        return (columns, rows, products, enough, few)
