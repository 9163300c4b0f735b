# nereid: --sig x=*fp32:16,w=*fp32:16,y=*fp32:16,taps=i32 --num-warps 1 --target cpu:8
import triton
import triton.language as tl


@triton.jit
def held_sums(x, w, y, taps):
    """Two vectors of sums of products, which a loop is to have in registers."""
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    acc = tl.zeros([16], dtype=tl.float32)
    for t in range(0, taps):
        acc = acc + tl.load(x + i + t * 16) * tl.load(w + i + t * 16)
    tl.store(y + i, acc)
