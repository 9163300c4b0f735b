"""Moving data: transposes, strided copies, gathers, scatters, embeddings, resampling."""
import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, out_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    x = tl.load(x_ptr + r[:, None] * cols + c[None, :],
                mask=(r[:, None] < rows) & (c[None, :] < cols))
    out = out_ptr + c[:, None] * rows + r[None, :]
    tl.store(out, tl.trans(x), mask=(c[:, None] < cols) & (r[None, :] < rows))


@triton.jit
def store_across(x_ptr, y_ptr, turned_ptr, out_ptr, rows, cols, BLOCK_R: tl.constexpr,
                 BLOCK_C: tl.constexpr):
    """A tile that is read along both axes, and written along both."""
    r = (tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R))[:, None]
    c = (tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C))[None, :]
    inside = (r < rows) & (c < cols)
    x = tl.load(x_ptr + r * cols + c, mask=inside)
    y = tl.load(y_ptr + c * rows + r, mask=inside)
    z = x + y
    tl.store(turned_ptr + c * rows + r, z.to(turned_ptr.dtype.element_ty), mask=inside)
    tl.store(out_ptr + r * cols + c, z - x, mask=inside)


@triton.jit
def permute_3d(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """[A, B, C] -> [C, A, B], as one tile, through tl.permute."""
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    x = tl.load(x_ptr + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    out = out_ptr + c[:, None, None] * (A * B) + a[None, :, None] * B + b[None, None, :]
    tl.store(out, tl.permute(x, (2, 0, 1)))


@triton.jit
def strided_copy(x_ptr, out_ptr, n0, n1, n2, x0, x1, x2, o0, o1, o2, BLOCK: tl.constexpr):
    """Any three axes of any strides, also negative ones; programs count elements in order."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i2 = i % n2
    i1 = i // n2 % n1
    i0 = i // (n1 * n2)
    inside = i < n0 * n1 * n2
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2, mask=inside)
    tl.store(out_ptr + i0 * o0 + i1 * o1 + i2 * o2, x, mask=inside)


@triton.jit
def copy_blocks(x_ptr, out_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    """A row of blocks, left to right, by block pointers; the padding that loads add is stored
    beside it, so that its value is seen."""
    start = tl.program_id(0) * BLOCK_R
    x = tl.make_block_ptr(x_ptr, shape=(rows, cols), strides=(cols, 1), offsets=(start, 0),
                          block_shape=(BLOCK_R, BLOCK_C), order=(1, 0))
    wide = tl.cdiv(cols, BLOCK_C) * BLOCK_C
    out = tl.make_block_ptr(out_ptr, shape=(rows, wide), strides=(wide, 1), offsets=(start, 0),
                            block_shape=(BLOCK_R, BLOCK_C), order=(1, 0))
    for _ in range(0, cols, BLOCK_C):
        tile = tl.load(x, boundary_check=(0, 1), padding_option="zero")
        tl.store(out, tile + 1, boundary_check=(0, ))
        x = tl.advance(x, (0, BLOCK_C))
        out = tl.advance(out, (0, BLOCK_C))


@triton.jit
def embedding(index_ptr, table_ptr, out_ptr, n, dim, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    i = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    row = tl.load(index_ptr + i, mask=i < n, other=0)
    inside = (i[:, None] < n) & (d[None, :] < dim)
    tile = tl.load(table_ptr + row[:, None] * dim + d[None, :], mask=inside)
    tl.store(out_ptr + i[:, None] * dim + d[None, :], tile, mask=inside)


@triton.jit
def embedding_backward(index_ptr, grad_ptr, table_grad_ptr, n, dim, BLOCK_N: tl.constexpr,
                       BLOCK_D: tl.constexpr):
    """Rows that occur several times, also within a block, add up by atomics."""
    i = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    row = tl.load(index_ptr + i, mask=i < n, other=0)
    inside = (i[:, None] < n) & (d[None, :] < dim)
    grad = tl.load(grad_ptr + i[:, None] * dim + d[None, :], mask=inside)
    tl.atomic_add(table_grad_ptr + row[:, None] * dim + d[None, :], grad, mask=inside)


@triton.jit
def scatter_max(index_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    to = tl.load(index_ptr + i, mask=i < n, other=-1)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.atomic_max(out_ptr + to, x, mask=to >= 0)


@triton.jit
def permute_within(x_ptr, index_ptr, out_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """out[r, c] = x[r, index[r, c]], within a tile."""
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(out_ptr + at, tl.gather(tl.load(x_ptr + at), tl.load(index_ptr + at), axis=1))


@triton.jit
def upsample_nearest(x_ptr, out_ptr, height, width, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    """A program writes one row of the larger image."""
    y = tl.program_id(0)
    x_ptr += tl.program_id(1) * height * width
    out_ptr += tl.program_id(1) * height * width * SCALE * SCALE
    for start in range(0, width * SCALE, BLOCK):
        x = start + tl.arange(0, BLOCK)
        pixel = tl.load(x_ptr + y // SCALE * width + x // SCALE, mask=x < width * SCALE)
        tl.store(out_ptr + y * width * SCALE + x, pixel, mask=x < width * SCALE)


@triton.jit
def upsample_bilinear(x_ptr, out_ptr, height, width, out_height, out_width, BLOCK: tl.constexpr):
    """Half-pixel centres; coordinates past the border take the border's pixel."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < out_height * out_width
    y = (i // out_width + 0.5) * (height / out_height) - 0.5
    x = (i % out_width + 0.5) * (width / out_width) - 0.5
    y0, x0 = tl.floor(y), tl.floor(x)
    fy, fx = y - y0, x - x0
    top = tl.clamp(y0, 0.0, height - 1.0).to(tl.int32) * width
    bottom = tl.clamp(y0 + 1, 0.0, height - 1.0).to(tl.int32) * width
    left = tl.clamp(x0, 0.0, width - 1.0).to(tl.int32)
    right = tl.clamp(x0 + 1, 0.0, width - 1.0).to(tl.int32)
    a = tl.load(x_ptr + top + left, mask=inside)
    b = tl.load(x_ptr + top + right, mask=inside)
    c = tl.load(x_ptr + bottom + left, mask=inside)
    d = tl.load(x_ptr + bottom + right, mask=inside)
    upper, lower = a + (b - a) * fx, c + (d - c) * fx
    tl.store(out_ptr + i, upper + (lower - upper) * fy, mask=inside)


@triton.jit
def far_offsets(x_ptr, out_ptr, at_ptr, distance, n, BLOCK: tl.constexpr):
    """Every program walks `distance` elements more, past 2^31 of them, and back again."""
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    far = pid.to(tl.int64) * distance + i
    near = x_ptr + far + (pid * n - pid.to(tl.int64) * distance)
    tl.store(out_ptr + pid * n + i, tl.load(near, mask=i < n), mask=i < n)
    tl.store(at_ptr + pid * n + i, far, mask=i < n)


@triton.jit
def concat(xs, sizes, out, BLOCK: tl.constexpr):
    """A tuple of vectors end to end; `out` is the place for them, and one for where each begins."""
    begin = 0
    for k in tl.static_range(len(xs)):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(xs[k] + i, mask=i < sizes[k])
        tl.store(out[0] + begin + i, x.to(out[0].dtype.element_ty), mask=i < sizes[k])
        if tl.program_id(0) == 0:
            tl.store(out[1][0] + k, begin)
        begin += sizes[k]


@triton.jit
def promised_columns(x_ptr, at_ptr, out_ptr, rows, cols, width, ROWS: tl.constexpr,
                     COLS: tl.constexpr):
    """Columns modulo a number and columns from memory, which are promised to lie in groups; the
    last rows are the same again."""
    i = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)) % rows
    j = tl.program_id(1) * COLS + tl.arange(0, COLS)
    wrapped = tl.max_contiguous(tl.multiple_of(j % cols, COLS), COLS)
    x = tl.load(x_ptr + i[:, None] * cols + wrapped[None, :])
    at = tl.max_contiguous(tl.multiple_of(tl.load(at_ptr + j), 4), 4)
    groups = tl.max_constancy(j // width, 8)
    y = tl.load(x_ptr + i[:, None] * cols + at[None, :]) * groups[None, :]
    to = out_ptr + i[:, None] * (tl.num_programs(1) * COLS) + j[None, :]
    tl.store(to, x + y)


@triton.jit
def pick(ptr, x, limit):
    picked = x
    if x > limit:
        if x % 2 == 0:
            picked = tl.load(ptr)
        else:
            picked = -tl.load(ptr + 1)
    return picked


@triton.jit
def loads_by_element(x_ptr, table_ptr, out_ptr, limit, N: tl.constexpr):
    """Elements that do not take a side would load far outside of the table."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    at = tl.where(x > limit, x // 2 * 2 - limit, 1 << 28)
    tl.store(out_ptr + i, tl.map_elementwise(pick, table_ptr + at, x, limit))


@triton.jit
def flip_tile(x_ptr, out_ptr, ROWS: tl.constexpr, COLS: tl.constexpr, AXIS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(out_ptr + i, tl.flip(tl.load(x_ptr + i), AXIS))


@triton.jit
def divide_neighbors(x_ptr, y_ptr, out_ptr, steps, BLOCK: tl.constexpr):
    """Addresses with quotients and remainders of neighbors, some from a negative number on."""
    for i in range(0, steps):
        at = (tl.program_id(0) * steps + i) * BLOCK + tl.arange(0, BLOCK)
        rows = tl.load(x_ptr + at // 32 * 40 + at % 32)
        table = tl.load(y_ptr + at % 48)
        before = tl.load(y_ptr + (at - 64) % 32 + 32)
        odd = tl.load(y_ptr + at // 3 % 12)
        every = tl.load(y_ptr + at * 2 % 64)
        moved = tl.load(y_ptr + (at + 4) % 32)
        tl.store(out_ptr + at, rows * table + before * odd + every * moved)


@triton.jit
def lanes_in_runs(x_ptr, out_ptr, n, steps, BLOCK: tl.constexpr):
    """Addresses with quotients and remainders by less than a vector has lanes, also of numbers that
    may be negative or wrap."""
    for i in range(0, steps):
        at = (tl.program_id(0) * steps + i) * BLOCK + tl.arange(0, BLOCK)
        some = at < n
        sums = tl.load(x_ptr + at // 2) + tl.load(x_ptr + at // 4, mask=some, other=2)
        sums += tl.load(x_ptr + at % 2 * 128 + at // 2) * tl.load(x_ptr + at % 4)
        sums += tl.load(x_ptr + 3 - at % 4) + tl.load(x_ptr + at % 4 * 64 + at // 4)
        sums += tl.load(x_ptr + (at & 1) * 3 + (at >> 1)) + tl.load(x_ptr + (at - 5) // 2 + 3)
        sums += tl.load(x_ptr + (at.to(tl.uint8) + 200).to(tl.uint8).to(tl.int32) // 2)
        sums += tl.load(x_ptr + (7 + at * 3) % 8) + tl.load(x_ptr + at // 8 * 8 + (at ^ 1) % 8)
        sums += tl.load(x_ptr + at // 8 * 8 + 1, mask=some, other=1)
        sums += tl.load(x_ptr + at // 4 * 4 + 2, mask=some & (at % 5 < 2), other=2)
        tl.store(out_ptr + at, sums)
