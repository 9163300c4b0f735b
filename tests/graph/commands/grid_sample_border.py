def forward(self, x: "f32[2, 16, 12, 12]", grid: "f32[2, 12, 12, 2]"):
    y = torch.ops.aten.grid_sampler_2d.default(x, grid, 0, 1, False)
    return (y,)
