# What operators refuse of data: probabilities, rows of them, and what the model asserts.  Of one
# value the same is checked once.  Divisors are checked on CPUs only (commands/data.cmd).
class M(torch.nn.Module):
    def forward(self, p: "f32[2, 3]", w: "f32[s0, 3]", y: "i64[3]", k: "i64[2, 3]",
                x: "f32[7, 4]", z: "f32[7, 5]", ends: "i32[3]", e: "f32[]"):
        drawn: "f32[2, 3]" = torch.ops.aten.bernoulli.default(p)
        again: "f32[2, 3]" = torch.ops.aten.bernoulli.default(p)
        whole: "i64[2, 3]" = torch.ops.aten.bernoulli.default(k)
        rows: "i64[s0, 2]" = torch.ops.aten.multinomial.default(w, 2)
        loss: "f32[]" = torch.ops.aten.binary_cross_entropy.default(p, drawn)
        quotient: "i64[2, 3]" = torch.ops.aten.floor_divide.default(k, y)
        small: "b8[3]" = torch.ops.aten.lt.Scalar(y, 5)
        all_small: "b8[]" = torch.ops.aten.all.default(small)
        none = torch.ops.aten._assert_async.msg(all_small, 'y is "large"')
        none_1 = torch.ops.aten._assert_async.default(loss)
        x_t: "f32[4, 7]" = torch.ops.aten.transpose.int(x, 0, 1)
        groups: "f32[3, 4, 5]" = torch.ops.aten._grouped_mm.default(x_t, z, ends)
        events: "f32[]" = torch.ops.aten.poisson.default(e)
        return (again, whole, rows, quotient, groups, events)
