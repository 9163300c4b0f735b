# nereid: --sig x_ptr=*fp16
import triton
import triton.language as tl


@triton.jit
def product(x_ptr):
    a = tl.zeros((16, 16), tl.float16)
    b = tl.dot(a, a, out_dtype=tl.int32)
