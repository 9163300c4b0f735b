# nereid: --sig x_ptr=*fp64,y_ptr=*fp64 --target cpu:16 -D BLOCK=32
# Lanes of 64 bits that read some elements of a vector: two loads of halves and a shuffle, which
# read nothing behind the last of these.
import triton
import triton.language as tl


@triton.jit
def of_pairs(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i // 2 * 2 + 1) * tl.load(x_ptr + i // 2 * 2))
