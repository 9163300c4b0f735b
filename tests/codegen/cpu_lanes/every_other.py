# nereid: --sig x_ptr=*fp32,w_ptr=*fp32,y_ptr=*fp32,n=i32 -D BLOCK=32
# Every other element, with a mask and without: two loads and a shuffle, none past the last element.
import triton
import triton.language as tl


@triton.jit
def strided(x_ptr, w_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + 2 * i) + tl.load(w_ptr + 2 * i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x)
