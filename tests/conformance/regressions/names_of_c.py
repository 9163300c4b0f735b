import triton
import triton.language as tl


@triton.jit
def rows(x, o, lim, n, B: tl.constexpr):
    """The index of a loop over columns is `c`, its bounds are made of the mask."""
    r = tl.program_id(0)
    c_end = tl.load(lim)
    a_end = tl.load(lim + 1)
    b_end = tl.load(lim)
    c = tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=0)
    m = tl.sum(v, 0)
    tl.store(o + r * n + c, v * m + (c * a_end + b_end) * c_end, mask=c < n)


@triton.jit
def weighted(x, o, lim, n, B: tl.constexpr):
    i = tl.arange(0, B)
    row_at = tl.load(lim)
    row_n = tl.load(lim + 1)
    s = tl.zeros((B,), tl.int32)
    for row in range(0, n, row_n):
        s += tl.load(x + (row_at + row) * B + i) * (row_at * row + row_n)
    for row in range(0, n):
        s += tl.load(x + (row_at + row) * B + i) * (row_at * row)
    tl.store(o + i, s)


@triton.jit
def tiles(x, o, lim, n, B: tl.constexpr):
    i = tl.arange(0, B)
    k_at = tl.load(x + i)
    at = tl.load(x + B + i)
    k_n = tl.load(lim + i * 0)
    s = tl.zeros((B,), tl.int32)
    for k in range(0, n):
        s += k_at * k + k_n + at
    tl.store(o + i, s)


@triton.jit
def memset(UINT32_MAX, stdout, errno, I, B: tl.constexpr):
    """Macros of headers, and a kernel that compilers take for a function of the C library."""
    linux = tl.arange(0, B)
    NULL = tl.load(UINT32_MAX + linux)
    LANES = tl.load(errno + linux * 0)
    EOF = tl.load(errno + 1)
    INT32_MAX = tl.zeros((B,), tl.int32)
    for stdin in range(0, I):
        INT32_MAX += NULL * stdin + LANES * EOF
    tl.store(stdout + linux, INT32_MAX)
