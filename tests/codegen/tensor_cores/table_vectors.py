# nereid: --sig q_ptr=*bf16:16,k_ptr=*bf16:16,t_ptr=*bf16:16,out_ptr=*fp32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def table_vectors(q_ptr, k_ptr, t_ptr, out_ptr):
    """Columns in the order in which a thread's sums are neighbors in a row of the table."""
    m, d = tl.arange(0, 64)[:, None], tl.arange(0, 32)
    j = tl.arange(0, 64)
    j = j // 32 * 32 + j % 8 // 2 * 8 + j // 8 % 4 * 2 + j % 2
    q = tl.load(q_ptr + m * 32 + d[None, :])
    k = tl.load(k_ptr + d[:, None] + j[None, :] * 32)
    table = tl.load(t_ptr + m * 64 + j[None, :])
    total = tl.sum(tl.dot(q, k) + table.to(tl.float32), 1)
    tl.store(out_ptr + tl.arange(0, 64), total)
