# nereid: --sig x_ptr=*fp32:16,out_ptr=*fp32:16,time_ptr=*i64:16
# Programmatic dependent launch: loads stay after the wait.  A clock is read anew each time.
import triton
import triton.language as tl
from triton.language.extra import cuda


@triton.jit
def copy(x_ptr, out_ptr, time_ptr):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    begin = cuda.globaltimer()
    cuda.gdc_wait()
    x = tl.load(x_ptr + i)
    cuda.gdc_launch_dependents()
    tl.store(out_ptr + i, x)
    tl.store(time_ptr + cuda.smid(), cuda.globaltimer() - begin)
