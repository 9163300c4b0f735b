"""Loops over numbers: fractals, random trials, transforms, bit tricks, integers of every kind."""
import triton
import triton.language as tl
from triton.language import core


@triton.jit
def mandelbrot(out_ptr, width, height, limit, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cx = (i % width) * (3.0 / width) - 2.0
    cy = (i // width) * (2.0 / height) - 1.0
    x, y = tl.zeros((BLOCK, ), tl.float32), tl.zeros((BLOCK, ), tl.float32)
    steps = tl.zeros((BLOCK, ), tl.int32)
    step = 0
    busy = i < width * height
    while (tl.max(busy.to(tl.int32), axis=0) > 0) & (step < limit):
        x2, y2 = x * x, y * y
        busy = busy & (x2 + y2 <= 4.0)
        steps += busy.to(tl.int32)
        x, y = tl.where(busy, x2 - y2 + cx, x), tl.where(busy, 2 * x * y + cy, y)
        step += 1
    tl.store(out_ptr + i, steps, mask=i < width * height)


@triton.jit
def monte_carlo_pi(hits_ptr, seed, trials, BLOCK: tl.constexpr):
    hits = tl.zeros((BLOCK, ), tl.int32)
    for start in range(0, trials, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x, y, _, _ = tl.rand4x(seed + tl.program_id(0), i)
        hits += ((x * x + y * y < 1.0) & (i < trials)).to(tl.int32)
    tl.atomic_add(hits_ptr, tl.sum(hits, axis=0))


@triton.jit
def fft_step(re_ptr, im_ptr, out_re_ptr, out_im_ptr, n, span, BLOCK: tl.constexpr):
    """One radix-2 step of Stockham's transform: pairs at a distance of n / 2."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n // 2
    a_re, a_im = tl.load(re_ptr + i, mask=inside), tl.load(im_ptr + i, mask=inside)
    b_re = tl.load(re_ptr + i + n // 2, mask=inside)
    b_im = tl.load(im_ptr + i + n // 2, mask=inside)
    k = i % span
    angle = k * (-3.141592653589793 / span)
    cos, sin = tl.cos(angle), tl.sin(angle)
    t_re, t_im = b_re * cos - b_im * sin, b_re * sin + b_im * cos
    to = (i - k) * 2 + k
    tl.store(out_re_ptr + to, a_re + t_re, mask=inside)
    tl.store(out_im_ptr + to, a_im + t_im, mask=inside)
    tl.store(out_re_ptr + to + span, a_re - t_re, mask=inside)
    tl.store(out_im_ptr + to + span, a_im - t_im, mask=inside)


@triton.jit
def fft_whole(re_ptr, im_ptr, out_re_ptr, out_im_ptr, N: tl.constexpr, STEPS: tl.constexpr):
    """All radix-2 steps of one transform, whose halves are taken apart and joined in registers."""
    i = tl.arange(0, N)
    re, im = tl.load(re_ptr + i), tl.load(im_ptr + i)
    for step in tl.static_range(STEPS):
        SPAN: tl.constexpr = 1 << step
        a_re, b_re = tl.split(tl.trans(tl.reshape(re, (2, N // 2))))
        a_im, b_im = tl.split(tl.trans(tl.reshape(im, (2, N // 2))))
        first = tl.arange(0, N // 2) // SPAN * SPAN
        angle = first * (-2 * 3.141592653589793 / N)
        cos, sin = tl.cos(angle), tl.sin(angle)
        d_re, d_im = a_re - b_re, a_im - b_im
        t_re, t_im = d_re * cos - d_im * sin, d_re * sin + d_im * cos
        re = tl.join(tl.reshape(a_re + b_re, (N // 2 // SPAN, SPAN)),
                     tl.reshape(t_re, (N // 2 // SPAN, SPAN)))
        im = tl.join(tl.reshape(a_im + b_im, (N // 2 // SPAN, SPAN)),
                     tl.reshape(t_im, (N // 2 // SPAN, SPAN)))
        re = tl.reshape(tl.permute(re, (0, 2, 1)), (N, ))
        im = tl.reshape(tl.permute(im, (0, 2, 1)), (N, ))
    tl.store(out_re_ptr + i, re)
    tl.store(out_im_ptr + i, im)


@triton.jit
def complex_multiply(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Interleaved complex numbers, taken apart and put together in registers."""
    i = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    x = tl.load(x_ptr + i, mask=i < 2 * n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < 2 * n, other=0.0)
    a, b = tl.split(tl.reshape(x, (BLOCK, 2)))
    c, d = tl.split(tl.reshape(y, (BLOCK, 2)))
    tl.store(out_ptr + i, tl.interleave(a * c - b * d, a * d + b * c), mask=i < 2 * n)


@triton.jit
def crc32(x_ptr, out_ptr, length, n, BLOCK: tl.constexpr):
    """The checksum of each of n strings of bytes, bit by bit."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    crc = tl.full((BLOCK, ), 0xFFFFFFFF, tl.uint32)
    for at in range(length):
        crc ^= tl.load(x_ptr + i * length + at, mask=i < n, other=0).to(tl.uint32)
        for _ in tl.static_range(8):
            low = crc & 1
            crc = (crc >> 1) ^ (low * 0xEDB88320).to(tl.uint32)
    tl.store(out_ptr + i, crc ^ 0xFFFFFFFF, mask=i < n)


@triton.jit
def bit_tricks(x_ptr, ones_ptr, reversed_ptr, power_ptr, gray_ptr, high_ptr, n,
               BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    c = x - ((x >> 1) & 0x55555555)
    c = (c & 0x33333333) + ((c >> 2) & 0x33333333)
    tl.store(ones_ptr + i, (((c + (c >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24, mask=i < n)
    r = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1)
    r = ((r >> 2) & 0x33333333) | ((r & 0x33333333) << 2)
    r = ((r >> 4) & 0x0F0F0F0F) | ((r & 0x0F0F0F0F) << 4)
    r = ((r >> 8) & 0x00FF00FF) | ((r & 0x00FF00FF) << 8)
    tl.store(reversed_ptr + i, (r >> 16) | (r << 16), mask=i < n)
    p = x - 1
    for shift in tl.static_range(5):
        p |= p >> (1 << shift)
    tl.store(power_ptr + i, p + 1, mask=i < n)
    tl.store(gray_ptr + i, x ^ (x >> 1), mask=i < n)
    tl.store(high_ptr + i, tl.umulhi(x, x), mask=i < n)


@triton.jit
def integer_ops(x_ptr, y_ptr, div_ptr, rem_ptr, shl_ptr, shr_ptr, mul_ptr, less_ptr, n,
                BLOCK: tl.constexpr):
    """Division rounds towards zero; right shifts keep the sign of signed types."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i, mask=i < n, other=1)
    tl.store(div_ptr + i, x // y, mask=i < n)
    tl.store(rem_ptr + i, x % y, mask=i < n)
    shift = y & 7
    tl.store(shl_ptr + i, x << shift, mask=i < n)
    tl.store(shr_ptr + i, x >> shift, mask=i < n)
    tl.store(mul_ptr + i, x * y - x, mask=i < n)
    tl.store(less_ptr + i, (x < y) | (x == y), mask=i < n)


@triton.jit
def gcd(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A while loop a block: lanes that are done wait for the rest."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    y = tl.load(y_ptr + i, mask=i < n, other=0)
    while tl.max(y, axis=0) > 0:
        rest = x % tl.where(y == 0, 1, y)
        x, y = tl.where(y == 0, x, y), tl.where(y == 0, 0, rest)
    tl.store(out_ptr + i, x, mask=i < n)


@triton.jit
def collatz(n_ptr, steps_ptr):
    """A scalar loop with an early return: one number a program."""
    x = tl.load(n_ptr + tl.program_id(0)).to(tl.int64)
    if x < 1:
        tl.store(steps_ptr + tl.program_id(0), -1)
        return
    steps = 0
    while x != 1:
        x = 3 * x + 1 if x % 2 == 1 else x // 2
        steps += 1
    tl.store(steps_ptr + tl.program_id(0), steps)


@triton.jit
def csr_matvec(row_ptr, column_ptr, value_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    """A sparse row a program, by a while loop over its entries."""
    row = tl.program_id(0)
    at, last = tl.load(row_ptr + row), tl.load(row_ptr + row + 1)
    acc = tl.zeros((BLOCK, ), tl.float32)
    while at < last:
        i = at + tl.arange(0, BLOCK)
        column = tl.load(column_ptr + i, mask=i < last, other=0)
        value = tl.load(value_ptr + i, mask=i < last, other=0.0)
        acc += value * tl.load(x_ptr + column, mask=i < last, other=0.0)
        at += BLOCK
    tl.store(y_ptr + row, tl.sum(acc, axis=0))


@triton.jit
def block_sparse_matmul(first_ptr, column_ptr, block_ptr, x_ptr, y_ptr, cols, SIZE: tl.constexpr,
                        BLOCK_N: tl.constexpr):
    """y = A x for a matrix A of SIZE x SIZE blocks, of which only some are stored, by rows."""
    row = tl.program_id(0)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    i = tl.arange(0, SIZE)
    acc = tl.zeros((SIZE, BLOCK_N), tl.float32)
    for b in range(tl.load(first_ptr + row), tl.load(first_ptr + row + 1)):
        a = tl.load(block_ptr + b * SIZE * SIZE + i[:, None] * SIZE + i[None, :])
        k = tl.load(column_ptr + b) * SIZE + i
        x = tl.load(x_ptr + k[:, None] * cols + n[None, :], mask=n[None, :] < cols, other=0.0)
        acc = tl.dot(a, x, acc)
    out = y_ptr + (row * SIZE + i[:, None]) * cols + n[None, :]
    tl.store(out, acc, mask=n[None, :] < cols)


@triton.jit
def nothing(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Loops and masks that n = 0 leaves empty; the sum of nothing is zero."""
    total = tl.zeros((BLOCK, ), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(total, axis=0))
    tl.store(out_ptr + 1 + tl.arange(0, BLOCK), total, mask=tl.arange(0, BLOCK) < n)


@triton.jit
def long_chain(out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """Positions through more ops than any recursion has room for."""
    i = tl.arange(0, BLOCK)
    x, masked = i, i >= 0
    for k in tl.static_range(STEPS):
        x = x * x + (tl.program_id(0) ^ k)
        masked = masked & (i != k * 2)
    for _ in tl.static_range(STEPS):
        x = tl.multiple_of(x, 1)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + i, x, mask=masked)


@triton.jit
def hinted_chain(out_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """The same with a hint at each step."""
    i = tl.arange(0, BLOCK)
    x = i // n
    for k in tl.static_range(STEPS):
        x = tl.max_constancy(x * x + k, 2)
    tl.store(out_ptr + i, x)


@triton.jit
def wrapping_chain(out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """A sum of digits whose factors outgrow 64 bits."""
    i = tl.arange(0, BLOCK)
    x = i
    for k in tl.static_range(STEPS):
        x = x * 3 + k
    tl.store(out_ptr + i, x)


@triton.jit
def turned_chain(out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """Each step wants the one before it in both orders of its axes."""
    i = tl.arange(0, BLOCK)
    x = i[:, None] * 3 + i[None, :]
    for _ in tl.static_range(STEPS):
        x = x * 2 + tl.trans(x)
    tl.store(out_ptr + i[:, None] * BLOCK + i[None, :], x)


@triton.jit
def single(x_ptr, out_ptr):
    """Tiles of one element through every kind of op."""
    one = tl.arange(0, 1)
    x = tl.load(x_ptr + one)
    grid = x[:, None] + tl.zeros((1, 1), tl.float32)
    y = tl.sum(grid, axis=1) + tl.cumsum(x, axis=0) + tl.sort(x) + tl.max(tl.trans(grid), axis=0)
    tl.store(out_ptr + one, tl.reshape(y, (1, )))


@triton.jit
def extrema_of_negations(x_ptr, out_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    """Minima and maxima of three and more numbers, some of them negated in one way or another."""
    i = tl.arange(0, N)
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i[:, None] * BLOCK + j[None, :])
    a, b, c = tl.load(x_ptr + j), tl.load(x_ptr + BLOCK + j), tl.load(x_ptr + 2 * BLOCK + j)
    tl.store(out_ptr + j, tl.maximum(a, tl.maximum(b, -c)))
    tl.store(out_ptr + BLOCK + j, tl.minimum(tl.minimum(-a, 0 - b), c * -1))
    tl.store(out_ptr + 2 * BLOCK + j, tl.max(-x, axis=0))
    tl.store(out_ptr + 3 * BLOCK + j, tl.min(-(x + 1), axis=0))
    tl.store(out_ptr + 4 * BLOCK + j, tl.maximum(tl.maximum(a, -(b * c)), ~b))
    tl.store(out_ptr + 5 * BLOCK + j, tl.maximum(-tl.max(-x, axis=0), tl.minimum(-a, -b)))


@core.extern
def sine(x, _semantic=None):
    return core.extern_elementwise(
        "libdevice", "", [x], {
            (core.dtype("fp32"),): ("__nv_sinf", core.dtype("fp32")),
            (core.dtype("fp64"),): ("__nv_sin", core.dtype("fp64")),
        }, is_pure=True, _semantic=_semantic)


@core.extern
def leading_zeros(x, _semantic=None):
    return tl.core.extern_elementwise(
        "", "", [x], {
            (core.dtype("int32"),): ("__nv_clz", core.dtype("int32")),
            (core.dtype("int64"),): ("__nv_clzll", core.dtype("int32")),
        }, is_pure=True, _semantic=_semantic)


@core.extern
def power(x, n, _semantic=None):
    return core.extern_elementwise(
        "", "", [x, n], {
            (core.dtype("fp32"), core.dtype("int32")): ("__nv_powif", core.dtype("fp32")),
        }, is_pure=True, _semantic=_semantic)


@triton.jit
def by_symbol(x_ptr, sine_ptr, zeros_ptr, power_ptr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    """Functions of libdevice, called by their symbols."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(sine_ptr + i, sine(x.to(tl.float64)) if WIDE else sine(x))
    tl.store(zeros_ptr + i, leading_zeros((x * 100).to(tl.int64 if WIDE else tl.int32)))
    tl.store(power_ptr + i, power(x, 3))


@triton.jit
def divide_by_constant(x_ptr, quotient_ptr, rest_ptr, n, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(quotient_ptr + i, x // D, mask=i < n)
    tl.store(rest_ptr + i, x % D, mask=i < n)


@triton.jit
def convert_to_all(x_ptr, i8_ptr, i16_ptr, i32_ptr, i64_ptr, u8_ptr, u16_ptr, u32_ptr, u64_ptr,
                   f32_ptr, f64_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(i8_ptr + i, x.to(tl.int8), mask=i < n)
    tl.store(i16_ptr + i, x.to(tl.int16), mask=i < n)
    tl.store(i32_ptr + i, x.to(tl.int32), mask=i < n)
    tl.store(i64_ptr + i, x.to(tl.int64), mask=i < n)
    tl.store(u8_ptr + i, x.to(tl.uint8), mask=i < n)
    tl.store(u16_ptr + i, x.to(tl.uint16), mask=i < n)
    tl.store(u32_ptr + i, x.to(tl.uint32), mask=i < n)
    tl.store(u64_ptr + i, x.to(tl.uint64), mask=i < n)
    tl.store(f32_ptr + i, x.to(tl.float32), mask=i < n)
    tl.store(f64_ptr + i, x.to(tl.float64), mask=i < n)


@triton.jit
def short_integers(x_ptr, y_ptr, less_ptr, low_ptr, high_ptr, left_ptr, right_ptr, chosen_ptr, n,
                   BLOCK: tl.constexpr):
    """What short integers have helpers of their own for; shifts by up to 7 bits."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i, mask=i < n), tl.load(y_ptr + i, mask=i < n)
    tl.store(less_ptr + i, (x < y).to(tl.int8), mask=i < n)
    tl.store(low_ptr + i, tl.minimum(x, y), mask=i < n)
    tl.store(high_ptr + i, tl.maximum(x, y), mask=i < n)
    tl.store(left_ptr + i, x << (y & 7), mask=i < n)
    tl.store(right_ptr + i, x >> (y & 7), mask=i < n)
    tl.store(chosen_ptr + i, tl.where(x == y, x, tl.where(i % 3 == 0, y, x + y)), mask=i < n)
