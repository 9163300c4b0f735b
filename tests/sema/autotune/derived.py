# Kernels without decorators: what a tuner may choose follows from them.
import triton
import triton.language as tl


@triton.jit
def line(x, y, n, BLOCK: tl.constexpr, scale: tl.constexpr = 2.0):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * scale, mask=i < n)


@triton.jit
def row(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x += tl.program_id(0) * n
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(v, axis=0))


@triton.jit
def rows(x, y, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    i = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, n, BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        inside = (i[:, None] < m) & (j[None, :] < n)
        total += tl.sum(tl.load(x + i[:, None] * n + j[None, :], mask=inside, other=0.0), axis=1)
    tl.store(y + i, total, mask=i < m)


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
            GROUP: tl.constexpr):
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    group = pid // (GROUP * across)
    first = group * GROUP
    tall = min(tl.cdiv(M, BM) - first, GROUP)
    pid_m = first + pid % (GROUP * across) % tall
    pid_n = pid % (GROUP * across) // tall
    m = (pid_m * BM + tl.arange(0, BM)) % M
    n = (pid_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        left = K - i * BK
        x = tl.load(a + m[:, None] * K + (i * BK + k)[None, :], mask=k[None, :] < left, other=0.0)
        y = tl.load(b + (i * BK + k)[:, None] * N + n[None, :], mask=k[:, None] < left, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def blocks(x, y, n, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
    q = tl.make_block_ptr(y, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
    tl.store(q, tl.load(p, boundary_check=(0,)), boundary_check=(0,))


@triton.heuristics({"HALF": lambda args: args["BLOCK"] // 2})
@triton.jit
def halves(x, n, BLOCK: tl.constexpr, HALF: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, HALF)
    tl.store(x + i, 1.0, mask=i < n)
    tl.store(x + i + HALF, 1.0, mask=i + HALF < n)


@triton.jit
def unused(x, n, BLOCK: tl.constexpr, OTHER: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n)


@triton.jit
def staged(x, y, rows, n, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for r in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=num_stages):
        tl.store(y + r * n + i, tl.load(x + r * n + i, mask=i < n), mask=i < n)


@triton.jit
def flag(x, n, BLOCK: tl.constexpr, NEGATE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if NEGATE:
        v = -v
    tl.store(x + i, v, mask=i < n)


@triton.jit
def dtype(x, n, BLOCK: tl.constexpr, TO: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n).to(TO), mask=i < n)


@triton.jit
def width(x, n, COLS: tl.constexpr):
    i = tl.arange(0, COLS)
    tl.store(x + tl.program_id(0) * COLS * n + i, 1.0)


@triton.jit
def stride(x, n, ROW: tl.constexpr):
    tl.store(x + tl.program_id(0) * ROW, n)


@triton.jit
def unrolled(x, n, TIMES: tl.constexpr):
    for i in tl.static_range(TIMES):
        tl.store(x + i, n)


@triton.jit
def never(x, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK < 0, "no such block")
    tl.store(x, n + BLOCK)


@triton.jit
def many(x, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr, E: tl.constexpr,
         F: tl.constexpr, G: tl.constexpr, H: tl.constexpr, I: tl.constexpr):
    tl.store(x, A + B + C + D + E + F + G + H + I)


@triton.jit
def too_large(x, A: tl.constexpr, B: tl.constexpr):
    s = 0
    for i in tl.static_range(2000):
        for j in tl.static_range(2000):
            s += 1
    tl.store(x, s)
