# A number that data decides is a tensor that gives way: x * b is f32, though b is f64 without axes.
class M(torch.nn.Module):
    def forward(self, x: "i64[4, 4]", y: "f16[]", b: "f64[]"):
        mul: "f32[4, 4]" = torch.ops.aten.mul.Scalar(x, b)
        div: "f16[]" = torch.ops.aten.div.Scalar(y, b)
        twice: "f16[]" = torch.ops.aten.mul.Scalar(y, 2.0)
        return (mul, div, twice)
