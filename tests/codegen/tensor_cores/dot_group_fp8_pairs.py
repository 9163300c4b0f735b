# nereid: --sig a_ptr=*fp8e4nv:16,b_ptr=*fp8e4nv:16,v_ptr=*fp8e4nv:16,c_ptr=*fp32:16,N=i32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_fp8_pairs(a_ptr, b_ptr, v_ptr, c_ptr, N):
    """What the first product's sums become are fragments of the second one, whose other operand is
    turned in the order that these have."""
    m, n, k, e = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 32)
    a = tl.load(a_ptr + m[:, None] * 32 + k[None, :])
    acc = tl.zeros((64, 32), tl.float32)
    for start in range(0, N, 64):
        b = tl.load(b_ptr + k[:, None] + (start + n[None, :]) * 32)
        v = tl.load(v_ptr + (start + n[:, None]) * 32 + e[None, :])
        p = tl.exp2(tl.dot(a, b))
        acc = tl.dot(p.to(tl.float8e4nv), v, acc)
    tl.store(c_ptr + m[:, None] * 32 + e[None, :], acc)
