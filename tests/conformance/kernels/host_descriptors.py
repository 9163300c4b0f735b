"""Tensor descriptors that the host passes, and what both kinds of descriptor do beyond loads."""
import triton
import triton.language as tl


@triton.jit
def block_at(desc, row, col):
    """Of a descriptor alone, or of the first of a pair."""
    if isinstance(desc, tl.tensor_descriptor):
        return desc.load([row, col])
    return desc[0].load([row, col])


@triton.jit
def shift(d, e, row, col):
    """e[i, j] = d[i + row, j + col] + 1, a block a program."""
    tl.static_assert(d.block_shape == e.block_shape and d.type == e.type)
    tl.static_assert(d.shape[0].dtype == tl.int32 and d.strides[0].dtype == tl.int64)
    i, j = tl.program_id(0) * d.block_shape[0], tl.program_id(1) * d.block_shape[1]
    v = block_at((d, e), i + row, j + col)
    tl.store_tensor_descriptor(e, [i, j], v + 1)


@triton.jit
def older(d, e, M: tl.constexpr, N: tl.constexpr):
    """The names and the order of arguments that Triton had before 3.4."""
    f = tl._experimental_reinterpret_tensor_descriptor(e, [M, N], tl.float32)
    for i in range(0, d.shape[0], M):
        v = tl._experimental_descriptor_load(d, [i, 4], [M, N], tl.float32)
        tl._experimental_descriptor_store(f, v * 2, [i, 0])


@triton.jit
def shift3(d, e, at):
    tl.static_assert(len(d.shape) == 3 and d.dtype == e.dtype)
    e.store([0, 0, 0], d.load([at, at, at]))


@triton.jit
def product(a, b, c, inner):
    M: tl.constexpr = c.block_shape[0]
    N: tl.constexpr = c.block_shape[1]
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, inner, a.block_shape[1]):
        total = tl.dot(a.load([i, k]), b.load([j, k]).T, total)
    c.store([i, j], total.to(c.dtype))


@triton.jit
def turns(d, e, out, n):
    """The sum of blocks of d and e by turns: the descriptors are carried by a loop and a branch."""
    total = tl.zeros(d.block_shape, tl.float32)
    for i in range(n):
        total += d.load([i])
        d, e = e, d
    if n % 2 == 1:
        last = d
    else:
        last = e
    tl.store(out + tl.arange(0, d.block_shape[0]), total + last.load([0]))


@triton.jit
def padded(d, out):
    R: tl.constexpr = d.block_shape[0]
    C: tl.constexpr = d.block_shape[1]
    v = d.load([d.shape[0] - R // 2, -C // 2])
    v = tl.where(v == v, v, 99.0)
    tl.store(out + tl.arange(0, R)[:, None] * C + tl.arange(0, C), v)


@triton.jit
def gathered(d, e, rows, col, N: tl.constexpr):
    """Rows of d at column `col`, to the same rows of e, negated."""
    x = tl.load(rows + tl.arange(0, N))
    v = d.gather(x, col)
    e.scatter(-v, x, col)


@triton.jit
def gathered_nan(a, out, rows, M, N, R: tl.constexpr, C: tl.constexpr):
    d = tl.make_tensor_descriptor(a, [M, N], [N, 1], [1, C], padding_option="nan")
    v = d.gather(tl.load(rows + tl.arange(0, R)), N - C // 2)
    v = tl.where(v == v, v, 99.0)
    tl.store(out + tl.arange(0, R)[:, None] * C + tl.arange(0, C), v)


@triton.jit
def atomics(d, value, KIND: tl.constexpr, at):
    """A block at [at, at] of each program, changed by one of value."""
    R: tl.constexpr = d.block_shape[0]
    C: tl.constexpr = d.block_shape[1]
    v = tl.load(value + tl.arange(0, R)[:, None] * C + tl.arange(0, C))
    if KIND == "add":
        d.atomic_add([at, at], v)
    elif KIND == "min":
        d.atomic_min([at, at], v)
    elif KIND == "max":
        d.atomic_max([at, at], v)
    elif KIND == "and":
        d.atomic_and([at, at], v)
    elif KIND == "or":
        d.atomic_or([at, at], v)
    else:
        d.atomic_xor([at, at], v)
