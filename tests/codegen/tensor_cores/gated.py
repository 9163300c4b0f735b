# nereid: --sig a_ptr=*bf16:16,b_ptr=*bf16:16,d_ptr=*bf16:16,c_ptr=*fp32:16,K=i32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def gated(a_ptr, b_ptr, d_ptr, c_ptr, K):
    """Two products in flight: each waits until only this iteration's are open."""
    m, n, k = tl.arange(0, 64), tl.arange(0, 16), tl.arange(0, 32)
    x = tl.zeros((64, 16), tl.float32)
    y = tl.zeros((64, 16), tl.float32)
    for start in range(0, K, 32):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + start + k[:, None] + n[None, :] * K)
        d = tl.load(d_ptr + start + k[:, None] + n[None, :] * K)
        x = tl.dot(a, b, x)
        y = tl.dot(a, d, y)
    tl.store(c_ptr + m[:, None] * 16 + n[None, :], x * y)
