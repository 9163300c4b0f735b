# nereid: --sig a_ptr=*fp32:16,b_ptr=*fp32:16,c_ptr=*fp32:16,K=i32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_tf32_turned(a_ptr, b_ptr, c_ptr, K):
    """The second operand is contiguous along n: its transpose is the first one, by registers."""
    m, n, k = tl.arange(0, 16), tl.arange(0, 64), tl.arange(0, 32)
    acc = tl.zeros((16, 64), tl.float32)
    for start in range(0, K, 32):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k[:, None]) * 64 + n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * 64 + n[None, :], acc)
