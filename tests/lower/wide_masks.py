# Masks that compare 64-bit numbers with what was computed in 32 bits: eight elements next to each
# other have one bound, whatever has wrapped, and are loaded at once.
# nereid: --sig x_ptr=*fp16:16,y_ptr=*fp16:16,rows=i64 --num-warps 1
import triton
import triton.language as tl


@triton.jit
def wide_masks(x_ptr, y_ptr, rows):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    inside = i < rows * 64
    x = tl.load(x_ptr + i, mask=inside)
    m = rows // 3 * 8 + tl.arange(0, 8)[:, None]
    n = tl.arange(0, 64)[None, :]
    y = tl.load(y_ptr + m * 64 + n, mask=(m < rows) & (rows * 8 + n < rows * 16))
    tl.store(x_ptr + i, x + 1, mask=inside)
    tl.store(y_ptr + m * 64 + n, y + 1, mask=(m < rows) & (n + rows < rows * 3))
