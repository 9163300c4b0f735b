"""Products beside that of examples/kernels: with a bias, in batches, in parts of the sum, of a few
programs that make all tiles, and of a matrix and a vector.

build/nereid run bench/tune_kernels/products.py:linear x_ptr=randn:f16[40,64] w_ptr=randn:f16[48,64] bias_ptr=randn:f16[48] out_ptr=empty:f16[40,48] M=40 N=48 K=64 -D BLOCK_M=16 -D BLOCK_N=16 -D BLOCK_K=32 --grid "cdiv(M, BLOCK_M), cdiv(N, BLOCK_N)"
"""
import triton
import triton.language as tl


@triton.jit
def linear(x_ptr, w_ptr, bias_ptr, out_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
           BLOCK_K: tl.constexpr):
    """gelu(x w^T + bias), where w is [N, K]."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        w = tl.load(w_ptr + n[None, :] * K + k[:, None],
                    mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc = tl.dot(x, w, acc)
    acc += tl.load(bias_ptr + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    acc = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def batched(a_ptr, b_ptr, out_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_K: tl.constexpr):
    batch = tl.program_id(2).to(tl.int64)
    a_ptr += batch * M * K
    b_ptr += batch * K * N
    out_ptr += batch * M * N
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :],
                    mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def store_tile(a_ptr, b_ptr, c_ptr, M, N, K, tile, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
               BLOCK_K: tl.constexpr):
    """A tile of a b, where b is [N, K]; numbered in groups of 8 rows of tiles."""
    within = tl.cdiv(N, BLOCK_N) * 8
    first = tile // within * 8
    rows = min(tl.cdiv(M, BLOCK_M) - first, 8)
    m = (first + tile % within % rows) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile % within // rows * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + n[None, :] * K + k[:, None],
                    mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def persistent(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
               BLOCK_K: tl.constexpr, PROGRAMS: tl.constexpr):
    """PROGRAMS 0: a program a tile."""
    if PROGRAMS == 0:
        store_tile(a_ptr, b_ptr, c_ptr, M, N, K, tl.program_id(0), BLOCK_M, BLOCK_N, BLOCK_K)
    else:
        for tile in range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N), PROGRAMS):
            store_tile(a_ptr, b_ptr, c_ptr, M, N, K, tile, BLOCK_M, BLOCK_N, BLOCK_K)


@triton.jit
def split_k(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_K: tl.constexpr, PARTS: tl.constexpr):
    """PARTS programs add up a tile of f32, which holds zeros before."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    m = tl.program_id(0) % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) // tiles_m * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.cdiv(K, BLOCK_K * PARTS)
    first = tl.program_id(1) * steps * BLOCK_K
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(0, steps):
        k = first + step * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :],
                    mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    c_ptrs = c_ptr + m[:, None] * N + n[None, :]
    mask = (m[:, None] < M) & (n[None, :] < N)
    if PARTS == 1:
        tl.store(c_ptrs, acc, mask=mask)
    else:
        tl.atomic_add(c_ptrs, acc, mask=mask, sem="relaxed")


@triton.jit
def matrix_vector(a_ptr, x_ptr, out_ptr, M, K, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        mask = (m[:, None] < M) & (k[None, :] < K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=mask, other=0.0)
        x = tl.load(x_ptr + k, mask=k < K, other=0.0)
        acc += tl.sum(a.to(tl.float32) * x.to(tl.float32)[None, :], axis=1)
    tl.store(out_ptr + m, acc, mask=m < M)
