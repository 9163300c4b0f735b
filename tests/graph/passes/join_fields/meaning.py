class GraphModule(torch.nn.Module):
    def forward(self, q: "i32[4]", s: "i64[]"):
        # a negative mask keeps upper bits
        a: "i32[4]" = torch.ops.aten.bitwise_and.Tensor(q, -16)
        up: "i32[4]" = torch.ops.aten.bitwise_left_shift.Tensor(q, 4)
        b: "i32[4]" = torch.ops.aten.bitwise_and.Tensor(up, -16);  up = None
        a_part: "i32[4, 1]" = torch.ops.aten.unsqueeze.default(a, 1);  a = None
        b_part: "i32[4, 1]" = torch.ops.aten.unsqueeze.default(b, 1);  b = None
        upper: "i32[4, 2]" = torch.ops.aten.cat.default([a_part, b_part], 1);  a_part = b_part = None
        # s, without axes, takes no part in the choice of a dtype
        low: "i32[4]" = torch.ops.aten.bitwise_and.Tensor(q, 15)
        shifted: "i32[4]" = torch.ops.aten.bitwise_right_shift.Tensor(q, 4);  q = None
        high: "i32[4]" = torch.ops.aten.bitwise_and.Tensor(shifted, 15);  shifted = None
        low_scaled: "i32[4]" = torch.ops.aten.mul.Tensor(low, s);  low = None
        high_scaled: "i32[4]" = torch.ops.aten.mul.Tensor(high, s);  high = s = None
        low_float: "f32[4]" = torch.ops.aten.to.dtype(low_scaled, torch.float32);  low_scaled = None
        high_float: "f32[4]" = torch.ops.aten.to.dtype(high_scaled, torch.float32);  high_scaled = None
        low_part: "f32[4, 1]" = torch.ops.aten.unsqueeze.default(low_float, 1);  low_float = None
        high_part: "f32[4, 1]" = torch.ops.aten.unsqueeze.default(high_float, 1);  high_float = None
        scaled: "f32[4, 2]" = torch.ops.aten.cat.default([low_part, high_part], 1);  low_part = high_part = None
        return (upper, scaled)
