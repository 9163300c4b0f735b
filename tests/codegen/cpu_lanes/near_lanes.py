# nereid: --sig x=*u8:16,y=*bf16:16,i=*i32:16,n=i32,z=*fp32:16 --num-warps 1 --target cpu:8
import triton
import triton.language as tl


@triton.jit
def near_lanes(x, y, i, n, z):
    """Places of a reflected and of a clamped border are those of neighbours in most vectors, which are
    loaded then; places that memory says are not."""
    column = tl.program_id(0) * 32 + tl.arange(0, 32)
    reflected = tl.load(x + n - tl.abs(n - tl.abs(column - 1)))
    clamped = tl.load(y + tl.minimum(tl.maximum(column - 1, 0), n), mask=column < n)
    chosen = tl.load(x + tl.load(i + column))
    tl.store(z + column, (reflected + chosen).to(tl.float32) + clamped)
