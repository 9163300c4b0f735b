"""Products of matrices: batched, split, persistent, grouped, of every operand type."""
import triton
import triton.language as tl


@triton.jit
def product_tile(a_ptr, b_ptr, m, n, M, N, first, last, stride_am, stride_ak, stride_bk, stride_bn,
                 BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                 ACC: tl.constexpr, PRECISION: tl.constexpr):
    """Rows m and columns n of A[:, first:last] @ B[first:last], masked on every edge."""
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC)
    for start in range(first, last, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak,
                    mask=(m[:, None] < M) & (k[None, :] < last), other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn,
                    mask=(k[:, None] < last) & (n[None, :] < N), other=0.0)
        acc += tl.dot(a, b, out_dtype=ACC, input_precision=PRECISION)
    return acc


@triton.jit
def batched_matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_ab, stride_am, stride_ak, stride_bb,
                   stride_bk, stride_bn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                   BLOCK_K: tl.constexpr, ACC: tl.constexpr, PRECISION: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    batch = tl.program_id(2)
    acc = product_tile(a_ptr + batch * stride_ab, b_ptr + batch * stride_bb, m, n, M, N, 0, K,
                       stride_am, stride_ak, stride_bk, stride_bn, BLOCK_M, BLOCK_N, BLOCK_K, ACC,
                       PRECISION)
    c = c_ptr + batch * M * N + m[:, None] * N + n[None, :]
    tl.store(c, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def whole_product(a_ptr, b_ptr, c_ptr, stride_am, stride_ak, stride_bk, stride_bn,
                  M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """One tile without masks: what is read may be left where it lies, whatever the strides."""
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    a = tl.load(a_ptr + m * stride_am + k[None, :] * stride_ak)
    b = tl.load(b_ptr + k[:, None] * stride_bk + n * stride_bn)
    tl.store(c_ptr + m * N + n, tl.dot(a, b, input_precision="ieee"))


@triton.jit
def dot_3d(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
           K: tl.constexpr):
    """A batch of products in one dot."""
    b, m = tl.arange(0, B)[:, None, None], tl.arange(0, M)[None, :, None]
    kc, n = tl.arange(0, K)[None, None, :], tl.arange(0, N)[None, None, :]
    kr = tl.arange(0, K)[None, :, None]
    x = tl.load(a_ptr + b * (M * K) + m * K + kc)
    y = tl.load(b_ptr + b * (K * N) + kr * N + n)
    tl.store(c_ptr + b * (M * N) + m * N + n, tl.dot(x, y))


@triton.jit
def split_k(a_ptr, b_ptr, c_ptr, M, N, K, share, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_K: tl.constexpr):
    """Programs along axis 2 take `share` of K each and add up in memory, which starts as zeros."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    first = tl.program_id(2) * share
    acc = product_tile(a_ptr, b_ptr, m, n, M, N, first, min(first + share, K), K, 1, N, 1, BLOCK_M,
                       BLOCK_N, BLOCK_K, tl.float32, "tf32")
    tl.atomic_add(c_ptr + m[:, None] * N + n[None, :], acc, sem="relaxed",
                  mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def persistent_matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      BLOCK_K: tl.constexpr):
    """Fewer programs than tiles: each takes every num_programs-th one."""
    tiles_n = tl.cdiv(N, BLOCK_N)
    for tile in range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * tiles_n, tl.num_programs(0)):
        m = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
        n = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = product_tile(a_ptr, b_ptr, m, n, M, N, 0, K, K, 1, N, 1, BLOCK_M, BLOCK_N, BLOCK_K,
                           tl.float32, "tf32")
        c = acc.to(c_ptr.dtype.element_ty)
        tl.store(c_ptr + m[:, None] * N + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def grouped_matmul(pointers_ptr, sizes_ptr, a0_ptr, b0_ptr, c0_ptr, groups, BLOCK: tl.constexpr,
                   FILL: tl.constexpr):
    """Products of different sizes, by a table of addresses (A, B and C of each group) that a first
    run writes (FILL); here the groups lie one after another in three arrays."""
    if FILL:
        a_at, b_at, c_at = 0, 0, 0
        for g in range(groups):
            M, N, K = tl.load(sizes_ptr + 3 * g), tl.load(sizes_ptr + 3 * g + 1), tl.load(
                sizes_ptr + 3 * g + 2)
            tl.store(pointers_ptr + 3 * g, (a0_ptr + a_at).to(tl.int64))
            tl.store(pointers_ptr + 3 * g + 1, (b0_ptr + b_at).to(tl.int64))
            tl.store(pointers_ptr + 3 * g + 2, (c0_ptr + c_at).to(tl.int64))
            a_at += M * K
            b_at += K * N
            c_at += M * N
        tl.debug_barrier()

    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        M = tl.load(sizes_ptr + 3 * g)
        N = tl.load(sizes_ptr + 3 * g + 1)
        K = tl.load(sizes_ptr + 3 * g + 2)
        tiles_n = tl.cdiv(N, BLOCK)
        tiles = tl.cdiv(M, BLOCK) * tiles_n
        while tile >= before and tile < before + tiles:
            a = tl.load(pointers_ptr + 3 * g).to(tl.pointer_type(tl.float16))
            b = tl.load(pointers_ptr + 3 * g + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(pointers_ptr + 3 * g + 2).to(tl.pointer_type(tl.float16))
            m = (tile - before) // tiles_n * BLOCK + tl.arange(0, BLOCK)
            n = (tile - before) % tiles_n * BLOCK + tl.arange(0, BLOCK)
            acc = product_tile(a, b, m, n, M, N, 0, K, K, 1, N, 1, BLOCK, BLOCK, BLOCK, tl.float32,
                               "tf32")
            tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16),
                     mask=(m[:, None] < M) & (n[None, :] < N))
            tile += tl.num_programs(0)
        before += tiles


@triton.jit
def matvec(a_ptr, x_ptr, y_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    acc = tl.zeros((BLOCK_R, BLOCK_C), tl.float32)
    for start in range(0, cols, BLOCK_C):
        c = start + tl.arange(0, BLOCK_C)
        a = tl.load(a_ptr + r[:, None] * cols + c[None, :],
                    mask=(r[:, None] < rows) & (c[None, :] < cols), other=0.0)
        x = tl.load(x_ptr + c, mask=c < cols, other=0.0)
        acc += a.to(tl.float32) * x[None, :].to(tl.float32)
    tl.store(y_ptr + r, tl.sum(acc, axis=1), mask=r < rows)


@triton.jit
def outer(x_ptr, y_ptr, out_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    """out += x y^T"""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    x = tl.load(x_ptr + r, mask=r < rows)
    y = tl.load(y_ptr + c, mask=c < cols)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    out = out_ptr + r[:, None] * cols + c[None, :]
    tl.store(out, tl.load(out, mask=inside) + x[:, None] * y[None, :], mask=inside)


@triton.jit
def complex_matmul(ar_ptr, ai_ptr, br_ptr, bi_ptr, cr_ptr, ci_ptr, N: tl.constexpr):
    """Three real products instead of four, of N x N."""
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    ar, ai = tl.load(ar_ptr + i), tl.load(ai_ptr + i)
    br, bi = tl.load(br_ptr + i), tl.load(bi_ptr + i)
    real = tl.dot(ar, br, input_precision="ieee")
    imag = tl.dot(ai, bi, input_precision="ieee")
    both = tl.dot(ar + ai, br + bi, input_precision="ieee")
    tl.store(cr_ptr + i, real - imag)
    tl.store(ci_ptr + i, both - real - imag)


@triton.jit
def chained_dots(a_ptr, b_ptr, c_ptr, out_ptr, M: tl.constexpr, K: tl.constexpr, L: tl.constexpr,
                 N: tl.constexpr):
    """relu(A B) C, where C is stored transposed."""
    m, k, l, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, L), tl.arange(0, N)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * L + l[None, :])
    c = tl.load(c_ptr + n[:, None] * L + l[None, :])
    hidden = tl.maximum(tl.dot(a, b), 0.0).to(a.dtype)
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.dot(hidden, tl.trans(c)))


@triton.jit
def triangular_solve(l_ptr, b_ptr, x_ptr, N: tl.constexpr, COLS: tl.constexpr):
    """x = L^-1 b by forward substitution; L is lower triangular."""
    rows, cols = tl.arange(0, N), tl.arange(0, COLS)
    at = rows[:, None] * COLS + cols[None, :]
    b = tl.load(b_ptr + at)
    x = tl.zeros((N, COLS), tl.float32)
    for i in range(N):
        row = tl.load(l_ptr + i * N + rows, mask=rows <= i, other=0.0)
        known = tl.sum(row[:, None] * x, axis=0)
        want = tl.sum(tl.where(rows[:, None] == i, b, 0.0), axis=0)
        value = (want - known) / tl.load(l_ptr + i * N + i)
        x = tl.where(rows[:, None] == i, value[None, :], x)
    tl.store(x_ptr + at, x)


@triton.jit
def cholesky(a_ptr, l_ptr, N: tl.constexpr):
    """A = L L^T, column by column, of one block held in registers."""
    a_ptr += tl.program_id(0) * N * N
    l_ptr += tl.program_id(0) * N * N
    rows, cols = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + rows * N + cols)
    for k in range(N):
        column = tl.sum(tl.where(cols == k, a, 0.0), axis=1)
        pivot = tl.sum(tl.where(tl.arange(0, N) == k, column, 0.0), axis=0)
        column = tl.where(tl.arange(0, N) >= k, column / tl.sqrt(pivot), 0.0)
        of_row = tl.sum(tl.where(rows == cols, column[:, None], 0.0), axis=0)  # transposed
        a = tl.where(cols == k, column[:, None], a)
        a = tl.where(cols > k, a - column[:, None] * of_row[None, :], a)
    tl.store(l_ptr + rows * N + cols, tl.where(rows >= cols, a, 0.0))


@triton.jit
def block_scaled_product(a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                         IMPRECISE: tl.constexpr):
    """8-bit floats with a scale for each BLOCK_K of a row of A and of a column of B: each sum of
    BLOCK_K products begins at zero, and leaves the units' own precision after IMPRECISE of them."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for block in range(0, K // BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + (block * BLOCK_K + k)[None, :])
        b = tl.load(b_ptr + n[None, :] * K + (block * BLOCK_K + k)[:, None])
        a_scale = tl.load(a_scale_ptr + m * (K // BLOCK_K) + block)
        b_scale = tl.load(b_scale_ptr + n * (K // BLOCK_K) + block)
        product = tl.dot(a, b, max_num_imprecise_acc=IMPRECISE)
        acc += product * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def promoted_product(a_ptr, b_ptr, c_ptr, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                     BLOCK_K: tl.constexpr, IMPRECISE: tl.constexpr):
    """Sums of 8-bit products that leave the units' own precision every so many of K."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.full((BLOCK_M, BLOCK_N), 1.0, dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + n[None, :] * K + (start + k)[:, None])
        acc = tl.dot(a, b, acc, max_num_imprecise_acc=IMPRECISE)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def bytes_product(a_ptr, b_ptr, c_ptr, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  WORDS: tl.constexpr):
    """Elements are words of four signed bytes, of which the extremes' products are largest."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.full((BLOCK_M, BLOCK_N), 7, dtype=tl.int32)
    for start in range(0, K // 4, WORDS):
        k = start + tl.arange(0, WORDS)
        a = tl.load((a_ptr + m[:, None] * K + 4 * k[None, :]).to(tl.pointer_type(tl.int32)))
        b = tl.load((b_ptr + n[None, :] * K + 4 * k[:, None]).to(tl.pointer_type(tl.int32)))
        acc = tl.dot(a, b, acc, input_precision="bytes")
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def pairs_product(a_ptr, b_ptr, c_ptr, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  WORDS: tl.constexpr):
    """Elements are words of two bf16, sums the bits of floats."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.full((BLOCK_M, BLOCK_N), 0.5, dtype=tl.float32).to(tl.int32, bitcast=True)
    for start in range(0, K // 2, WORDS):
        k = start + tl.arange(0, WORDS)
        a = tl.load((a_ptr + m[:, None] * K + 2 * k[None, :]).to(tl.pointer_type(tl.int32)))
        b = tl.load((b_ptr + n[None, :] * K + 2 * k[:, None]).to(tl.pointer_type(tl.int32)))
        acc = tl.dot(a, b, acc, input_precision="pairs")
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float32, bitcast=True))
