# nereid: --sig x=*i32
import triton
import triton.language as tl


@triton.jit
def large(a, p):
    print("all", a)
    if a > 2:
        print("large", a)
        tl.store(p, a)
    elif a < -2:
        return tl.atomic_cas(p, a, 0)
    tl.atomic_add(p, a, mask=a == 0)
    return a


@triton.jit
def kernel(x):
    o = tl.arange(0, 8)
    v = tl.load(x + o)
    tl.store(x + o, tl.map_elementwise(large, v, x + o))
