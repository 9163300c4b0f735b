# nereid: --sig x_ptr=*fp32,y_ptr=*fp32,n=i32 --target cpu -D BLOCK=32
# Lanes that are on read some elements of a vector: a load of these alone, and a shuffle.
import triton
import triton.language as tl


@triton.jit
def of_groups(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    groups = tl.load(x_ptr + i // 8 * 8 + 1, mask=i < n, other=3)
    tl.store(y_ptr + i, groups * tl.load(x_ptr + i // 4 * 4, mask=i % 8 > 4))
