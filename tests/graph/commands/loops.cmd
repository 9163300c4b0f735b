# A loop whose data ends it: its plan, and what no such loop can contain.
cd $TMP
graph() {
  cat <<END
class M(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        c = nereid.carried.default(x, 1)
        sum_1 = torch.ops.aten.sum.default(c)
        lt = torch.ops.aten.lt.Scalar(sum_1, 9.0)
        test = nereid.loop_test.default(lt, 2)
        r = torch.ops.$1
        next = torch.ops.aten.add.Tensor($2, 1.0)
        end = nereid.loop_end.default(test, [c], [next])
        result = nereid.loop_result.default(c, end)
        return (result,)
END
}
graph "aten.exp.default(c)" r >loop.py
graph "aten.rand_like.default(c)" r >random.py
graph "aten.nonzero.default(c)" c >size.py
nereid graph loop.py --emit plan --device cpu | sed /^source/q
nereid graph random.py --emit plan --device cpu
nereid graph size.py --emit plan --device cpu
