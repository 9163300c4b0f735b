def forward(self, x: "f32[2, 4]", h: "bf16[2, 4]"):
    a = torch.ops.aten.softmax.int(x, -1)
    b = torch.ops.aten.softmax.int(h, 0)
    c = torch.ops.aten.softmax.int(h, 1, torch.float32)
    d = torch.ops.aten.log_softmax.int(x, 1)
    e = torch.ops.aten._safe_softmax.default(x, -1)
    f = torch.ops.aten.logsumexp.default(x, [1])
    return (a, b, c, d, e, f)
