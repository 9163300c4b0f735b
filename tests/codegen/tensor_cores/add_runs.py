# nereid: --sig q_ptr=*bf16:16,k_ptr=*bf16:16,v_ptr=*bf16:16,dq_ptr=*fp32:16,dk_ptr=*fp32:16,rows=i32:16 --num-warps 4 --num-stages 2 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def add_runs(q_ptr, k_ptr, v_ptr, dq_ptr, dk_ptr, rows):
    """Memory adds four neighbors of a thread's sums while the last product runs on."""
    m, d = tl.arange(0, 64), tl.arange(0, 64)
    k = tl.load(k_ptr + m[:, None] * 64 + d[None, :])
    v = tl.load(v_ptr + m[:, None] * 64 + d[None, :])
    dk = tl.zeros((64, 64), tl.float32)
    i, j = tl.arange(0, 64)[:, None], d[None, :]
    place = i // 16 * 1024 + j // 8 * 128 + i % 8 * 16
    place += j % 8 // 2 * 4 + i // 8 % 2 * 2 + j % 2
    for start in range(0, rows, 64):
        q = tl.load(q_ptr + (start + m)[:, None] * 64 + d[None, :])
        ds = (tl.dot(k, tl.trans(q)) * tl.dot(v, tl.trans(q))).to(q.dtype)
        dq = tl.dot(tl.trans(ds), k)
        dk = tl.dot(ds, q, dk)
        tl.atomic_add(dq_ptr + start * 64 + place, dq, sem="relaxed")
    tl.store(dk_ptr + m[:, None] * 64 + d[None, :], dk)
