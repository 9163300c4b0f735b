def forward(self, x: "bf16[32, 4, 16]", y: "bf16[4, 16, 24]", z: "bf16[16, 4, 24]", a: "bf16[2, 4, 64]"):
    # both are in memory in the other order
    left = torch.ops.aten.permute.default(x, [0, 2, 1])
    left1 = torch.ops.aten.view.default(left, [32, 64])
    right = torch.ops.aten.permute.default(y, [1, 0, 2])
    right1 = torch.ops.aten.view.default(right, [64, 24])
    p = torch.ops.aten.mm.default(left1, right1)
    # one is a matrix in either order
    right2 = torch.ops.aten.view.default(z, [64, 24])
    q = torch.ops.aten.mm.default(left1, right2)
    return (p, q)
