"""Products of matrices in microscaling formats: `tl.dot_scaled`."""
import triton
import triton.language as tl


@triton.jit
def load_tile(ptr, rows: tl.constexpr, columns: tl.constexpr, BATCH: tl.constexpr):
    """A row-major tile, [BATCH, rows, columns] if there is a batch."""
    at = tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :]
    if BATCH:
        at = tl.arange(0, BATCH)[:, None, None] * (rows * columns) + at[None, :, :]
    return tl.load(ptr + at)


@triton.jit
def scaled_product(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, acc_ptr, c_ptr, M: tl.constexpr,
                   N: tl.constexpr, K: tl.constexpr, BATCH: tl.constexpr, A: tl.constexpr,
                   B: tl.constexpr, A_GROUP: tl.constexpr, B_GROUP: tl.constexpr,
                   A_K_PACK: tl.constexpr, B_K_PACK: tl.constexpr, FAST: tl.constexpr):
    """One product; a scale or an accumulator may be None."""
    a_pairs: tl.constexpr = 2 if A == "e2m1" else 1
    b_pairs: tl.constexpr = 2 if B == "e2m1" else 1
    if A_K_PACK:
        a = load_tile(a_ptr, M, K // a_pairs, BATCH)
    else:
        a = load_tile(a_ptr, M // a_pairs, K, BATCH)
    if B_K_PACK:
        b = load_tile(b_ptr, K // b_pairs, N, BATCH)
    else:
        b = load_tile(b_ptr, K, N // b_pairs, BATCH)
    a_scale = None
    b_scale = None
    acc = None
    if a_scale_ptr is not None:
        a_scale = load_tile(a_scale_ptr, M, K // A_GROUP, BATCH)
    if b_scale_ptr is not None:
        b_scale = load_tile(b_scale_ptr, N, K // B_GROUP, BATCH)
    if acc_ptr is not None:
        acc = load_tile(acc_ptr, M, N, BATCH)
    c = tl.dot_scaled(a, a_scale, A, b, b_scale, B, acc, FAST, A_K_PACK, B_K_PACK)
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    if BATCH:
        at = tl.arange(0, BATCH)[:, None, None] * (M * N) + at[None, :, :]
    tl.store(c_ptr + at, c)


@triton.jit
def scaled_matmul(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, A: tl.constexpr, B: tl.constexpr):
    """a [M, K] @ trans(b [N, K]), both packed along K; only b has scales if a_scale_ptr is None."""
    a_pairs: tl.constexpr = 2 if A == "e2m1" else 1
    b_pairs: tl.constexpr = 2 if B == "e2m1" else 1
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ka = tl.arange(0, BLOCK_K // a_pairs)
    kb = tl.arange(0, BLOCK_K // b_pairs)
    ks = tl.arange(0, BLOCK_K // 32)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * (K // a_pairs) + (k // a_pairs + ka)[None, :],
                    mask=(m[:, None] < M) & (k // a_pairs + ka < K // a_pairs)[None, :], other=0)
        b = tl.load(b_ptr + n[None, :] * (K // b_pairs) + (k // b_pairs + kb)[:, None],
                    mask=(n[None, :] < N) & (k // b_pairs + kb < K // b_pairs)[:, None], other=0)
        in_k = (k // 32 + ks < K // 32)[None, :]
        a_scale = None
        if a_scale_ptr is not None:
            a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + (k // 32 + ks)[None, :],
                              mask=(m[:, None] < M) & in_k, other=127)
        b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + (k // 32 + ks)[None, :],
                          mask=(n[:, None] < N) & in_k, other=127)
        acc = tl.dot_scaled(a, a_scale, A, b, b_scale, B, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))
