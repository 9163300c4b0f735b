"""Products whose operands are boxes of tensors, in the ways in which kernels say so, and some whose
operands are none."""
import triton
import triton.language as tl


@triton.jit
def product_of_blocks(a, b, c, m, n, k, sa, sb, sc, B: tl.constexpr, BK: tl.constexpr):
    """Block pointers."""
    row, column = tl.program_id(0) * B, tl.program_id(1) * B
    x = tl.make_block_ptr(a, (m, k), (sa, 1), (row, 0), (B, BK), (1, 0))
    y = tl.make_block_ptr(b, (k, n), (sb, 1), (0, column), (BK, B), (1, 0))
    acc = tl.zeros((B, B), tl.float32)
    for _ in range(0, k, BK):
        acc = tl.dot(tl.load(x, boundary_check=(0, 1), padding_option="zero"),
                     tl.load(y, boundary_check=(0, 1), padding_option="zero"), acc)
        x = tl.advance(x, (0, BK))
        y = tl.advance(y, (BK, 0))
    z = tl.make_block_ptr(c, (m, n), (sc, 1), (row, column), (B, B), (1, 0))
    tl.store(z, acc, boundary_check=(0, 1))


@triton.jit
def product_of_descriptors(a, b, c, m, n, k, sa, sb, sc, B: tl.constexpr, BK: tl.constexpr):
    """Descriptors, the second of the transpose."""
    x = tl.make_tensor_descriptor(a, (m, k), (sa, 1), (B, BK))
    y = tl.make_tensor_descriptor(b, (n, k), (sb, 1), (B, BK))
    row, column = tl.program_id(0) * B, tl.program_id(1) * B
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(x.load((row, start)), y.load((column, start)).T, acc)
    i, j = row + tl.arange(0, B), column + tl.arange(0, B)
    tl.store(c + i[:, None] * sc + j[None, :], acc, mask=(i < m)[:, None] & (j < n)[None, :])


@triton.jit
def product_of_batches(a, b, c, m, n, k, sa, sb, batch_a, batch_b, B: tl.constexpr,
                       BK: tl.constexpr):
    """Batches at strides of their own, and pointers that the loop moves; the loop has no mask."""
    i, s = tl.arange(0, B), tl.arange(0, BK)
    a += tl.program_id(2) * batch_a
    b += tl.program_id(2) * batch_b
    x = a + (tl.program_id(0) * B + i)[:, None] * sa + s[None, :]
    y = b + s[:, None] * sb + (tl.program_id(1) * B + i)[None, :]
    acc = tl.zeros((B, B), tl.float32)
    for _ in range(0, k, BK):
        acc = tl.dot(tl.load(x), tl.load(y), acc)
        x += BK
        y += BK * sb
    row, column = tl.program_id(0) * B + i, tl.program_id(1) * B + i
    tl.store(c + tl.program_id(2) * m * n + row[:, None] * n + column[None, :], acc)


@triton.jit
def product_with_halo(a, b, c, m, n, k, sa, sb, sc, B: tl.constexpr, BK: tl.constexpr):
    """Row i of the result is that of A's row i - 3: rows before the first are zeros."""
    i, s = tl.arange(0, B), tl.arange(0, BK)
    row, column = tl.program_id(0) * B + i - 3, tl.program_id(1) * B + i
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, k, BK):
        inside = (row >= 0)[:, None] & (row < m)[:, None] & (start + s < k)[None, :]
        x = tl.load(a + row[:, None] * sa + (start + s)[None, :], mask=inside, other=0.0)
        y = tl.load(b + (start + s)[:, None] * sb + column[None, :],
                    mask=(start + s < k)[:, None] & (column < n)[None, :], other=0.0)
        acc = tl.dot(x, y, acc)
    to = tl.program_id(0) * B + i
    tl.store(c + to[:, None] * sc + column[None, :], acc,
             mask=(to < m)[:, None] & (column < n)[None, :])


@triton.jit
def product_of_middle(a, b, c, m, n, k, last, sa, sb, sc, B: tl.constexpr,
                      BK: tl.constexpr):
    """Rows before the pointer are A's, too: the mask lets them through."""
    a += 3 * sa
    i, s = tl.arange(0, B), tl.arange(0, BK)
    row, column = tl.program_id(0) * B + i - 3, tl.program_id(1) * B + i
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, k, BK):
        x = tl.load(a + row[:, None] * sa + (start + s)[None, :],
                    mask=(row < last)[:, None] & (start + s < k)[None, :], other=0.0)
        y = tl.load(b + (start + s)[:, None] * sb + column[None, :],
                    mask=(start + s < k)[:, None] & (column < n)[None, :], other=0.0)
        acc = tl.dot(x, y, acc)
    to = tl.program_id(0) * B + i
    tl.store(c + to[:, None] * sc + column[None, :], acc,
             mask=(to < m)[:, None] & (column < n)[None, :])


@triton.jit
def product_of_rows(a, b, table, c, m, n, k, sa, sb, sc, B: tl.constexpr, BK: tl.constexpr):
    """Rows of A by a table are no box, nor is B under a mask that is no bound."""
    i, s = tl.arange(0, B), tl.arange(0, BK)
    row = tl.load(table + i)
    acc = tl.zeros((B, B), tl.float32)
    for turn in range(0, k // BK):
        start = tl.load(table + turn) // BK * BK
        x = tl.load(a + row[:, None] * sa + (start + s)[None, :])
        y = tl.load(b + (start + s)[:, None] * sb + i[None, :])
        z = tl.load(b + (start + s)[:, None] * sb + i[None, :], mask=(i % 24 < 8)[None, :],
                    other=0.0)
        acc = tl.dot(x, y, acc)
        acc = tl.dot(x, z, acc)
    tl.store(c + i[:, None] * sc + i[None, :], acc)


@triton.jit
def product_in_turns(a, b, c, m, n, k, sa, sb, sc, B: tl.constexpr, BK: tl.constexpr):
    """One program makes all tiles, by one ring."""
    i, s = tl.arange(0, B), tl.arange(0, BK)
    for tile in range(0, tl.cdiv(m, B) * tl.cdiv(n, B)):
        row, column = tile // tl.cdiv(n, B) * B + i, tile % tl.cdiv(n, B) * B + i
        acc = tl.zeros((B, B), tl.float32)
        for start in range(0, k, BK):
            x = tl.load(a + row[:, None] * sa + (start + s)[None, :],
                        mask=(row < m)[:, None] & (start + s < k)[None, :], other=0.0)
            y = tl.load(b + (start + s)[:, None] * sb + column[None, :],
                        mask=(start + s < k)[:, None] & (column < n)[None, :], other=0.0)
            acc = tl.dot(x, y, acc)
        tl.store(c + row[:, None] * sc + column[None, :], acc.to(c.dtype.element_ty),
                 mask=(row < m)[:, None] & (column < n)[None, :])


@triton.jit
def tiles_in_turns(a, b, c, m, n, k, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr,
                   BK: tl.constexpr):
    """Tiles have other sides; b has the rows of its transpose."""
    i, j, s = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for tile in range(0, tl.cdiv(m, BM) * tl.cdiv(n, BN)):
        row, column = tile // tl.cdiv(n, BN) * BM + i, tile % tl.cdiv(n, BN) * BN + j
        acc = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            x = tl.load(a + row[:, None] * sa + (start + s)[None, :],
                        mask=(row < m)[:, None] & (start + s < k)[None, :], other=0.0)
            y = tl.load(b + (start + s)[:, None] + column[None, :] * sb,
                        mask=(start + s < k)[:, None] & (column < n)[None, :], other=0.0)
            acc = tl.dot(x, y, acc)
        tl.store(c + row[:, None] * sc + column[None, :], acc.to(c.dtype.element_ty),
                 mask=(row < m)[:, None] & (column < n)[None, :])


@triton.jit
def product_of_signs(a, b, c, m, n, k, sa, sb, sc, B: tl.constexpr, BK: tl.constexpr):
    """Zeros in place of what is masked off have a sign."""
    i, s = tl.arange(0, B), tl.arange(0, BK)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, k, BK):
        x = tl.load(a + i[:, None] * sa + (start + s)[None, :],
                    mask=(i < m)[:, None] & (start + s < k)[None, :], other=-0.0)
        y = tl.load(b + (start + s)[:, None] * sb + i[None, :])
        acc = tl.dot(tl.where(1.0 / x < 0.0, 1.0, 0.0).to(tl.float16), y, acc)
    tl.store(c + i[:, None] * sc + i[None, :], acc)


@triton.jit
def product_moved_often(a, b, c, k, B: tl.constexpr, BK: tl.constexpr, MOVES: tl.constexpr):
    """A's address is a sum of more terms than the analysis of boxes holds; each program reads
    other elements."""
    i, s = tl.arange(0, B), tl.arange(0, BK)
    pid = tl.program_id(0)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, k, BK):
        x = a + (i[:, None] * 64 + s[None, :]) + start
        for move in tl.static_range(2, 2 + MOVES):
            x += pid % move
        y = tl.load(b + (start + s)[:, None] * B + i[None, :])
        acc = tl.dot(tl.load(x), y, acc)
    tl.store(c + (pid * B + i)[:, None] * B + i[None, :], acc)
