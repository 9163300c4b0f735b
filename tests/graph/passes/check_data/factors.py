# Factors that are checked are those that the operator uses, or its other triangle's.
class M(torch.nn.Module):
    def forward(self, x: "f32[s0, 3, 3]", p: "i32[s0, 3]", n: "i64[]"):
        inverse = torch.ops.aten.linalg_inv.default(x)
        solved = torch.ops.aten.linalg_solve.default(x, x)
        lower = torch.ops.aten.linalg_cholesky.default(x)
        upper = torch.ops.aten.linalg_cholesky.default(solved, upper=True)
        parts = torch.ops.aten.lu_unpack.default(inverse, p)
        rows = parts[0]
        told = torch.ops.aten.linalg_inv_ex.default(x)
        info = told[1]
        item = torch.ops.aten.item.default(n)
        below = 3 > item
        none = torch.ops.aten._assert_scalar.default(below, 'n is below three')
        none_1 = torch.ops.aten._assert_scalar.default(item, 'n is not 0')
        return (inverse, lower, upper, rows, info)
