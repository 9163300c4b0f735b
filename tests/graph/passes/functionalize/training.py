# Batch norms that train write their running statistics, whatever their schema says.
def forward(self, b_mean: "f32[3]", b_var: "f32[3]", x: "f32[2, 3, 4]"):
    norm = torch.ops.aten._native_batch_norm_legit.default(x, None, None, b_mean, b_var, True, 0.1, 1e-05)
    getitem = norm[0]
    again = torch.ops.aten.batch_norm.default(getitem, None, None, b_mean, b_var, True, 0.1, 1e-05, True)
    relu_ = torch.ops.aten.relu_.default(again)
    now = torch.ops.aten.add.Tensor(b_mean, b_var)
    return (again, now)
