# In inference nothing is written.
def forward(self, b_mean: "f32[3]", b_var: "f32[3]", x: "f32[2, 3, 4]"):
    norm = torch.ops.aten._native_batch_norm_legit.default(x, None, None, b_mean, b_var, False, 0.1, 1e-05)
    getitem = norm[0]
    return (getitem,)
