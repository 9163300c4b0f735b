def forward(self):
    a = torch.ops.nereid.random.default([4], 1, 'cauchy')
    return (a,)
