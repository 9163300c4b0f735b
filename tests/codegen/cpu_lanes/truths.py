# nereid: --sig x=*i1:16,y=*i32:16 --num-warps 1 --target cpu:8
import triton
import triton.language as tl


@triton.jit
def truths(x, y):
    """Truth values, which are read as bytes, are vectors along the axis that has neighbours."""
    column = tl.arange(0, 16)[:, None]
    row = tl.arange(0, 32)[None, :]
    held = tl.load(x + row * 64 + column)
    tl.store(y + tl.arange(0, 16), tl.sum(held.to(tl.int32), 1))
