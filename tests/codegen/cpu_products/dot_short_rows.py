# nereid: --sig x_ptr=*fp32:16,y_ptr=*fp32:16,out_ptr=*fp32:16
# Rows that are no whole vectors are read where they are, though their copy is in a loop with the sums' zeros.
import triton
import triton.language as tl


@triton.jit
def short_rows(x_ptr, y_ptr, out_ptr):
    row = tl.arange(0, 4)[:, None]
    k = tl.arange(0, 28)
    column = tl.arange(0, 32)[None, :]
    left = tl.load(x_ptr + row * 28 + k[None, :])
    right = tl.load(y_ptr + k[:, None] * 32 + column)
    acc = tl.dot(left, right, input_precision="ieee")
    tl.store(out_ptr + row * 32 + column, acc)
