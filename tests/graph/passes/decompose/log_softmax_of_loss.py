def forward(self, go: "f32[]", y: "bf16[4, 70]", target: "i64[4]", tw: "f32[]", each: "f32[4]", z: "f32[4, 70]", w: "f32[70]"):
    a = torch.ops.aten.nll_loss_backward.default(go, y, target, None, 1, -100, tw)
    b = torch.ops.aten._log_softmax_backward_data.default(a, y, 1, torch.bfloat16)
    c = torch.ops.aten.nll_loss_backward.default(each, z, target, None, 0, 3, tw)
    d = torch.ops.aten._log_softmax_backward_data.default(c, z, 1, torch.float32)
    e = torch.ops.aten.nll_loss_backward.default(each, z, target, w, 0, 3, tw)
    f = torch.ops.aten._log_softmax_backward_data.default(e, z, 1, torch.float32)
    g = torch.ops.aten._log_softmax_backward_data.default(c, z, 0, torch.float32)
    return (b, d, f, g)
