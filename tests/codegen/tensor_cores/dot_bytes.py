# nereid: --sig x=*bf16:16,q=*i8:16,y=*fp32:16 --num-warps 1 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_bytes(x, q, y):
    """Bytes that a loop carries stay in words; one is a float by its place in a mantissa."""
    m, n, k = tl.arange(0, 16)[:, None], tl.arange(0, 16), tl.arange(0, 32)
    ahead = tl.load(q + n[:, None] * 128 + k[None, :])
    acc = tl.zeros([16, 16], dtype=tl.float32)
    for at in range(0, 128, 32):
        w = ahead.to(tl.float32).to(tl.bfloat16)
        ahead = tl.load(q + n[:, None] * 128 + k[None, :] + at)
        acc = tl.dot(tl.load(x + m * 128 + k[None, :] + at), tl.trans(w), acc)
    tl.store(y + m * 16 + n[None, :], acc)
