# A solution of vectors, by a real matrix of twice the rows, and half the number of a zero column.
class G(torch.nn.Module):
    def forward(self, a: "c64[2, 3, 3]", b: "c64[2, 3]"):
        all = torch.ops.aten._linalg_solve_ex.default(a, b)
        x = all[0]
        info = all[3]
        return (x, info)
