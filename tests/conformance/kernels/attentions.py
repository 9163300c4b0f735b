"""Attention beyond the example: its gradients, windows, biases, shared and paged keys."""
import triton
import triton.language as tl


@triton.jit
def attention_stats(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, n, scale, DIM: tl.constexpr,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    """What the backward pass needs of each query: log of the sum of its exponentials, and the dot
    of its output with the output's gradient."""
    head = tl.program_id(1) * n * DIM
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, DIM)
    at = head + m[:, None] * DIM + d[None, :]
    q = tl.load(q_ptr + at, mask=m[:, None] < n, other=0.0)
    top = tl.full((BLOCK_M, ), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M, ), tl.float32)
    acc = tl.zeros((BLOCK_M, DIM), tl.float32)
    for start in range(0, n, BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + head + j[:, None] * DIM + d[None, :], mask=j[:, None] < n, other=0.0)
        v = tl.load(v_ptr + head + j[:, None] * DIM + d[None, :], mask=j[:, None] < n, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        seen = j[None, :] < n
        if CAUSAL:
            seen = seen & (j[None, :] <= m[:, None])
        s = tl.where(seen, s, -float("inf"))
        bigger = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - bigger[:, None])
        older = tl.exp(top - bigger)
        total = total * older + tl.sum(p, 1)
        acc = acc * older[:, None] + tl.dot(p.to(v.dtype), v)
        top = bigger
    do = tl.load(do_ptr + at, mask=m[:, None] < n, other=0.0).to(tl.float32)
    delta = tl.sum(acc / total[:, None] * do, axis=1)
    tl.store(lse_ptr + tl.program_id(1) * n + m, top + tl.log(total), mask=m < n)
    tl.store(delta_ptr + tl.program_id(1) * n + m, delta, mask=m < n)


@triton.jit
def attention_backward(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr, n,
                       scale, DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                       CAUSAL: tl.constexpr):
    """A program has a block of keys: it walks over the queries for dk and dv, and adds its share
    of dq by atomics."""
    head = tl.program_id(1) * n * DIM
    row = tl.program_id(1) * n
    j = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, DIM)
    at_j = head + j[:, None] * DIM + d[None, :]
    k = tl.load(k_ptr + at_j, mask=j[:, None] < n, other=0.0)
    v = tl.load(v_ptr + at_j, mask=j[:, None] < n, other=0.0)
    dk = tl.zeros((BLOCK_N, DIM), tl.float32)
    dv = tl.zeros((BLOCK_N, DIM), tl.float32)
    first = tl.program_id(0) * BLOCK_N // BLOCK_M * BLOCK_M if CAUSAL else 0
    for start in range(first, n, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        at_m = head + m[:, None] * DIM + d[None, :]
        q = tl.load(q_ptr + at_m, mask=m[:, None] < n, other=0.0)
        do = tl.load(do_ptr + at_m, mask=m[:, None] < n, other=0.0)
        lse = tl.load(lse_ptr + row + m, mask=m < n, other=float("inf"))
        delta = tl.load(delta_ptr + row + m, mask=m < n, other=0.0)
        p = tl.exp(tl.dot(k, tl.trans(q)) * scale - lse[None, :])  # transposed: keys are rows
        if CAUSAL:
            p = tl.where(j[:, None] <= m[None, :], p, 0.0)
        dv += tl.dot(p.to(do.dtype), do)
        dp = tl.dot(v, tl.trans(do))
        ds = (p * (dp - delta[None, :]) * scale).to(q.dtype)
        dk += tl.dot(ds, q)
        tl.atomic_add(dq_ptr + at_m, tl.dot(tl.trans(ds), k), mask=m[:, None] < n, sem="relaxed")
    tl.store(dk_ptr + at_j, dk, mask=j[:, None] < n)
    tl.store(dv_ptr + at_j, dv, mask=j[:, None] < n)


@triton.jit
def windowed_attention(q_ptr, k_ptr, v_ptr, slope_ptr, out_ptr, n, window, scale, heads_per_key,
                       DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Causal, over the last `window` keys, with ALiBi's bias, and several heads sharing keys."""
    head = tl.program_id(1)
    keys = head // heads_per_key * n * DIM
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, DIM)
    q = tl.load(q_ptr + head * n * DIM + m[:, None] * DIM + d[None, :], mask=m[:, None] < n,
                other=0)
    slope = tl.load(slope_ptr + head)
    top = tl.full((BLOCK_M, ), -1e30, tl.float32)
    total = tl.zeros((BLOCK_M, ), tl.float32)
    acc = tl.zeros((BLOCK_M, DIM), tl.float32)
    first = tl.maximum(tl.program_id(0) * BLOCK_M - window + 1, 0) // BLOCK_N * BLOCK_N
    last = tl.minimum((tl.program_id(0) + 1) * BLOCK_M, n)
    for start in tl.range(first, last, BLOCK_N, num_stages=2):
        j = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + keys + j[None, :] * DIM + d[:, None], mask=j[None, :] < n, other=0.0)
        v = tl.load(v_ptr + keys + j[:, None] * DIM + d[None, :], mask=j[:, None] < n, other=0.0)
        away = m[:, None] - j[None, :]
        s = tl.dot(q, k) * scale - slope * away.to(tl.float32)
        s = tl.where((away >= 0) & (away < window) & (j[None, :] < n), s, -1e30)
        bigger = tl.maximum(top, tl.max(s, 1))
        p = tl.where(s > -1e29, tl.exp(s - bigger[:, None]), 0.0)
        older = tl.exp(top - bigger)
        total = total * older + tl.sum(p, 1)
        acc = acc * older[:, None] + tl.dot(p.to(v.dtype), v)
        top = bigger
    out = acc / total[:, None]
    tl.store(out_ptr + head * n * DIM + m[:, None] * DIM + d[None, :], out.to(tl.float16),
             mask=m[:, None] < n)


@triton.jit
def paged_decode(q_ptr, k_cache_ptr, v_cache_ptr, table_ptr, length_ptr, out_ptr, max_pages, heads,
                 scale, PAGE: tl.constexpr, DIM: tl.constexpr):
    """One query a sequence; its keys lie in pages that a table names."""
    sequence, head = tl.program_id(0), tl.program_id(1)
    d, slot = tl.arange(0, DIM), tl.arange(0, PAGE)
    q = tl.load(q_ptr + (sequence * heads + head) * DIM + d).to(tl.float32)
    length = tl.load(length_ptr + sequence)
    top, total = -float("inf"), 0.0
    acc = tl.zeros((DIM, ), tl.float32)
    for page in range(tl.cdiv(length, PAGE)):
        block = tl.load(table_ptr + sequence * max_pages + page).to(tl.int64)
        at = ((block * PAGE + slot[:, None]) * heads + head) * DIM + d[None, :]
        filled = page * PAGE + slot < length
        k = tl.load(k_cache_ptr + at, mask=filled[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_cache_ptr + at, mask=filled[:, None], other=0.0).to(tl.float32)
        s = tl.where(filled, tl.sum(q[None, :] * k, axis=1) * scale, -float("inf"))
        bigger = tl.maximum(top, tl.max(s, axis=0))
        p = tl.exp(s - bigger)
        older = tl.exp(top - bigger)
        total = total * older + tl.sum(p, axis=0)
        acc = acc * older + tl.sum(p[:, None] * v, axis=0)
        top = bigger
    out = tl.where(length > 0, acc / total, 0.0)
    tl.store(out_ptr + (sequence * heads + head) * DIM + d, out.to(tl.float16))


@triton.jit
def append_keys(k_ptr, cache_ptr, slot_ptr, width, BLOCK: tl.constexpr):
    """Puts the rows of new tokens into their slots; a negative slot skips a token."""
    token = tl.program_id(0)
    slot = tl.load(slot_ptr + token)
    if slot < 0:
        return
    c = tl.arange(0, BLOCK)
    row = tl.load(k_ptr + token * width + c, mask=c < width)
    tl.store(cache_ptr + slot.to(tl.int64) * width + c, row, mask=c < width)


@triton.jit
def rotary_interleaved(x_ptr, out_ptr, tokens, base, DIM: tl.constexpr, BLOCK: tl.constexpr):
    """Rotates neighbours (x[2i], x[2i + 1]) by angles computed here."""
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, DIM)
    at = t[:, None] * DIM + d[None, :]
    x = tl.load(x_ptr + at, mask=t[:, None] < tokens, other=0.0)
    a, b = tl.split(tl.reshape(x, (BLOCK, DIM // 2, 2)))
    frequency = tl.exp2(tl.arange(0, DIM // 2) * (-2.0 / DIM) * tl.log2(base))
    angle = t[:, None].to(tl.float32) * frequency[None, :]
    cos, sin = tl.cos(angle), tl.sin(angle)
    y = tl.join(a * cos - b * sin, a * sin + b * cos)
    tl.store(out_ptr + at, tl.reshape(y, (BLOCK, DIM)), mask=t[:, None] < tokens)
