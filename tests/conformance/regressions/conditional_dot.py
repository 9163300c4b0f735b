"""Matrix products in a branch of a pipelined loop, whose operands are asynchronous copies in rings:
they read the slot of their iteration, after a fence where the instruction needs one."""
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, v_ptr, out_ptr, first, K: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, 64)
    steps = tl.arange(0, 32)
    columns = tl.arange(0, N)
    out = tl.zeros([64, N], tl.float32)
    for start in range(0, K, 32):
        x = tl.load(x_ptr + rows[:, None] * K + (start + steps)[None, :])
        y = tl.load(y_ptr + (start + steps)[:, None] * 32 + steps[None, :])
        v = tl.load(v_ptr + (start + steps)[:, None] * N + columns[None, :])
        s = tl.dot(x, y)
        if start >= first:
            out += tl.dot(s.to(v.dtype), v)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], out)
