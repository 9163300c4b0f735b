# Lengths and blanks of alignments, and integers that no draw of the dtype gives;
# losses_and_draws_taken.py has those next to them.
class M(torch.nn.Module):
    def forward(self, x: "f32[5, 2, 4]", t: "i64[2, 3]", p: "i64[6]", i8: "i8[4]", u8: "u8[4]", b: "b8[4]", h: "f16[4]", i32: "i32[4]"):
        a0 = torch.ops.aten.ctc_loss.IntList(x, t, [6, 5], [3, 3])
        a1 = torch.ops.aten.ctc_loss.IntList(x, t, [-1, 5], [3, 3])
        a2 = torch.ops.aten.ctc_loss.IntList(x, t, [5, 5], [4, 3])
        a3 = torch.ops.aten.ctc_loss.IntList(x, t, [5, 5], [-1, 3])
        a4 = torch.ops.aten.ctc_loss.IntList(x, p, [5, 5], [4, 3])
        a5 = torch.ops.aten.ctc_loss.IntList(x, p, [5, 5], [2, 3])
        a6 = torch.ops.aten.ctc_loss.IntList(x, p, [5, 5], [-1, 7])
        a7 = torch.ops.aten.ctc_loss.IntList(x, t, [5, 5], [3, 3], 4)
        a8 = torch.ops.aten.ctc_loss.IntList(x, t, [5, 5], [3, 3], -1)
        r3 = torch.ops.aten.random.to(u8, 257)
        r4 = torch.ops.aten.random.to(b, 3)
        r5 = torch.ops.aten.random.to(h, 70000)
        r8 = torch.ops.aten.random_.to(i32, 2147483649)
        q0 = torch.ops.aten.randint.low(-1, 3, [4], dtype=torch.uint8)
        q1 = torch.ops.aten.randint.default(3, [4], dtype=torch.bool)
        q2 = torch.ops.aten.randint_like.default(i8, 129)
        q3 = torch.ops.aten.randint_like.low_dtype(u8, 3, 3)
        r9 = torch.ops.aten.celu_.default(x, 0.0)
        return (a0,)
