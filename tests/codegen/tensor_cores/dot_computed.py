# nereid: --sig x=*bf16:16,q=*i8:16,s=*bf16:16,y=*fp32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_computed(x, q, s, y):
    """A warpgroup multiplies by what threads compute while it multiplies by what they computed in the
    turn before: two slots, and each waits for the product before its own."""
    m, n, k = tl.arange(0, 64)[:, None], tl.arange(0, 32)[None, :], tl.arange(0, 32)
    acc = tl.zeros([64, 32], dtype=tl.float32)
    for at in range(0, 256, 32):
        left = tl.load(x + m * 256 + at + k[None, :])
        number = tl.load(q + (at + k[:, None]) * 32 + n)
        acc = tl.dot(left, number.to(tl.bfloat16) * tl.load(s + at + n), acc)
    tl.store(y + m * 32 + n, acc)
