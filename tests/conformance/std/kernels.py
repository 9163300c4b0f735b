"""Kernels of language.py: the functions of the language that reduce, scan, sort, rearrange
and make random numbers, each on whole tiles."""
import triton
import triton.language as tl


@triton.jit
def index(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


# ---- sorting ----


@triton.jit
def sorts(x_ptr, up_ptr, down_ptr, flip_ptr, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr):
    i = index(M, N)
    x = tl.load(x_ptr + i)
    tl.store(up_ptr + i, tl.sort(x, DIM))
    tl.store(down_ptr + i, tl.sort(x, dim=DIM, descending=True))
    tl.store(flip_ptr + i, tl.flip(x, DIM))


@triton.jit
def sort_rank3(x_ptr, out_ptr, L: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, L)[:, None, None] * (M * N) + index(M, N)[None, :, :]
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i)))


@triton.jit
def topk(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tl.store(out_ptr + index(M, K), tl.topk(tl.load(x_ptr + index(M, N)), K))


@triton.jit
def merge(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.bitonic_merge(tl.load(x_ptr + i)))


# ---- reductions ----


@triton.jit
def sums(x_ptr, sum_ptr, keep_ptr, all_ptr, xor_ptr, or_ptr, M: tl.constexpr, N: tl.constexpr,
         AXIS: tl.constexpr):
    x = tl.load(x_ptr + index(M, N))
    j = tl.arange(0, M if AXIS == 1 else N)
    tl.store(sum_ptr + j, tl.sum(x, AXIS))
    keep = tl.sum(x, AXIS, keep_dims=True)
    tl.store(keep_ptr + index(M, N), x * 0 + keep)
    tl.store(all_ptr, tl.sum(x))
    tl.store(xor_ptr + j, tl.xor_sum(x, axis=AXIS))
    tl.store(or_ptr + j, tl.reduce_or(x, AXIS))


@triton.jit
def extremes(x_ptr, max_ptr, min_ptr, all_ptr, M: tl.constexpr, N: tl.constexpr,
             AXIS: tl.constexpr):
    x = tl.load(x_ptr + index(M, N))
    j = tl.arange(0, M if AXIS == 1 else N)
    tl.store(max_ptr + j, tl.max(x, AXIS))
    tl.store(min_ptr + j, x.min(axis=AXIS))
    tl.store(all_ptr, tl.max(x) - tl.min(x))


@triton.jit
def places(x_ptr, argmax_ptr, argmin_ptr, max_ptr, at_ptr, M: tl.constexpr, N: tl.constexpr,
           AXIS: tl.constexpr):
    x = tl.load(x_ptr + index(M, N))
    j = tl.arange(0, M if AXIS == 1 else N)
    tl.store(argmax_ptr + j, tl.argmax(x, AXIS))
    tl.store(argmin_ptr + j, tl.argmin(x, AXIS, tie_break_left=True))
    value, at = tl.max(x, AXIS, return_indices=True)
    tl.store(max_ptr + j, value)
    tl.store(at_ptr + j, at)


@triton.jit
def any_place(x_ptr, max_ptr, min_ptr, M: tl.constexpr, N: tl.constexpr):
    """Of equal values any may be named: what is stored is the value there."""
    i = index(M, N)
    x = tl.load(x_ptr + i)
    j = tl.arange(0, M)
    high = tl.argmax(x, 1, tie_break_left=False, keep_dims=True)
    low, at = tl.min(x, 1, return_indices=True, return_indices_tie_break_left=False)
    tl.store(max_ptr + j, tl.sum(tl.gather(x, high, 1), 1))
    tl.store(min_ptr + j, tl.where(low == tl.sum(tl.gather(x, at[:, None], 1), 1), low, -1000))


@triton.jit
def first_longest(a_value, a_from, a_to, b_value, b_from, b_to):
    """The pair of ranges (value, from, to) put together; not commutative."""
    return a_value * b_value, a_from, b_to


@triton.jit
def reduces(x_ptr, product_ptr, ends_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + index(M, N))
    i = index(M, N)
    product, first, last = tl.reduce((x, i, i), 1, first_longest)
    j = tl.arange(0, M)
    tl.store(product_ptr + j, product)
    tl.store(ends_ptr + j, first * 1000 + last)


# ---- scans ----


@triton.jit
def cumulates(x_ptr, sum_ptr, back_ptr, product_ptr, M: tl.constexpr, N: tl.constexpr,
              AXIS: tl.constexpr):
    i = index(M, N)
    x = tl.load(x_ptr + i)
    tl.store(sum_ptr + i, tl.cumsum(x, AXIS))
    tl.store(back_ptr + i, tl.cumsum(x, axis=AXIS, reverse=True))
    tl.store(product_ptr + i, tl.cumprod(x, AXIS))


@triton.jit
def linear(a1, b1, a2, b2):
    """x -> a1 x + b1, then x -> a2 x + b2."""
    return a2 * a1, a2 * b1 + b2


@triton.jit
def recurrence(a_ptr, b_ptr, out_ptr, back_ptr, M: tl.constexpr, N: tl.constexpr,
               AXIS: tl.constexpr):
    i = index(M, N)
    a, b = tl.load(a_ptr + i), tl.load(b_ptr + i)
    _, forth = tl.associative_scan((a, b), AXIS, linear)
    _, back = tl.associative_scan((a, b), AXIS, linear, reverse=True)
    tl.store(out_ptr + i, forth)
    tl.store(back_ptr + i, back)


@triton.jit
def counts(x_ptr, out_ptr, masked_ptr, N: tl.constexpr, BINS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    bins = tl.arange(0, BINS)
    tl.store(out_ptr + bins, tl.histogram(x, BINS))
    tl.store(masked_ptr + bins, tl.histogram(x, BINS, mask=tl.arange(0, N) % 3 != 0))


# ---- shapes, small functions ----


@triton.jit
def softmaxes(x_ptr, row_ptr, column_ptr, sigmoid_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(row_ptr + tl.arange(0, N), tl.softmax(x))
    i = index(M, N)
    y = tl.load(x_ptr + i)
    tl.store(column_ptr + i, tl.softmax(y, dim=1, keep_dims=True))
    tl.store(sigmoid_ptr + i, tl.sigmoid(y))


@triton.jit
def shapes(x_ptr, y_ptr, ravel_ptr, interleave_ptr, split_ptr, zeros_ptr, swizzle_ptr,
           M: tl.constexpr, N: tl.constexpr):
    i = index(M, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(ravel_ptr + tl.arange(0, M * N), tl.ravel(tl.trans(x)))
    both = tl.interleave(x, y)
    tl.store(interleave_ptr + index(M, 2 * N), both)
    even, odd = tl.split(tl.reshape(both, (M, N, 2)))
    tl.store(split_ptr + i, even - odd)
    tl.store(zeros_ptr + i, tl.zeros_like(x))
    a, b = tl.swizzle2d(tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], M, N, 2)
    tl.store(swizzle_ptr + a * N + b, i)


@triton.jit
def halves(x, y):
    return (x + y) // 2, x if x > y else y


@triton.jit
def elementwise(x_ptr, y_ptr, mean_ptr, larger_ptr, cdiv_ptr, clamp_ptr, high_ptr, fma_ptr,
                N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    mean, larger = tl.map_elementwise(halves, x, y)
    tl.store(mean_ptr + i, mean)
    tl.store(larger_ptr + i, larger)
    tl.store(cdiv_ptr + i, tl.cdiv(x & 0xFFFF, (y & 7) + 1))
    tl.store(clamp_ptr + i, tl.clamp(x.to(tl.float32), -100.0, 1000.0))
    tl.store(high_ptr + i, tl.umulhi(x.to(tl.uint32, bitcast=True), y.to(tl.uint32, bitcast=True)))
    tl.store(fma_ptr + i, tl.fma(x.to(tl.float32), y.to(tl.float32), 0.5))


# ---- random numbers ----


@triton.jit
def randoms(offset_ptr, int_ptr, int4_ptr, seven_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    offset = tl.load(offset_ptr + i)
    tl.store(int_ptr + i, tl.randint(seed, offset))
    a, b, c, d = tl.randint4x(seed, offset)
    tl.store(int4_ptr + i, a)
    tl.store(int4_ptr + N + i, b)
    tl.store(int4_ptr + 2 * N + i, c)
    tl.store(int4_ptr + 3 * N + i, d)
    tl.store(seven_ptr + i, tl.randint(seed, offset, n_rounds=7))


@triton.jit
def uniforms(offset_ptr, one_ptr, four_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    offset = tl.load(offset_ptr + i)
    tl.store(one_ptr + i, tl.rand(seed, offset))
    a, b, c, d = tl.rand4x(seed, offset)
    tl.store(four_ptr + i, a)
    tl.store(four_ptr + N + i, b)
    tl.store(four_ptr + 2 * N + i, c)
    tl.store(four_ptr + 3 * N + i, d)


@triton.jit
def normals(offset_ptr, one_ptr, four_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    offset = tl.load(offset_ptr + i)
    tl.store(one_ptr + i, tl.randn(seed, offset))
    a, b, c, d = tl.randn4x(seed, offset)
    tl.store(four_ptr + i, a)
    tl.store(four_ptr + N + i, b)
    tl.store(four_ptr + 2 * N + i, c)
    tl.store(four_ptr + 3 * N + i, d)


@triton.jit
def philox_words(c0_ptr, c1_ptr, out_ptr, uniform_ptr, seed, N: tl.constexpr):
    """Counters of the pointers' dtype, which has 32 or 64 bits."""
    i = tl.arange(0, N)
    c0, c1 = tl.load(c0_ptr + i), tl.load(c1_ptr + i)
    a, b, c, d = tl.philox(seed, c0, c1, c0 + c1, c1 * 0)
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)
    tl.store(out_ptr + 2 * N + i, c)
    tl.store(out_ptr + 3 * N + i, d)
    tl.store(uniform_ptr + i, tl.uint_to_uniform_float(a))
