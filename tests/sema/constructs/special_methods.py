# nereid: --sig x=*i32,y=*i32 -D B=16
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o)
    w = tl.load(y + o)
    f = v.to(tl.float32)
    C: tl.constexpr = 3
    tl.store(x + o, v.__add__(w))
    tl.store(x + o, v.__radd__(5))
    tl.store(x + o, v.__sub__(2))
    tl.store(x + o, v.__rsub__(2))
    tl.store(x + o, v.__mul__(2).__rmul__(3))
    tl.store(x + o, v.__floordiv__(w))
    tl.store(x + o, v.__rfloordiv__(w))
    tl.store(x + o, v.__mod__(w))
    tl.store(x + o, v.__rmod__(7))
    tl.store(x + o, v.__and__(w).__or__(w).__xor__(1).__rand__(3).__ror__(4).__rxor__(6))
    tl.store(x + o, v.__lshift__(2).__rshift__(w))
    tl.store(x + o, v.__rlshift__(2).__rrshift__(w))
    tl.store(x + o, v.__neg__().__invert__())
    tl.store(x + o, v.__gt__(w))
    tl.store(x + o, v.__ge__(2).__not__())
    tl.store(x + o, v.__rlt__(2))
    tl.store(x + o, v.__rge__(2))
    tl.store(x + o, v.__eq__(w) | v.__ne__(3) | v.__le__(4) | v.__lt__(w))
    tl.store(x + o, f.__truediv__(w))
    tl.store(x + o, f.__rtruediv__(2.0))
