# nereid: --sig x_ptr=*fp32,y_ptr=*fp32 --target cpu -D BLOCK=32
# Lanes that read some elements of a vector: a load of these alone, and a shuffle.
import triton
import triton.language as tl


@triton.jit
def of_groups(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i // 4 * 4 + 1) * tl.load(x_ptr + i // 2 * 2))
