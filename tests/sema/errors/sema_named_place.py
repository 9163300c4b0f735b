# nereid: --sig x_ptr=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def places(x_ptr, n):
    i = tl.arange(start=0, end=n)
    tl.store(x_ptr, 1.0, mask=n)
    tl.atomic_add(x_ptr, 1.0, sem="weak")
