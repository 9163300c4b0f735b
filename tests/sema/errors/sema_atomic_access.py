# nereid: --sig x=*fp32,y=*i32
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.arange(0, 16)
    tl.atomic_load(x + i, sem="release")
    tl.atomic_store(x + i, 1.0, sem="acq_rel")
    tl.atomic_load(x + i, scope="grid")
    tl.atomic_load(x.to(tl.pointer_type(tl.int64), bitcast=True) + i, mask=1.5)
    tl.atomic_store(x, i)
    tl.atomic_store(3, i)
    tl.atomic_poll(x, 1)
