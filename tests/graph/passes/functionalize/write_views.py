# Writes through views reach the base and its other views.
def forward(self, x: "f32[4, 6]", y: "f32[3, 2]"):
    base = torch.ops.aten.clone.default(x)
    rows = torch.ops.aten.slice.Tensor(base, 0, 1, 3)
    turned = torch.ops.aten.permute.default(rows, [1, 0])
    part = torch.ops.aten.narrow.default(turned, 0, 2, 3)
    add_ = torch.ops.aten.add_.Tensor(part, y)
    row = torch.ops.aten.select.int(base, 0, 2)
    fill_ = torch.ops.aten.zero_.default(row)
    flat = torch.ops.aten.view.default(base, [24])
    mul_ = torch.ops.aten.mul_.Tensor(flat, 2)
    return (base, rows, add_, row)
