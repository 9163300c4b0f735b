class GraphModule(torch.nn.Module):
    def forward(self, q: "u8[4, 8]", s: "i8[4, 8]", table: "f16[16]", x: "f32[4, 8]", y: "f32[4, 8]"):
        # two fields of a byte choose from a table
        low: "u8[4, 8]" = torch.ops.aten.bitwise_and.Tensor(q, 15)
        high: "u8[4, 8]" = torch.ops.aten.bitwise_right_shift.Tensor(q, 4);  q = None
        low_index: "i64[4, 8]" = torch.ops.aten.to.dtype(low, torch.int64);  low = None
        high_index: "i64[4, 8]" = torch.ops.aten.to.dtype(high, torch.int64);  high = None
        low_value: "f16[4, 8]" = torch.ops.aten.index.Tensor(table, [low_index]);  low_index = None
        high_value: "f16[4, 8]" = torch.ops.aten.index.Tensor(table, [high_index]);  table = high_index = None
        low_part: "f16[4, 8, 1]" = torch.ops.aten.unsqueeze.default(low_value, 2);  low_value = None
        high_part: "f16[4, 8, 1]" = torch.ops.aten.unsqueeze.default(high_value, 2);  high_value = None
        chosen: "f16[4, 8, 2]" = torch.ops.aten.cat.default([low_part, high_part], 2);  low_part = high_part = None
        # fields with signs
        up: "i8[4, 8]" = torch.ops.aten.bitwise_left_shift.Tensor(s, 4)
        signed_low: "i8[4, 8]" = torch.ops.aten.bitwise_right_shift.Tensor(up, 4);  up = None
        signed_high: "i8[4, 8]" = torch.ops.aten.bitwise_right_shift.Tensor(s, 4);  s = None
        first: "i8[4, 1, 8]" = torch.ops.aten.unsqueeze.default(signed_low, 1);  signed_low = None
        second: "i8[4, 1, 8]" = torch.ops.aten.unsqueeze.default(signed_high, 1);  signed_high = None
        signed: "i8[4, 2, 8]" = torch.ops.aten.cat.default([first, second], 1);  first = second = None
        # what differs in more stays
        x_part: "f32[4, 8, 1]" = torch.ops.aten.unsqueeze.default(x, 2);  x = None
        y_part: "f32[4, 8, 1]" = torch.ops.aten.unsqueeze.default(y, 2);  y = None
        both: "f32[4, 8, 2]" = torch.ops.aten.cat.default([x_part, y_part], 2);  x_part = y_part = None
        return (chosen, signed, both)
