# nereid: --sig x_ptr=*fp32,y_ptr=*fp32,n=i32
# Lanes from the last to the first: neighbours, and every other element, some of which there are.
import triton
import triton.language as tl


@triton.jit
def backwards(x_ptr, y_ptr, n):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    near = tl.load(x_ptr + 95 - i)
    apart = tl.load(x_ptr + 190 - 2 * i)
    some = tl.load(x_ptr + 191 - 2 * i, mask=i < n, other=1.0)
    tl.store(y_ptr + i, near - apart * some)
