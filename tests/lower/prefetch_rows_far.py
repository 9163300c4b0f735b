# nereid: --sig x_ptr=*fp32:16,y_ptr=*fp32:16,n=i32 --target cpu:amx
# Rows one after the other, on a machine that is asked for memory far ahead: it is not asked twice.
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, y_ptr, n):
    lanes = tl.arange(0, 16)
    start = tl.program_id(0) * 8
    for row in range(start, start + 8):
        for column in range(0, n):
            x = x_ptr + row * 4096 + (column * 16 + lanes) * 2
            re = tl.load(x, eviction_policy="evict_first")
            im = tl.load(x + 1, eviction_policy="evict_first")
            far = tl.load(x_ptr + row * 4096 + 2048 + column * 16 + lanes,
                          eviction_policy="evict_first")
            tl.store(y_ptr + row * 2048 + column * 16 + lanes, re * im + far)
