"""Kernels whose threads exchange tiles in ways that the examples lack (tests/lower/barriers.py)."""
import triton
import triton.language as tl


@triton.jit
def sort_rows(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i)))


@triton.jit
def add_pairs(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def recurrence(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.associative_scan((tl.load(x_ptr + i), tl.load(y_ptr + i)), 0, add_pairs)
    tl.store(out_ptr + i, a + b)


@triton.jit
def scan_columns(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.cumsum(x, 0) + tl.cumsum(x, 1, reverse=True))


@triton.jit
def turn(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    tl.store(out_ptr + columns[:, None] * M + rows[None, :], tl.trans(x) * 2)


@triton.jit
def best(x_ptr, out_ptr, at_ptr, n, BLOCK: tl.constexpr):
    top, where = -float("inf"), 0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=-float("inf"))
        m, k = tl.max(x, 0, return_indices=True)
        where = tl.where(m > top, start + k, where)
        top = tl.maximum(m, top)
    tl.store(out_ptr, top)
    tl.store(at_ptr, where)


@triton.jit
def dot_twice(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(a_ptr + at), tl.load(b_ptr + at)
    c = tl.dot(a, b)
    tl.store(out_ptr + at, tl.dot(c.to(tl.float16), tl.trans(b)))


@triton.jit
def pick(x_ptr, at_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.gather(tl.load(x_ptr + i), tl.load(at_ptr + i), 0))


@triton.jit
def swap_halves(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.debug_barrier()
    tl.store(x_ptr + (i + N // 2) % N, x)


@triton.jit
def products(a_ptr, b_ptr, out_ptr, count, K, N: tl.constexpr, BLOCK_K: tl.constexpr):
    i, k = tl.arange(0, N), tl.arange(0, BLOCK_K)
    for n in range(0, count):
        acc = tl.zeros((N, N), tl.float32)
        for start in range(0, K, BLOCK_K):
            a = tl.load(a_ptr + n * N * K + i[:, None] * K + start + k[None, :])
            b = tl.load(b_ptr + n * N * K + (start + k[:, None]) * N + i[None, :])
            acc = tl.dot(a, b, acc)
        tl.store(out_ptr + n * N * N + i[:, None] * N + i[None, :], acc)


@triton.jit
def gated(a_ptr, b_ptr, d_ptr, out_ptr, K, M: tl.constexpr, N: tl.constexpr,
          BLOCK_K: tl.constexpr):
    """Two products that share an operand, as of a gated layer."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK_K)
    x = tl.zeros((M, N), tl.float32)
    y = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k[:, None]) * N + n[None, :])
        d = tl.load(d_ptr + (start + k[:, None]) * N + n[None, :])
        x = tl.dot(a, b, x)
        y = tl.dot(a, d, y)
    tl.store(out_ptr + m[:, None] * N + n[None, :], x * y)


@triton.jit
def unpacked(a_ptr, q_ptr, s_ptr, out_ptr, K, M: tl.constexpr, N: tl.constexpr,
             BLOCK_K: tl.constexpr):
    """An operand that threads compute in each turn, of loads that run ahead."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK_K)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        q = tl.load(q_ptr + (start + k[:, None]) * N + n[None, :])
        s = tl.load(s_ptr + start // BLOCK_K * N + n)
        acc = tl.dot(a, q.to(tl.bfloat16) * s[None, :], acc)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def known_trips(a_ptr, b_ptr, c_ptr, n, FIRST: tl.constexpr, END: tl.constexpr, STEP: tl.constexpr):
    rows, cols, inner = tl.arange(0, 128), tl.arange(0, 128), tl.arange(0, 64)
    sums = tl.zeros((128, 128), tl.float32)
    for k in range(FIRST, END, STEP):
        a = tl.load(a_ptr + rows[:, None] * n + (k + inner)[None, :])
        b = tl.load(b_ptr + (k + inner)[:, None] * n + cols[None, :])
        sums += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], sums)


@triton.jit
def far_limit(a_ptr, b_ptr, c_ptr, n, FIRST: tl.constexpr, END: tl.constexpr, STEP: tl.constexpr):
    rows, cols, inner = tl.arange(0, 128), tl.arange(0, 128), tl.arange(0, 64)
    sums = tl.zeros((128, 128), tl.float32)
    for k in range(FIRST, n + END, STEP):
        a = tl.load(a_ptr + rows[:, None] * n + (k + inner)[None, :])
        b = tl.load(b_ptr + (k + inner)[:, None] * n + cols[None, :])
        sums += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], sums)


@triton.jit
def attend(q_ptr, k_ptr, v_ptr, out_ptr, keys, D: tl.constexpr, BLOCK: tl.constexpr):
    """A program is a head; `keys` are whole blocks."""
    m, d, n = tl.arange(0, 64), tl.arange(0, D), tl.arange(0, BLOCK)
    head = tl.program_id(0)
    q = tl.load(q_ptr + head * 64 * D + m[:, None] * D + d[None, :])
    most = tl.full((64,), -float("inf"), tl.float32)
    total = tl.zeros((64,), tl.float32)
    acc = tl.zeros((64, D), tl.float32)
    for start in range(0, keys, BLOCK):
        at = (head * keys + start + n) * D
        k = tl.load(k_ptr + at[None, :] + d[:, None])
        v = tl.load(v_ptr + at[:, None] + d[None, :])
        scores = tl.dot(q, k)
        more = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - more[:, None])
        older = tl.exp2(most - more)
        total = total * older + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * older[:, None])
        most = more
    tl.store(out_ptr + head * 64 * D + m[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def attends(q_ptr, k_ptr, v_ptr, out_ptr, count, keys, D: tl.constexpr, BLOCK: tl.constexpr):
    """The same of some heads, one after the other."""
    m, d, n = tl.arange(0, 64), tl.arange(0, D), tl.arange(0, BLOCK)
    for head in range(count):
        q = tl.load(q_ptr + head * 64 * D + m[:, None] * D + d[None, :])
        most = tl.full((64,), -float("inf"), tl.float32)
        total = tl.zeros((64,), tl.float32)
        acc = tl.zeros((64, D), tl.float32)
        for start in range(0, keys, BLOCK):
            at = (head * keys + start + n) * D
            k = tl.load(k_ptr + at[None, :] + d[:, None])
            v = tl.load(v_ptr + at[:, None] + d[None, :])
            scores = tl.dot(q, k)
            more = tl.maximum(most, tl.max(scores, 1))
            p = tl.exp2(scores - more[:, None])
            older = tl.exp2(most - more)
            total = total * older + tl.sum(p, 1)
            acc = tl.dot(p.to(v.dtype), v, acc * older[:, None])
            most = more
        tl.store(out_ptr + head * 64 * D + m[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def tiles(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    """A persistent product: each program makes some of the tiles."""
    i, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK_K)
    across = tl.cdiv(N, BLOCK)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BLOCK) * across, tl.num_programs(0),
                         flatten=True):
        m, n = tile // across * BLOCK + i, tile % across * BLOCK + i
        acc = tl.zeros((BLOCK, BLOCK), tl.float32)
        for start in range(0, K, BLOCK_K):
            a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :],
                        mask=(m < M)[:, None] & (start + k < K)[None, :], other=0.0)
            b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :],
                        mask=(start + k < K)[:, None] & (n < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.bfloat16),
                 mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def overlapping_tiles(a_ptr, b_ptr, c_ptr, tiles, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    """Half of each tile is overwritten by the next one."""
    i, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK_K)
    for tile in tl.range(0, tiles):
        m = tile * BLOCK + i
        acc = tl.zeros((BLOCK, BLOCK), tl.float32)
        for start in range(0, K, BLOCK_K):
            a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
            b = tl.load(b_ptr + (start + k)[:, None] * BLOCK + i[None, :])
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + (tile * (BLOCK // 2) + i)[:, None] * BLOCK + i[None, :],
                 acc.to(tl.bfloat16))


@triton.jit
def loops_in_turn(a_ptr, b_ptr, c_ptr, n, FIRST: tl.constexpr, END: tl.constexpr,
                  STEP: tl.constexpr):
    rows, d = tl.arange(0, 128), tl.arange(0, 64)
    acc = tl.zeros((128, 128), tl.float32)
    for part in tl.static_range(6):
        for i in range(FIRST, n - part, STEP):
            a = tl.load(a_ptr + rows[:, None] * 4096 + i + d[None, :])
            acc = tl.dot(a, tl.load(b_ptr + (i + d[:, None]) * 128 + rows[None, :]), acc)
    tl.store(c_ptr + rows[:, None] * 128 + rows[None, :], acc)


@triton.jit
def by_threads(a_ptr, b_ptr, out_ptr, K, M: tl.constexpr, N: tl.constexpr, A_ROWS: tl.constexpr,
               B_ROWS: tl.constexpr):
    """Products without matrix units, of operands whose rows or columns memory has together."""
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    sums = tl.zeros([M, N], dtype=out_ptr.dtype.element_ty)
    for start in range(0, K, 16):
        left, right = start + tl.arange(0, 16)[None, :], start + tl.arange(0, 16)[:, None]
        a = tl.load(a_ptr + (m * 80 + left if A_ROWS else left * M + m), mask=left < K, other=0)
        b = tl.load(b_ptr + (right * N + n if B_ROWS else n * 80 + right), mask=right < K, other=0)
        sums = tl.dot(a, b, sums, input_precision="ieee", out_dtype=sums.dtype)
    tl.store(out_ptr + m * N + n, sums)
