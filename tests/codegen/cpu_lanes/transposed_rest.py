# nereid: --sig x_ptr=*fp32:16,out_ptr=*fp32:16 --target cpu:16
# Rows and columns change places by blocks of 16 columns, the last of which begins within the one
# before: through a buffer that is stored by rows and loaded by columns.
import triton
import triton.language as tl


@triton.jit
def exchanged(x_ptr, out_ptr):
    i = tl.arange(0, 32)
    k = tl.arange(0, 25)
    x = tl.load(x_ptr + i[:, None] * 25 + k[None, :])
    tl.store(out_ptr + k[:, None] * 32 + i[None, :], tl.trans(x))
