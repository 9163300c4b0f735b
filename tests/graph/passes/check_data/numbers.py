# Python divides no number by 0, and makes no integer of NaN and infinity.
class M(torch.nn.Module):
    def forward(self, x: "f32[4]", n: "i64[]", k: "i32[]", f: "f64[]"):
        i = torch.ops.aten.item.default(n)
        j = torch.ops.aten.item.default(k)
        a = torch.ops.aten.item.default(f)
        quotient = _operator.truediv(i, j)
        third = _operator.truediv(i, 3)
        rest = _operator.mod(i, j)
        few = _operator.floordiv(i, 3)
        whole = math.trunc(a)
        lower = math.floor(third)
        upper = math.ceil(quotient)
        y: "f32[4]" = torch.ops.aten.add.Tensor(x, rest)
        y_1: "f32[4]" = torch.ops.aten.add.Tensor(y, few)
        y_2: "f32[4]" = torch.ops.aten.add.Tensor(y_1, whole)
        y_3: "f32[4]" = torch.ops.aten.add.Tensor(y_2, lower)
        y_4: "f32[4]" = torch.ops.aten.add.Tensor(y_3, upper)
        return y_4
