# nereid: --sig x=*fp32,mask=none -D KIND=relu -D WIDE=False --run-passes ''
# Branches that a constexpr rules out are not even checked.
import triton
import triton.language as tl


@triton.jit
def kernel(x, mask, KIND: tl.constexpr, WIDE: tl.constexpr):
    o = tl.arange(0, 8)
    if mask is not None:
        v = tl.load(x + o, mask=tl.load(mask + o))
    elif KIND == "gelu":
        v = tl.no_such_function(x)
    else:
        v = tl.load(x + o)
    if KIND == "relu" and not WIDE:
        v = tl.maximum(v, 0.0)
        z: tl.constexpr = 2
    for i in range(2):
        if WIDE:
            o = None
        tl.store(x + o, v * z)
