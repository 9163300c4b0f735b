# Divisions by constants are shifts and products.
# nereid: --sig x_ptr=*i32,y_ptr=*u32,out_ptr=*i32 --num-warps 1
import triton
import triton.language as tl


@triton.jit
def divide(x_ptr, y_ptr, out_ptr):
    x, y = tl.load(x_ptr), tl.load(y_ptr)
    tl.store(out_ptr, x // 16)
    tl.store(out_ptr + 1, x % 16)
    tl.store(out_ptr + 2, x // 3)
    tl.store(out_ptr + 3, x % 7)
    tl.store(out_ptr + 4, y // 16)
    tl.store(out_ptr + 5, y % 16)
    tl.store(out_ptr + 6, y // 3)
    tl.store(out_ptr + 7, y % 7)
