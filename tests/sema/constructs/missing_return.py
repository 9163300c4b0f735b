import triton
import triton.language as tl


@triton.jit
def above(x, c):
    if c:
        return x


@triton.jit
def searched(x, limit):
    for i in range(3):
        x = x * 2
    if x > limit:
        if x > 2 * limit:
            return x, 1
        else:
            x += 1
    x += 5
    if x > limit:
        return x, 0


@triton.jit
def branches(out, n):
    tl.store(out, above(n, n > 3))
    x, times = searched(n, 20)
    tl.store(out + 1, x + times)


@triton.jit
def known(out):
    a = False
    tl.store(out, above(0, a))


@triton.jit
def unused(out, n):
    above(n, n > 3)
    if above(n, n > 3) is None:
        tl.store(out, 1)


@triton.jit
def mixed(x, c):
    if c:
        return x
    return


@triton.jit
def refused(out, n):
    tl.store(out, mixed(n, n > 3))
