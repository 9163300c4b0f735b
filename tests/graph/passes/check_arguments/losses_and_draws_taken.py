# What losses_and_draws.py has next to the ends of ranges.
class M(torch.nn.Module):
    def forward(self, x: "f32[5, 2, 4]", t: "i64[2, 3]", p: "i64[6]", i8: "i8[4]", u8: "u8[4]", b: "b8[4]", h: "f16[4]", f: "f32[4]"):
        a0 = torch.ops.aten.ctc_loss.IntList(x, t, [5, 0], [3, 0])
        a1 = torch.ops.aten.ctc_loss.IntList(x, p, [5, 5], [0, 6], 3)
        r2 = torch.ops.aten.random.to(u8, 256)
        r3 = torch.ops.aten.random.to(b, 2)
        r4 = torch.ops.aten.random.to(h, 65505)
        r5 = torch.ops.aten.random.to(f, 9007199254740992)
        q0 = torch.ops.aten.randint.low(0, 256, [4], dtype=torch.uint8)
        q1 = torch.ops.aten.randint_like.default(i8, 128)
        return (a0, a1, r2, r3, r4, r5, q0, q1)
