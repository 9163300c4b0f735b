# nereid: --sig x=*fp32 -D WIDE=True
import torch
import triton
import triton.language as tl

info = torch.finfo(torch.get_default_dtype())


@triton.jit
def kernel(x, n=info.bits, WIDE: tl.constexpr = True, LOW: tl.constexpr = info.min,
           HIGH: tl.constexpr = info.max):
    if WIDE:
        tl.store(x, LOW)
        tl.store(x + 1, LOW)
        tl.store(x + n, 1.0)
    else:
        tl.store(x, HIGH)
