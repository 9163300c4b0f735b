# nereid: --sig in_ptr=*fp32:16,out_ptr=*fp32:16 -D BLOCK=32
# Two images that take turns along a row: the remainder of a quotient is one number for a vector,
# whose elements are two runs of neighbors, however far from each other.
import triton
import triton.language as tl


@triton.jit
def interleave(in_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(in_ptr + i // 320 * 80 + i % 2 * 153600 + i // 2 % 80)
    tl.store(out_ptr + i, x)
