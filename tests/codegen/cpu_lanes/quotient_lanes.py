# nereid: --sig in_ptr=*fp32:16,out_ptr=*fp32:16 -D BLOCK=128
# Columns of rows of 64, as panels: a vector's elements are in one of them, and one address is
# computed for all.
import triton
import triton.language as tl


@triton.jit
def panels(in_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = x < 196608
    y = tl.load(in_ptr + x // 65536 * 64 + x % 64 + x // 64 % 1024 * 192, mask=mask)
    tl.store(out_ptr + x, y, mask=mask)
