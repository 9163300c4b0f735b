# nereid: --sig q_ptr=*bf16:16,k_ptr=*bf16:16,v_ptr=*bf16:16,out_ptr=*fp32:16,slope=fp32,keys=i32:16 --num-warps 8 --num-stages 2 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def maxima(q_ptr, k_ptr, v_ptr, out_ptr, slope, keys):
    """Warps vote whether scores exceed the maximum so far by more than 8."""
    m, d, n = tl.arange(0, 128), tl.arange(0, 128), tl.arange(0, 128)
    q = tl.load(q_ptr + m[:, None] * 128 + d[None, :])
    most = tl.full((128,), -float("inf"), tl.float32)
    total = tl.zeros((128,), tl.float32)
    acc = tl.zeros((128, 128), tl.float32)
    for start in range(0, keys, 128):
        k = tl.load(k_ptr + (start + n)[None, :] * 128 + d[:, None])
        v = tl.load(v_ptr + (start + n)[:, None] * 128 + d[None, :])
        scores = tl.dot(q, k) * 0.5 + (start + n)[None, :].to(tl.float32) * slope
        highest = tl.max(scores, 1) * 0.25
        more = tl.where(highest - most > 8, highest, most)
        p = tl.exp2(scores * 0.25 - more[:, None])
        older = tl.exp2(most - more)
        total = total * older + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * older[:, None])
        most = more
    tl.store(out_ptr + m[:, None] * 128 + d[None, :], acc / total[:, None])
