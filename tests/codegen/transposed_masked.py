# nereid: --sig x_ptr=*fp32:16,y_ptr=*fp32:16,out_ptr=*fp32:16 --target cpu:16
# A product's right operand is turned: of its rows, two vectors and a half, whole vectors are stored by
# blocks of 16 rows, the rest by lanes.
import triton
import triton.language as tl


@triton.jit
def by_rows(x_ptr, y_ptr, out_ptr):
    i = tl.arange(0, 32)
    k = tl.arange(0, 40)
    x = tl.load(x_ptr + i[None, :] * 40 + k[:, None])
    y = tl.load(y_ptr + i[:, None] * 40 + k[None, :])
    s = tl.dot(y, x, input_precision="ieee")
    tl.store(out_ptr + i[:, None] * 32 + i[None, :], s)
