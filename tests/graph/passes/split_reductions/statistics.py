# Two steps: what parts of images give is few enough for one kernel.
def forward(self, x: "f32[128, 14, 14, 64]", y: "f32[128, 56, 14, 64]", z: "f32[128, 112, 112, 64]"):
    sum_1: "f32[1, 1, 1, 64]" = torch.ops.aten.sum.dim_IntList(x, [0, 1, 2], True)
    # longer parts, where they save a step
    sum_2: "f32[1, 1, 1, 64]" = torch.ops.aten.sum.dim_IntList(y, [0, 1, 2], True)
    # three, of more
    sum_3: "f32[1, 1, 1, 64]" = torch.ops.aten.sum.dim_IntList(z, [0, 1, 2], True)
    return (sum_1, sum_2, sum_3)
