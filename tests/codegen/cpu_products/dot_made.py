# nereid: --sig x_ptr=*fp32:16,y_ptr=*fp32:16,out_ptr=*fp32:16,n=i32
# Sums of which more is computed, or whose columns are masked off one by one, are stored later: the call makes their zeros.
import triton
import triton.language as tl


@triton.jit
def made(x_ptr, y_ptr, out_ptr, n):
    row = tl.arange(0, 4)[:, None]
    k = tl.arange(0, 24)
    column = tl.arange(0, 16)[None, :]
    left = tl.load(x_ptr + row * 24 + k[None, :])
    right = tl.load(y_ptr + k[:, None] * 16 + column)
    acc = tl.dot(left, right, input_precision="ieee")
    tl.store(out_ptr + row * n + column, acc, mask=column < n)
