# nereid: --sig x_ptr=*fp32:16,flag_ptr=*i32,out_ptr=*u8:16
# Atomic loads and stores are loads and stores with an order and a scope.
import triton
import triton.language as tl


@triton.jit
def handed_over(x_ptr, flag_ptr, out_ptr):
    i = tl.arange(0, 128)
    tl.atomic_poll(flag_ptr, 1)
    x = tl.atomic_load(x_ptr + i, sem="relaxed", scope="sys")
    tl.atomic_store(out_ptr + i, x.to(tl.uint8), mask=x > 0)
    tl.atomic_store(flag_ptr, 2)
