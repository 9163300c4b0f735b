"""Gradients of attention (attention.py), without storing the shares.

Arrays are [heads, seq_len, HEAD_DIM]; `grad` is the gradient of the output.  The shares of a row
are computed again from `sums`, the binary logarithms of the rows' sums of exp(scores); `delta` has
the rows' sums of grad * out.  A program of `grad_keys` takes BLOCK_M keys of one head through the
rows, and makes the gradients of these keys and values; one of `grad_query` takes rows through the
keys.  Nothing is added by atomics, so that results are the same from run to run.

With `kept_ptr`, [heads, seq_len, pitch], `grad_keys` stores gradients of scores there, keys first,
from which `grad_query_of_kept` makes those of queries by one product instead of three.  Its BLOCK_M
divides that of `grad_keys`.  A thread has rows 8b + 2q and 8b + 2q + 1 of 32, for its q: they are
stored at 8q + 2b and 8q + 2b + 1, beside each other.  `pitch` is a multiple of 32.

build/nereid run examples/kernels/attention_backward.py:grad_query q_ptr=randn:bf16[4,200,64] k_ptr=randn:bf16[4,200,64] v_ptr=randn:bf16[4,200,64] grad_ptr=randn:bf16[4,200,64] sums_ptr=ones:f32[4,200] delta_ptr=zeros:f32[4,200] dq_ptr=empty:bf16[4,200,64] seq_len=200 scale=0.125 -D HEAD_DIM=64 -D BLOCK_M=64 -D BLOCK_N=32 -D CAUSAL=True --grid "cdiv(seq_len, BLOCK_M), 4"
"""
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def row_sums(out_ptr, grad_ptr, delta_ptr, n_rows, HEAD_DIM: tl.constexpr, BLOCK: tl.constexpr):
    """delta of BLOCK rows, of all heads."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offsets = rows[:, None].to(tl.int64) * HEAD_DIM + tl.arange(0, HEAD_DIM)[None, :]
    inside = rows[:, None] < n_rows
    out = tl.load(out_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    tl.store(delta_ptr + rows, tl.sum(out * grad, axis=1), mask=rows < n_rows)


@triton.jit
def grad_keys(q_ptr, k_ptr, v_ptr, grad_ptr, sums_ptr, delta_ptr, dk_ptr, dv_ptr, seq_len, scale,
              HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
              CAUSAL: tl.constexpr, kept_ptr=None, pitch=0):
    first_key = tl.program_id(0) * BLOCK_M
    row = tl.program_id(1).to(tl.int64) * seq_len
    head = row * HEAD_DIM
    q_ptr += head
    grad_ptr += head
    sums_ptr += row
    delta_ptr += row
    if kept_ptr is not None:
        kept_ptr += row * pitch
    keys = first_key + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    offsets = head + keys[:, None] * HEAD_DIM + dims[None, :]
    inside = keys[:, None] < seq_len
    k = tl.load(k_ptr + offsets, mask=inside, other=0.0)
    v = tl.load(v_ptr + offsets, mask=inside, other=0.0)
    dk = tl.zeros((BLOCK_M, HEAD_DIM), tl.float32)
    dv = tl.zeros((BLOCK_M, HEAD_DIM), tl.float32)

    first = 0
    full = 0  # rows from there on see all our keys
    if CAUSAL:
        first = first_key // BLOCK_N * BLOCK_N
        full = first_key + BLOCK_M - 1
    for start in range(first, seq_len, BLOCK_N):
        rows = start + tl.arange(0, BLOCK_N)
        row_offsets = rows[:, None] * HEAD_DIM + dims[None, :]
        q = tl.load(q_ptr + row_offsets, mask=rows[:, None] < seq_len, other=0.0)
        grad = tl.load(grad_ptr + row_offsets, mask=rows[:, None] < seq_len, other=0.0)
        sums = tl.load(sums_ptr + rows, mask=rows < seq_len, other=float("inf"))
        delta = tl.load(delta_ptr + rows, mask=rows < seq_len, other=0.0)

        # Both products are transposed, so that those after them read shares from registers.
        scores = tl.dot(k, tl.trans(q))
        dp = tl.dot(v, tl.trans(grad))
        p = tl.exp2(scores * (scale * LOG2_E) - sums[None, :])
        if CAUSAL:
            if start < full:
                p = tl.where(keys[:, None] <= rows[None, :], p, 0.0)
        ds = (p * (dp - delta[None, :])).to(q.dtype)
        dv = tl.dot(p.to(grad.dtype), grad, dv)
        if kept_ptr is not None:
            kept = tl.reshape(ds, (BLOCK_M, BLOCK_N // 32, 4, 4, 2))
            kept = tl.reshape(tl.permute(kept, (0, 1, 3, 2, 4)), (BLOCK_M, BLOCK_N))
            at = keys[:, None].to(tl.int64) * pitch + rows[None, :]
            tl.store(kept_ptr + at, kept, mask=inside & (rows[None, :] < pitch))
        dk = tl.dot(ds, q, dk)
    tl.store(dk_ptr + offsets, (dk * scale).to(dk_ptr.dtype.element_ty), mask=inside)
    tl.store(dv_ptr + offsets, dv.to(dv_ptr.dtype.element_ty), mask=inside)


@triton.jit
def grad_query(q_ptr, k_ptr, v_ptr, grad_ptr, sums_ptr, delta_ptr, dq_ptr, seq_len, scale,
               HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
               CAUSAL: tl.constexpr):
    first_row = tl.program_id(0) * BLOCK_M
    if CAUSAL:  # the longest loops begin first
        first_row = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    row = tl.program_id(1).to(tl.int64) * seq_len
    head = row * HEAD_DIM
    k_ptr += head
    v_ptr += head
    rows = first_row + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    offsets = head + rows[:, None] * HEAD_DIM + dims[None, :]
    inside = rows[:, None] < seq_len
    q = tl.load(q_ptr + offsets, mask=inside, other=0.0)
    grad = tl.load(grad_ptr + offsets, mask=inside, other=0.0)
    sums = tl.load(sums_ptr + row + rows, mask=rows < seq_len, other=float("inf"))
    delta = tl.load(delta_ptr + row + rows, mask=rows < seq_len, other=0.0)
    dq = tl.zeros((BLOCK_M, HEAD_DIM), tl.float32)

    full = seq_len // BLOCK_N * BLOCK_N  # keys before it are visible to all our rows
    last = seq_len
    if CAUSAL:
        full = first_row // BLOCK_N * BLOCK_N
        last = min(first_row + BLOCK_M, seq_len)
    for start in range(0, last, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        key_offsets = keys[:, None] * HEAD_DIM + dims[None, :]
        k = tl.load(k_ptr + key_offsets, mask=keys[:, None] < seq_len, other=0.0)
        v = tl.load(v_ptr + key_offsets, mask=keys[:, None] < seq_len, other=0.0)

        scores = tl.dot(q, tl.trans(k))
        dp = tl.dot(grad, tl.trans(v))
        p = tl.exp2(scores * (scale * LOG2_E) - sums[:, None])
        if start >= full:
            visible = keys[None, :] < seq_len
            if CAUSAL:
                visible = visible & (keys[None, :] <= rows[:, None])
            p = tl.where(visible, p, 0.0)
        ds = p * (dp - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq)
    tl.store(dq_ptr + offsets, (dq * scale).to(dq_ptr.dtype.element_ty), mask=inside)


@triton.jit
def grad_query_of_kept(kept_ptr, k_ptr, dq_ptr, seq_len, pitch, head_pitch, scale,
                       HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                       CAUSAL: tl.constexpr):
    """head_pitch: numbers that a head has in kept_ptr."""
    first_row = tl.program_id(0) * BLOCK_M
    if CAUSAL:  # the longest loops begin first
        first_row = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    head = tl.program_id(1).to(tl.int64)
    kept_ptr += head * head_pitch
    at = tl.arange(0, BLOCK_M)
    places = first_row + at
    rows = first_row + at // 32 * 32 + at // 2 % 4 * 8 + at // 8 % 4 * 2 + at % 2
    dims = tl.arange(0, HEAD_DIM)
    dq = tl.zeros((BLOCK_M, HEAD_DIM), tl.float32)
    last = seq_len
    if CAUSAL:
        last = min(first_row + BLOCK_M, seq_len)
    for start in range(0, last, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        there = keys[:, None] < seq_len
        offsets = (head * seq_len + keys[:, None]) * HEAD_DIM + dims[None, :]
        k = tl.load(k_ptr + offsets, mask=there, other=0.0)
        kept = tl.load(kept_ptr + keys[:, None] * pitch + places[None, :],
                       mask=there & (places[None, :] < pitch), other=0.0)
        dq = tl.dot(tl.trans(kept), k, dq)
    offsets = (head * seq_len + rows[:, None]) * HEAD_DIM + dims[None, :]
    dq *= scale
    tl.store(dq_ptr + offsets, dq.to(dq_ptr.dtype.element_ty), mask=rows[:, None] < seq_len)
