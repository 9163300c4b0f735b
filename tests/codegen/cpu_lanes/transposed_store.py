# nereid: --sig x_ptr=*fp32:16,out_ptr=*fp32:16,rows=i32
# Lanes are stored in rows, each loop's iteration an element after the last one's: the loop over rows is the
# outer one, and blocks of columns are transposed in registers.
import triton
import triton.language as tl


@triton.jit
def turned(x_ptr, out_ptr, rows):
    first = tl.program_id(0) % 3 * 32
    row = first + tl.arange(0, 32)[:, None]
    column = tl.arange(0, 32)[None, :]
    x = tl.load(x_ptr + row * 32 + column, mask=(row < rows) & (first < 64), other=0.0)
    tl.store(out_ptr + column * 128 + row, x, mask=first < 64)
