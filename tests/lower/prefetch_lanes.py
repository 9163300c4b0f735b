# nereid: --sig x_ptr=*fp32:16,y_ptr=*fp32:16,n=i32 --target cpu:4
# Lanes that are rows, of which loads take columns one after the other: before them each lane's next
# row is asked for.
import triton
import triton.language as tl


@triton.jit
def lanes_of_rows(x_ptr, y_ptr, n):
    lanes = tl.arange(0, 4)
    start = tl.program_id(0) * 8
    for block in range(start, start + 8):
        for column in range(0, n):
            x = x_ptr + (block * 4 + lanes) * 1024 + column * 4
            a = tl.load(x, eviction_policy="evict_first")
            b = tl.load(x + 1, eviction_policy="evict_first")
            c = tl.load(x + 2, eviction_policy="evict_first")
            d = tl.load(x + 3, eviction_policy="evict_first")
            tl.store(y_ptr + (block * n + column) * 4 + lanes, a * b + c * d)
