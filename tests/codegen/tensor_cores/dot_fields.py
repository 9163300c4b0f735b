# nereid: --sig x=*bf16:16,q=*i32:16,s=*bf16:16,y=*fp32:16 --num-warps 1 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_fields(x, q, s, y):
    """A thread's fields are neighbors along the sum, in another order than its registers: they are
    stored several at once."""
    m, n, word = tl.arange(0, 16)[:, None], tl.arange(0, 16), tl.arange(0, 4)
    words = tl.load(q + word[:, None] * 16 + n[None, :])[:, :, None]
    scale = tl.load(s + n[None, :])[:, :, None, None]
    fields = words >> (tl.arange(0, 4) * 4)[None, None, :]
    both = tl.join(fields & 15, (fields >> 16) & 15).to(tl.float32).to(tl.bfloat16) * scale
    b = tl.reshape(tl.permute(both, [0, 3, 2, 1]), [32, 16])
    a = tl.load(x + m * 32 + tl.arange(0, 32)[None, :])
    tl.store(y + m * 16 + n[None, :], tl.dot(a, b))
