"""Attention, out = softmax(q k^T * scale) v, without storing the scores (flash attention).

q, k, v and out are [heads, seq_len, HEAD_DIM], where heads counts all heads of all batches.  A
program takes BLOCK_M queries of one head and walks over the keys in blocks of BLOCK_N, with a
running maximum, sum and output: when the maximum grows much, the older sums are scaled down.
Causal loops differ in length: TURNS heads, a divisor of their number, begin with the longest ones,
and share the L2 cache (four of 4,096 tokens and 128 columns).

build/nereid run examples/kernels/attention.py q_ptr=randn:bf16[4,200,64] k_ptr=randn:bf16[4,200,64] v_ptr=randn:bf16[4,200,64] out_ptr=empty:bf16[4,200,64] seq_len=200 scale=0.125 -D HEAD_DIM=64 -D BLOCK_M=64 -D BLOCK_N=32 -D CAUSAL=True --grid "cdiv(seq_len, BLOCK_M), 4"
"""
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, seq_len, scale, HEAD_DIM: tl.constexpr,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
              TURNS: tl.constexpr = 1):
    block = tl.program_id(0)
    head = tl.program_id(1)
    if CAUSAL:  # the longest loops begin first, of TURNS heads in turn
        blocks = tl.num_programs(0)
        place = tl.program_id(1) * blocks + tl.program_id(0)
        block = blocks - 1 - place % (blocks * TURNS) // TURNS
        head = place // (blocks * TURNS) * TURNS + place % TURNS
    first_query = block * BLOCK_M
    head = head.to(tl.int64) * seq_len * HEAD_DIM
    k_ptr += head
    v_ptr += head
    dims = tl.arange(0, HEAD_DIM)
    queries = first_query + tl.arange(0, BLOCK_M)
    offsets = head + queries[:, None] * HEAD_DIM + dims[None, :]
    inside = queries[:, None] < seq_len
    q = tl.load(q_ptr + offsets, mask=inside, other=0.0)

    row_max = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    row_sum = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), tl.float32)

    full = seq_len // BLOCK_N * BLOCK_N  # keys before it are visible to all our queries
    last = seq_len
    if CAUSAL:
        full = first_query // BLOCK_N * BLOCK_N
        last = min(first_query + BLOCK_M, seq_len)
    for start in range(0, last, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k_ptrs = k_ptr + keys[None, :] * HEAD_DIM + dims[:, None]  # transposed
        v_ptrs = v_ptr + keys[:, None] * HEAD_DIM + dims[None, :]
        k = tl.load(k_ptrs, mask=keys[None, :] < seq_len, other=0.0)
        v = tl.load(v_ptrs, mask=keys[:, None] < seq_len, other=0.0)

        scores = tl.dot(q, k)
        if start >= full:
            visible = keys[None, :] < seq_len
            if CAUSAL:
                visible = visible & (keys[None, :] <= queries[:, None])
            scores = tl.where(visible, scores, -float("inf"))

        # The scale is positive, so the largest score is the largest product's.  What shares are
        # relative to grows in steps of 2^8 and more: most blocks scale nothing.
        highest = tl.max(scores, axis=1) * (scale * LOG2_E)
        new_max = tl.where(highest - row_max > 8, highest, row_max)
        p = tl.exp2(scores * (scale * LOG2_E) - new_max[:, None])  # exp2 of that is exp
        older = tl.exp2(row_max - new_max)
        row_sum = row_sum * older + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * older[:, None])
        row_max = new_max
    out = acc * (1.0 / row_sum)[:, None]
    tl.store(out_ptr + offsets, out.to(out_ptr.dtype.element_ty), mask=inside)
