# nereid: --sig x=*fp32,z=*fp32
import triton
import triton.language as tl


@triton.jit
def shows(a, b):
    print("a", a)
    return a + b


@triton.jit
def loops(a, b):
    while b > 3:
        b -= a * a + 1
    return b


@triton.jit
def places(a, b):
    return a + b * tl.program_id(0)


@triton.jit
def k(x, z):
    v = tl.load(x + tl.arange(0, 16))
    tl.store(z, tl.reduce(v, 0, shows))
    tl.store(z, tl.reduce(v, 0, loops))
    tl.store(z, tl.reduce(v, 0, places))
