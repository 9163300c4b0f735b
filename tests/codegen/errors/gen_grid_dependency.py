# nereid: --sig x=*fp32 --target sm_89
import triton
import triton.language as tl


@triton.jit
def k(x):
    i = tl.arange(0, 32)
    tl.extra.cuda.gdc_wait()
    tl.store(x + i, tl.load(x + i) + 1)
    tl.extra.cuda.gdc_launch_dependents()
