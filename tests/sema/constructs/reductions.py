# nereid: --sig x=*fp32,b=*i8 --run-passes ''
# A combining function of one op is named; others become a region.
import triton
import triton.language as tl


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def linear(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def kernel(x, b):
    o = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    v = tl.load(x + o)
    r = tl.reduce(v, 1, larger, keep_dims=True)
    s = tl.sum(tl.load(b + o), 0)
    m, i = tl.max(v, 0, return_indices=True, return_indices_tie_break_left=False)
    p, q = tl.associative_scan((v, v + 1), 1, linear, reverse=True)
    tl.store(x + o, p + q + v.cumsum(0) + r + tl.argmin(v, 1)[:, None])
    tl.store(x + tl.arange(0, 16), m + i + s)
    tl.store(x, tl.min(v) + tl.xor_sum(tl.load(b + o).to(tl.int32)))
