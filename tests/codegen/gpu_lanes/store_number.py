# nereid: --sig x_ptr=*fp32:16,n=i32:16 --num-warps 1 --target sm_80
import triton
import triton.language as tl


@triton.jit
def store_number(x_ptr, n):
    """A thread stores four equal numbers at once."""
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(x_ptr + i, 1.5, mask=i < n)
