# nereid: --sig x=*fp32,out=*fp32,flag=i32
import triton
import triton.language as tl


@triton.jit
def pick(a, b, flag):
    return a if flag else b


@triton.jit
def kernel(x: tl.const, out, flag):
    v = tl.load(x)
    tl.store(out, v)
    tl.store(x + 1, v)
    if flag > 3:
        to = out
    else:
        to = x + 2
    tl.store(to, v)
    tl.atomic_add(pick(out, x, flag), v)
