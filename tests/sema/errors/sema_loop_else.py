# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    for i in range(n):
        if i > 3:
            break
    else:
        tl.store(x, 1.0)
