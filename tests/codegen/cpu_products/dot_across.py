# nereid: --sig a_ptr=*fp32:16,b_ptr=*fp32:16,out_ptr=*fp32:16
# The left operand is computed and transposed: it stays as it is, and its columns are read across.  Sums
# begin as zeros in registers, in all blocks.
import triton
import triton.language as tl


@triton.jit
def by_columns(a_ptr, b_ptr, out_ptr):
    k = tl.arange(0, 16)[:, None]
    i = tl.arange(0, 32)[None, :]
    left = tl.load(a_ptr + k * 32 + i) * 2.0
    right = tl.load(b_ptr + k * 32 + i)
    product = tl.dot(tl.trans(left), right)
    tl.store(out_ptr + tl.arange(0, 32)[:, None] * 32 + i, product)
