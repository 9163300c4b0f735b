# nereid: --sig x_ptr=*fp32
import triton
import triton.language as tl


@triton.jit
def convert(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    y = x.to(float16)
    z = x.astype(tl.float16)
    pid = triton.program_id(0)
