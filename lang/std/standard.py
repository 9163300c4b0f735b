# tl.NAME: what the language can say itself: small helpers and sorting.  (Reductions, scans and what
# changes shapes are builtins: sema/value/builtins.h.)  Results follow Triton 3.6, also for NaN and
# narrow dtypes.  Beyond Triton: extents that are no powers of two, and sorting along any axis.
import triton
import triton.language as tl
from triton.language import target_info
from triton.language.extra import cuda
from nereid import basic, core

@triton.jit
def cdiv(x, div):
    """x / div rounded up, of non-negative integers."""
    return (x + (div - 1)) // div


@triton.jit
def sigmoid(x):
    return core.rcp(1.0 + tl.exp(-x))


@triton.jit
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """Softmax along `dim` (default 0).  Before Triton 3.9 keep_dims=False was right for rank 1 or
    dim 0 alone."""
    if dim is None:
        axis: tl.constexpr = 0
    else:
        axis: tl.constexpr = dim
    keep: tl.constexpr = True if core.TRITON_3_9 else keep_dims
    num = tl.exp(x - tl.max(x, axis, keep_dims=keep))
    return tl.fdiv(num, tl.sum(num, axis, keep_dims=keep), ieee_rounding)


@triton.jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Renumbers the cells of a row-major size_i x size_j grid so that each group of size_g rows is
    walked column by column."""
    ij = i * size_j + j
    size_gj = size_g * size_j
    first = ij // size_gj * size_g
    rows = tl.minimum(size_i - first, size_g)
    ij = ij % size_gj
    return first + ij % rows, ij // rows


@triton.jit
def _clock():
    """Nanoseconds, the same in all threads of the program: the latest that one of them reads."""
    return tl.max(tl.full([cuda.num_threads()], cuda.globaltimer(), tl.int64), 0)


@triton.jit
def atomic_poll(pointer, expected_value, sem=None, scope=None, timeout_ns=None):
    """Waits until each element has had its expected value, or for timeout_ns nanoseconds: whether
    each has."""
    dtype: tl.constexpr = pointer.dtype.element_ty
    tl.static_assert(dtype.is_int() and dtype.primitive_bitwidth >= 16,
                     f"atomic_poll takes integers of 16, 32 or 64 bits, not {dtype}")
    expected = tl.to_tensor(expected_value).to(dtype)
    seen = tl.atomic_load(pointer, sem=sem, scope=scope) == expected
    if timeout_ns is None:
        while basic.some(not seen):
            seen = seen | (tl.atomic_load(pointer, sem=sem, scope=scope) == expected)
    else:
        begin = _clock()
        while basic.some(not seen) & (_clock() - begin < timeout_ns):
            seen = seen | (tl.atomic_load(pointer, sem=sem, scope=scope) == expected)
    return seen


# ---- sorting: bitonic where the extent is a power of two, else by merge exchange ----


@triton.constexpr_function
def _log2_ceil(n):
    """log2(n), rounded up."""
    r = 0
    while 2**r < n:
        r += 1
    return r


@triton.constexpr_function
def _int_of_width(bits):
    return {1: tl.int1, 8: tl.int8, 16: tl.int16, 32: tl.int32, 64: tl.int64}[bits]


@triton.constexpr_function
def _product(numbers):
    p = 1
    for n in numbers:
        p *= n
    return p


@triton.constexpr_function
def _axis(dim, rank):
    """The axis that `dim` names: None is the last, a negative number counts from the end."""
    assert dim is None or (-rank <= dim and dim < rank), "the axis is out of range"
    return rank - 1 if dim is None else dim % rank


@triton.jit
def _index_along(shape, axis: tl.constexpr):
    """i32: 0, 1, ... along `axis`, of extent 1 on the others."""
    index = tl.arange(0, shape[axis])
    for d in tl.static_range(len(shape)):
        if d != axis:
            index = tl.expand_dims(index, d)
    return index


@triton.jit
def _compare_and_swap(x, dist: tl.constexpr, bit: tl.constexpr, order: tl.constexpr):
    """Orders each pair (i, i + dist) of x, of rank 1.  order 0: ascending; 1: descending; 2: by bit
    `bit` of i / (2 dist)."""
    pairs: tl.constexpr = x.numel // (2 * dist)
    h = tl.reshape(x, [pairs, 2, dist])
    dtype: tl.constexpr = _int_of_width(x.dtype.primitive_bitwidth)
    bits = h.to(dtype, bitcast=True)
    other = (bits ^ tl.xor_sum(bits, 1, keep_dims=True)).to(x.dtype, bitcast=True)
    is_right = tl.arange(0, 2)[None, :, None] != 0
    if order == 2:
        flip = ((tl.arange(0, pairs) >> bit) & 1)[:, None, None] != 0
        keep_larger = is_right ^ flip
    elif order == 1:
        keep_larger = tl.arange(0, 2)[None, :, None] == 0
    else:
        keep_larger = is_right
    return tl.reshape(tl.where((h > other) ^ keep_larger, other, h), [x.numel])


@triton.jit
def _merge(x, stage: tl.constexpr, order: tl.constexpr, inner: tl.constexpr):
    """Sorts each run of 2^stage, which is bitonic; `inner` elements apart.  Order 2: runs by turns
    ascending and descending."""
    for i in tl.static_range(stage):
        x = _compare_and_swap(x, inner * 2**(stage - 1 - i), i, order)
    return x


@triton.jit
def _bitonic(x, k: tl.constexpr, axis: tl.constexpr, descending: tl.constexpr):
    """The first k along `axis` of x in order; both are powers of two."""
    inner: tl.constexpr = _product(x.shape[axis + 1:])
    log_n: tl.constexpr = _log2_ceil(x.shape[axis])
    log_k: tl.constexpr = _log2_ceil(k)
    final: tl.constexpr = 1 if descending else 0
    h = tl.reshape(x, [x.numel])
    for i in tl.static_range(1, log_k + 1):
        h = _merge(h, i, 2 if i < log_n else final, inner)
    for i in tl.static_range(log_k + 1, log_n + 1):
        halves = tl.reshape(h, [h.numel // (2 * k * inner), 2, k * inner])
        if descending:
            h = tl.reshape(tl.max(halves, 1), [h.numel // 2])
        else:
            h = tl.reshape(tl.min(halves, 1), [h.numel // 2])
        h = _merge(h, log_k, 2 if i < log_n else final, inner)
    return tl.reshape(h, x.shape[:axis] + [k] + x.shape[axis + 1:])


# Sorting in registers: a thread has elements whose indices differ in some bits, and orders them by
# each of these bits without a word to others; for other bits threads exchange elements.  Tiles of
# elements that have the same bits are *parts*, and these bits their numbers.
_PART_BITS = tl.constexpr(4)


@triton.jit
def _split_all(x, bits: tl.constexpr):
    """x, [n, 2, .., 2], as 2^bits parts of n in the order of the last axes' numbers."""
    if bits == 0:
        return (x,)
    low, high = tl.split(x)
    a, b = _split_all(low, bits - 1), _split_all(high, bits - 1)
    parts = ()
    for i in tl.static_range(2**(bits - 1)):
        parts = parts + (a[i], b[i])
    return parts


@triton.jit
def _join_all(parts, bits: tl.constexpr):
    if bits == 0:
        return parts[0]
    a, b = (), ()
    for i in tl.static_range(2**(bits - 1)):
        a, b = a + (parts[2 * i],), b + (parts[2 * i + 1],)
    return tl.join(_join_all(a, bits - 1), _join_all(b, bits - 1))


@triton.jit
def _parts_of(x, lo: tl.constexpr, bits: tl.constexpr):
    """x, of rank 1, as parts: bits lo .. lo + bits of an element's index are its part's number.
    The lowest bits come first, so that lanes that exchange meet at few banks."""
    n: tl.constexpr = x.shape[0]
    low: tl.constexpr = min(lo, _PART_BITS)
    h = tl.reshape(x, [n // 2**(lo + bits), 2**bits, 2**(lo - low), 2**low])
    h = tl.permute(h, [0, 3, 2, 1])
    return _split_all(tl.reshape(h, [n // 2**bits] + [2] * bits), bits)


@triton.jit
def _of_parts(parts, lo: tl.constexpr, bits: tl.constexpr):
    n: tl.constexpr = parts[0].shape[0] * 2**bits
    low: tl.constexpr = min(lo, _PART_BITS)
    h = tl.reshape(_join_all(parts, bits), [n // 2**(lo + bits), 2**low, 2**(lo - low), 2**bits])
    return tl.reshape(tl.permute(h, [0, 3, 2, 1]), [n])


@triton.jit
def _order_pair(parts, i: tl.constexpr, j: tl.constexpr, descending: tl.constexpr):
    a, b = parts[i], parts[j]
    swap = a < b if descending else a > b
    low, high = tl.where(swap, b, a), tl.where(swap, a, b)
    return parts[:i] + (low,) + parts[i + 1:j] + (high,) + parts[j + 1:]


@triton.jit
def _order_by_bit(parts, bit: tl.constexpr, descending: tl.constexpr):
    """Orders pairs of parts whose numbers differ in a bit."""
    for i in tl.static_range(len(parts)):
        if (i >> bit) & 1 == 0:
            parts = _order_pair(parts, i, i + 2**bit, descending)
    return parts


@triton.jit
def _sort_parts(parts, bits: tl.constexpr, descending: tl.constexpr):
    """Batcher's odd-even merge sort (Knuth, 5.3.4)."""
    for run in tl.static_range(bits):
        for step in tl.static_range(run + 1):
            k: tl.constexpr = 2**(run - step)
            first: tl.constexpr = 0 if step == 0 else k
            for i in tl.static_range(first, 2**bits - k):
                if (i - first) % (2 * k) < k and i >> (run + 1) == (i + k) >> (run + 1):
                    parts = _order_pair(parts, i, i + k, descending)
    return parts


@triton.jit
def _turn(parts, bit):
    """Turns the order of elements where `bit` is 1, not 0."""
    mask = -bit.to(parts[0].dtype)
    turned = ()
    for i in tl.static_range(len(parts)):
        turned = turned + (parts[i] ^ mask,)
    return turned


@triton.jit
def _merge_bits(x, lo: tl.constexpr, bits: tl.constexpr, count, descending: tl.constexpr):
    """The steps of a merge for the lowest `count` of the bits from lo on."""
    parts = _parts_of(x, lo, bits)
    for i in tl.static_range(bits):
        if count >= bits - i:
            parts = _order_by_bit(parts, bits - 1 - i, descending)
    return _of_parts(parts, lo, bits)


@triton.jit
def _sort_rows(x, log_n: tl.constexpr, descending: tl.constexpr):
    """Rows of 2^log_n integers of x, of rank 1, in order, by a bitonic network.  Runs that are to
    be in the other order are turned before it; loops keep the code short."""
    bits: tl.constexpr = _PART_BITS
    parts = _parts_of(x, 0, bits)
    at = tl.arange(0, parts[0].shape[0]) & (2**(log_n - bits) - 1)
    parts = _sort_parts(_turn(parts, at & 1), bits, descending)
    parts = _turn(parts, (at ^ (at >> 1)) & 1)
    for group in tl.static_range(1, (log_n + bits - 1) // bits):
        lo: tl.constexpr = group * bits
        above: tl.constexpr = min(bits, log_n - lo)
        for run in range(lo + 1, lo + above + 1):
            x = _of_parts(parts, 0, bits)
            x = _merge_bits(x, lo, above, run - lo, descending)
            for below in tl.static_range(1, group):
                x = _merge_bits(x, lo - below * bits, bits, bits, descending)
            parts = _parts_of(x, 0, bits)
            for i in tl.static_range(bits):
                parts = _order_by_bit(parts, bits - 1 - i, descending)
            now = at >> (run - bits)
            parts = _turn(parts, (now ^ (now >> 1)) & 1)
    return _of_parts(parts, 0, bits)


@triton.constexpr_function
def _sorts_in_registers(shape, axis, count, dtype):
    """Has a GPU's thread 16 numbers, of rows beside each other?  On a CPU, too, this tells of what
    floats' order is; C compilers take long for the text, which is no faster."""
    n = shape[axis]
    return (axis == len(shape) - 1 and dtype.primitive_bitwidth >= 16 and n & (n - 1) == 0 and
            count == n and n >= 2**_PART_BITS and _product(shape) >= 1024)


@triton.jit
def _turn_negative(bits):
    """Bits of floats as integers in their order, and such integers as bits."""
    dtype: tl.constexpr = bits.dtype
    width: tl.constexpr = dtype.primitive_bitwidth
    return bits ^ ((bits >> (width - 1)) & (2**(width - 1) - 1))


@triton.jit
def _sort_floats(x, k: tl.constexpr, dim: tl.constexpr, descending: tl.constexpr):
    """Sorts floats as integers.  NaN is above all numbers, and -0.0 is less than 0.0."""
    dtype: tl.constexpr = _int_of_width(x.dtype.primitive_bitwidth)
    most: tl.constexpr = 2**(x.dtype.primitive_bitwidth - 1) - 1
    keys = tl.where(x == x, _turn_negative(x.to(dtype, bitcast=True)), most)
    return _turn_negative(_sort(keys, k, dim, descending)).to(x.dtype, bitcast=True)


@triton.jit
def _exchange(x, axis: tl.constexpr, p: tl.constexpr, r: tl.constexpr, d: tl.constexpr,
              descending: tl.constexpr):
    """Orders the pairs (i, i + d) along axis with i & p == r that lie within the extent."""
    n: tl.constexpr = x.shape[axis]
    i = _index_along(x.shape, axis)
    low = ((i & p) == r) & (i < n - d)
    high = (i >= d) & (((i - d) & p) == r)
    partner = tl.where(low, i + d, tl.where(high, i - d, i))
    other = tl.gather(x, tl.broadcast_to(partner, x.shape), axis)
    if descending:
        swap = (low & (x < other)) | (high & (other < x))
    else:
        swap = (low & (x > other)) | (high & (other > x))
    return tl.where(swap, other, x)


@triton.jit
def _merge_exchange(x, axis: tl.constexpr, descending: tl.constexpr):
    """Batcher's merge exchange (Knuth, 5.2.2 M), which sorts any number of elements."""
    t: tl.constexpr = _log2_ceil(x.shape[axis])
    for i in tl.static_range(t):
        for j in tl.static_range(i + 1):
            if j == 0:
                x = _exchange(x, axis, 2**(t - 1 - i), 0, 2**(t - 1 - i), descending)
            else:
                x = _exchange(x, axis, 2**(t - 1 - i), 2**(t - 1 - i),
                              2**(t - j) - 2**(t - 1 - i), descending)
    return x


@triton.jit
def _take_first(x, k: tl.constexpr, axis: tl.constexpr):
    """x[.., :k, ..]"""
    shape: tl.constexpr = x.shape[:axis] + [k] + x.shape[axis + 1:]
    return tl.gather(x, tl.broadcast_to(_index_along(shape, axis), shape), axis)


@triton.jit
def _sort(x, k: tl.constexpr, dim: tl.constexpr, descending: tl.constexpr):
    axis: tl.constexpr = _axis(dim, len(x.shape))
    n: tl.constexpr = x.shape[axis]
    count: tl.constexpr = n if k is None else k
    tl.static_assert(count >= 1 and count <= n, "topk: k must be from 1 to the extent of the axis")
    registers: tl.constexpr = _sorts_in_registers(x.shape, axis, count, x.dtype)
    if registers and x.dtype.is_floating():
        return _sort_floats(x, k, dim, descending)
    elif registers and target_info.is_cuda():
        rows = _sort_rows(tl.reshape(x, [x.numel]), _log2_ceil(n), descending)
        return tl.reshape(rows, x.shape)
    elif (n & (n - 1)) == 0 and (count & (count - 1)) == 0:
        return _bitonic(x, count, axis, descending)
    elif count == n:
        return _merge_exchange(x, axis, descending)
    else:
        return _take_first(_merge_exchange(x, axis, descending), count, axis)


@triton.jit
def sort(x, dim: tl.constexpr = None, descending: tl.constexpr = False):
    """x sorted along `dim` (default: the last)."""
    return _sort(x, None, dim, descending)


@triton.jit
def topk(x, k: tl.constexpr, dim: tl.constexpr = None, descending: tl.constexpr = True):
    """The k largest along `dim`, largest first, or the k smallest, smallest first."""
    return _sort(x, k, dim, descending)


@triton.jit
def bitonic_merge(x, dim: tl.constexpr = None, descending: tl.constexpr = False):
    """Sorts x along `dim` where it is bitonic there (rises, then falls, or the other way round)."""
    axis: tl.constexpr = _axis(dim, len(x.shape))
    n: tl.constexpr = x.shape[axis]
    tl.static_assert((n & (n - 1)) == 0,
                     "bitonic_merge: the extent must be a power of two; use tl.sort for others")
    h = _merge(tl.reshape(x, [x.numel]), _log2_ceil(n), 1 if descending else 0,
               _product(x.shape[axis + 1:]))
    return tl.reshape(h, x.shape)


@triton.constexpr_function
def _swapped(rank, a, b):
    """The axes of a tile, a and b in each other's place."""
    axes = list(range(rank))
    axes[a] = b
    axes[b] = a
    return axes


@triton.jit
def flip(x, dim: tl.constexpr = None):
    """x in reverse order along `dim` (default: the last)."""
    last: tl.constexpr = len(x.shape) - 1
    order: tl.constexpr = _swapped(len(x.shape), _axis(dim, len(x.shape)), last)
    return tl.permute(tl.permute(x, order)[..., ::-1], order)
