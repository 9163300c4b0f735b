"""Kernels that take many registers: run-time strides, gathered rows, tiles of pointers that loops
move, scans and flips.  The same file under Triton and under Nereid."""
import triton
import triton.language as tl


@triton.jit
def ragged_to_dense(x_ptr, offsets_ptr, add_ptr, out_ptr, columns, x_stride, out_stride, out_matrix,
                    ROWS: tl.constexpr, COLS: tl.constexpr):
    """Row lists of a matrix each, with an addend of the dense shape."""
    matrix = tl.program_id(0)
    begin, end = tl.load(offsets_ptr + matrix), tl.load(offsets_ptr + matrix + 1)
    x_ptr += begin * x_stride
    add_ptr += matrix * out_matrix
    out_ptr += matrix * out_matrix
    row = tl.arange(0, ROWS)
    for _ in range(begin, end, ROWS):
        column = tl.arange(0, COLS)
        x = x_ptr + row[:, None] * x_stride + column[None, :]
        at = row[:, None] * out_stride + column[None, :]
        for _ in range(0, columns, COLS):
            mask = (row < end - begin)[:, None] & (column < columns)[None, :]
            value = tl.load(x, mask=mask) + tl.load(add_ptr + at, mask=mask)
            tl.store(out_ptr + at, value, mask=mask)
            column += COLS
            x += COLS
            at += COLS
        row += ROWS


@triton.jit
def shuffle_tokens(x_ptr, out_ptr, count_ptr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
                   COLS: tl.constexpr):
    """Rows of experts to rows of tokens: one loop over blocks, whose pointers a branch moves."""
    count = tl.load(count_ptr + tl.program_id(0))
    steps: tl.constexpr = WIDTH // COLS
    row = tl.arange(0, ROWS)[:, None]
    at = (tl.program_id(0) * 1024 + row) * WIDTH + tl.arange(0, COLS)[None, :]
    source, target = x_ptr + at, out_ptr + at
    for i in range(tl.cdiv(count, ROWS) * steps):
        mask = row < count
        tl.store(target, tl.load(source, mask=mask), mask=mask)
        if i % steps == steps - 1:
            row += ROWS
            source += ROWS * WIDTH - (steps - 1) * COLS
            target += ROWS * WIDTH - (steps - 1) * COLS
        else:
            source += COLS
            target += COLS


@triton.jit
def reduce_topk(x_ptr, out_ptr, tokens, width, row_stride, column_stride, TOPK: tl.constexpr,
                ROWS: tl.constexpr, COLS: tl.constexpr):
    """The sum of the TOPK rows of each token, by a fixed number of programs."""
    across = tl.cdiv(width, COLS)
    for block in range(tl.program_id(0), tl.cdiv(tokens, ROWS) * across, tl.num_programs(0)):
        row = (block // across) * ROWS + tl.arange(0, ROWS)
        column = (block % across) * COLS + tl.arange(0, COLS)
        mask = (row < tokens)[:, None] & (column < width)[None, :]
        at = row[:, None] * TOPK * row_stride + column[None, :] * column_stride
        total = tl.load(x_ptr + at, mask=mask, other=0).to(tl.float32)
        for k in range(1, TOPK):
            total += tl.load(x_ptr + at + k * row_stride, mask=mask, other=0).to(tl.float32)
        to = out_ptr + row[:, None] * row_stride + column[None, :] * column_stride
        tl.store(to, total.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def gather_rows(x_ptr, index_ptr, out_ptr, rows, width, x_stride, out_stride, ROWS: tl.constexpr,
                COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    index = tl.load(index_ptr + row, mask=row < rows, other=0)
    for start in range(0, width, COLS):
        column = start + tl.arange(0, COLS)
        mask = (row < rows)[:, None] & (column < width)[None, :]
        value = tl.load(x_ptr + index[:, None] * x_stride + column[None, :], mask=mask)
        tl.store(out_ptr + row[:, None] * out_stride + column[None, :], value, mask=mask)


@triton.jit
def copy_pages(x_ptr, out_ptr, page_ptr, length_ptr, page_stride, slot_stride, head_stride,
               out_batch, out_stride, heads, ROWS: tl.constexpr, COLS: tl.constexpr,
               PAGE: tl.constexpr):
    """A sequence's rows of a paged cache, to rows that follow each other."""
    batch = tl.program_id(0)
    length = tl.load(length_ptr + batch)
    head = tl.arange(0, COLS)
    for start in range(0, length, ROWS):
        row = start + tl.arange(0, ROWS)
        page = tl.load(page_ptr + batch * 128 + row // PAGE, mask=row < length, other=0)
        page = page.to(tl.int64)
        mask = (row < length)[:, None] & (head < heads)[None, :]
        at = page[:, None] * page_stride + (row % PAGE)[:, None] * slot_stride
        value = tl.load(x_ptr + at + head[None, :] * head_stride, mask=mask)
        tl.store(out_ptr + batch * out_batch + row[:, None] * out_stride + head[None, :], value,
                 mask=mask)


@triton.jit
def softmax_blocks(x_ptr, out_ptr, rows, width, x_stride, out_stride, ROWS: tl.constexpr,
                   COLS: tl.constexpr):
    """Rows in blocks of columns, twice: the sum of exponentials, then the quotients."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLS)
    top = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    x = x_ptr + row[:, None] * x_stride + column[None, :]
    for start in range(0, width, COLS):
        mask = (row < rows)[:, None] & (start + column < width)[None, :]
        value = tl.load(x, mask=mask, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(value, 1))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(value - higher[:, None]), 1)
        top = higher
        x += COLS
    x = x_ptr + row[:, None] * x_stride + column[None, :]
    out = out_ptr + row[:, None] * out_stride + column[None, :]
    for start in range(0, width, COLS):
        mask = (row < rows)[:, None] & (start + column < width)[None, :]
        value = tl.load(x, mask=mask, other=-float("inf")).to(tl.float32)
        value = tl.exp(value - top[:, None]) / total[:, None]
        tl.store(out, value.to(out_ptr.dtype.element_ty), mask=mask)
        x += COLS
        out += COLS


@triton.jit
def convolve_causal(x_ptr, weight_ptr, out_ptr, length, x_batch, x_stride, WIDTH: tl.constexpr,
                    TAPS: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    column = tl.program_id(0) * COLS + tl.arange(0, COLS)
    row = tl.program_id(1).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    x_ptr += tl.program_id(2).to(tl.int64) * x_batch
    total = tl.zeros((ROWS, COLS), tl.float32)
    for tap in tl.static_range(TAPS):
        at = row + tap - TAPS + 1
        mask = ((at >= 0) & (at < length))[:, None] & (column < WIDTH)[None, :]
        value = tl.load(x_ptr + at[:, None] * x_stride + column[None, :], mask=mask, other=0)
        weight = tl.load(weight_ptr + column * TAPS + tap, mask=column < WIDTH)
        total += value.to(tl.float32) * weight.to(tl.float32)[None, :]
    total *= tl.sigmoid(total)
    mask = (row < length)[:, None] & (column < WIDTH)[None, :]
    out = out_ptr + tl.program_id(2).to(tl.int64) * length * WIDTH
    tl.store(out + row[:, None] * WIDTH + column[None, :], total.to(out_ptr.dtype.element_ty),
             mask=mask)


@triton.jit
def copy_strided(x_ptr, out_ptr, n0, n1, n2, x0, x1, x2, out0, out1, out2, B0: tl.constexpr,
                 B1: tl.constexpr, B2: tl.constexpr):
    i = tl.program_id(0) * B0 + tl.arange(0, B0)[:, None, None]
    j = tl.program_id(1) * B1 + tl.arange(0, B1)[None, :, None]
    k = tl.program_id(2) * B2 + tl.arange(0, B2)[None, None, :]
    mask = (i < n0) & (j < n1) & (k < n2)
    value = tl.load(x_ptr + i * x0 + j * x1 + k * x2, mask=mask)
    tl.store(out_ptr + i * out0 + j * out1 + k * out2, value, mask=mask)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = a_ptr + row[:, None] * a_row + k[None, :] * a_column
    b = b_ptr + k[:, None] * b_row + column[None, :] * b_column
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a, mask=(row < M)[:, None] & (start + k < K)[None, :], other=0)
        right = tl.load(b, mask=(start + k < K)[:, None] & (column < N)[None, :], other=0)
        total = tl.dot(left, right, total)
        a += BK * a_column
        b += BK * b_row
    c = c_ptr + row[:, None] * c_row + column[None, :] * c_column
    tl.store(c, total.to(c_ptr.dtype.element_ty), mask=(row < M)[:, None] & (column < N)[None, :])


@triton.jit
def sum_rows_so_far(x_ptr, out_ptr, ROWS: tl.constexpr, COLS: tl.constexpr, AXIS: tl.constexpr,
                    REVERSE: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    at += tl.program_id(0) * ROWS * COLS
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), AXIS, reverse=REVERSE))


@triton.jit
def after_affine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def affine_so_far(x_ptr, out_ptr, COLS: tl.constexpr):
    at = tl.program_id(0) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + at)
    scale, value = tl.associative_scan((x * 0.5, x), 0, after_affine)
    tl.store(out_ptr + at, scale + value)


@triton.jit
def flip_rows(x_ptr, out_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    at += tl.program_id(0) * ROWS * COLS
    tl.store(out_ptr + at, tl.flip(tl.load(x_ptr + at), 1))
