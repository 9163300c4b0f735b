# nereid: --sig a_ptr=*fp32:16,b_ptr=*fp32:16,out_ptr=*fp32:16
# Two rows times the rows of an operand that lie along the sum: each vector of these is multiplied as
# it is loaded, and lanes of 16 vectors are summed together.  Nothing is turned or in shared memory
# but the left operand.
import triton
import triton.language as tl


@triton.jit
def by_rows(a_ptr, b_ptr, out_ptr):
    m = tl.arange(0, 2)[:, None]
    n = tl.arange(0, 32)[None, :]
    a = tl.load(a_ptr + m * 64 + tl.arange(0, 64)[None, :])
    b = tl.load(b_ptr + n * 64 + tl.arange(0, 64)[:, None], mask=n < 30, other=0.0)
    tl.store(out_ptr + m * 32 + n, tl.dot(a, b, input_precision="ieee"))
