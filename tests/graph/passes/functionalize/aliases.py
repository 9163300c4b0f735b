# In inference dropout gives its input; a cast to the same dtype does too, to another it copies.
def forward(self, x: "f32[4]"):
    base = torch.ops.aten.neg.default(x)
    dropout = torch.ops.aten.dropout.default(base, 0.1, False)
    same = torch.ops.aten.to.dtype(dropout, torch.float32)
    other = torch.ops.aten.to.dtype(base, torch.float16)
    detach_ = torch.ops.aten.detach_.default(same)
    relu_ = torch.ops.aten.relu_.default(detach_)
    dropout_ = torch.ops.aten.dropout_.default(relu_, 0.1, False)
    return (base, dropout, other, dropout_)
