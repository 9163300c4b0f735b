# nereid: --sig a_ptr=*fp32:16,b_ptr=*fp32:16,out_ptr=*fp32:16
# The right operand, whose columns are rows in memory, is stored lane by lane in an unrolled loop: the
# C has a function for it, which GCC compiles once.
import triton
import triton.language as tl


@triton.jit
def by_transposed(a_ptr, b_ptr, out_ptr):
    i = tl.arange(0, 16)
    rows = i[:, None] * 16 + i[None, :]
    columns = i[None, :] * 16 + i[:, None]
    product = tl.dot(tl.load(a_ptr + rows), tl.load(b_ptr + columns))
    tl.store(out_ptr + rows, product)
