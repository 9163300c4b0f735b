# nereid: --sig x_ptr=*fp32:16,y_ptr=*fp32:16,out_ptr=*fp32:16
# Rows outside of an image are zeros: their mask chooses between a row of memory and a row of zeros.
import triton
import triton.language as tl


@triton.jit
def clipped(x_ptr, y_ptr, out_ptr):
    row = tl.program_id(0) * 6 + tl.arange(0, 6)[:, None]
    column = tl.arange(0, 16)[None, :]
    acc = tl.zeros([6, 16], dtype=tl.float32)
    for tap in range(0, 3):
        at = row + tap - 1
        ka = tl.arange(0, 32)[None, :]
        kb = tl.arange(0, 32)[:, None]
        left = tl.load(x_ptr + at * 32 + ka, mask=at.to(tl.uint32) < 20, other=0.0)
        right = tl.load(y_ptr + column + kb * 16 + tap * 512)
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(out_ptr + row * 16 + column, acc, mask=row < 20)
