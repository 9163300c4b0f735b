# nereid: --sig x=*fp32
import triton
import triton.language as tl


def twice(f):
    return lambda i: list(map(f, (i, i)))[0]


def many(n):
    f = lambda i: ([0] * 65536)[i]
    for _ in range(n):
        f = twice(f)
    return f(0)


@triton.jit
def kernel(x):
    tl.store(x, many(60))
