# nereid: --sig x=*i32
import triton
import triton.language as tl


@triton.jit
def whole(a):
    return a + tl.sum(a, 0)


@triton.jit
def nothing(a):
    if a < 0:
        a = -a


@triton.jit
def three(a, b):
    return a, b, a


@triton.jit
def mixed(a, b):
    return a, b * 0.5


@triton.jit
def returns_in_loop(a):
    while a > 3:
        if a == 5:
            return 1
        a -= 2
    return a


@triton.jit
def kernel(x):
    o = tl.arange(0, 8)
    v = tl.load(x + o)
    tl.map_elementwise(whole, v)
    tl.map_elementwise(nothing, v)
    tl.map_elementwise(three, v, pack=2)
    tl.map_elementwise(mixed, v, pack=2)
    tl.map_elementwise(three, v, pack=3)
    tl.map_elementwise(three, v, pack=16)
    tl.map_elementwise(three)
    tl.map_elementwise(returns_in_loop, v)
