# nereid: --sig x_ptr=*i32,out_ptr=*i32 --num-warps 1 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def negated_maximum(x_ptr, out_ptr):
    a, b, c = tl.load(x_ptr), tl.load(x_ptr + 1), tl.load(x_ptr + 2)
    tl.store(out_ptr, tl.maximum(a, tl.maximum(0 - b, -c)))
