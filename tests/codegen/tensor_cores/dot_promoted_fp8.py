# nereid: --sig a_ptr=*fp8e4nv:16,b_ptr=*fp8e5:16,c_ptr=*fp32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_promoted_fp8(a_ptr, b_ptr, c_ptr):
    """Sums of 8-bit products that are added to accumulators of full precision every 32 of k."""
    m, n, k = tl.arange(0, 64), tl.arange(0, 16), tl.arange(0, 64)
    a = tl.load(a_ptr + m[:, None] * 64 + k[None, :])
    b = tl.load(b_ptr + k[:, None] + n[None, :] * 64)
    tl.store(c_ptr + m[:, None] * 16 + n[None, :], tl.dot(a, b, max_num_imprecise_acc=32))
