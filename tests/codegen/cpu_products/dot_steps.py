# nereid: --sig x_ptr=*fp32:16,y_ptr=*fp32:16,out_ptr=*fp32:16,first=i32,last=i32
# A loop that only adds products keeps the addresses of its steps, and a call adds up several of them.
import triton
import triton.language as tl


@triton.jit
def steps(x_ptr, y_ptr, out_ptr, first, last):
    row = tl.arange(0, 24)[:, None]
    column = tl.arange(0, 32)[None, :]
    acc = tl.zeros([24, 32], dtype=tl.float32)
    for step in range(first, last):
        left = tl.load(x_ptr + row + (tl.arange(0, 12)[None, :] * 64 + step * 768))
        right = tl.load(y_ptr + column + (tl.arange(0, 12)[:, None] * 32 + step % 7 * 384))
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(out_ptr + row * 32 + column, acc)
