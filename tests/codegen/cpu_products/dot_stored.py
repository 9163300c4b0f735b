# nereid: --sig x_ptr=*fp32:16,y_ptr=*fp32:16,out_ptr=*fp32:16,rows=i32
# Sums that begin as zeros and are only stored are in registers alone: the call stores rows that are not masked off.
import triton
import triton.language as tl


@triton.jit
def stored(x_ptr, y_ptr, out_ptr, rows):
    k = tl.arange(0, 24)
    column = tl.arange(0, 16)[None, :]
    right = tl.load(y_ptr + k[:, None] * 16 + column)
    for first in range(0, rows, 4):
        m = first + tl.arange(0, 4)[:, None]
        left = tl.load(x_ptr + tl.minimum(m, rows - 1) * 24 + k[None, :])
        acc = tl.dot(left, right, input_precision="ieee")
        tl.store(out_ptr + m * 16 + column, acc, mask=m < rows)
