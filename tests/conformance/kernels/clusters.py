"""Programs of several thread blocks (num_ctas), and loops whose warps may have roles
(warp_specialize)."""
import triton
import triton.language as tl


@triton.jit
def copy_block(x, out, rows, cols, M: tl.constexpr, N: tl.constexpr):
    """A block of a tensor, from and to descriptors, partly outside of both."""
    a = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [M, N])
    c = tl.make_tensor_descriptor(out, [rows, cols], [cols, 1], [M, N])
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    c.store(at, a.load(at))


@triton.jit
def rows(x, sums, largest, sorted_ptr, before, counts, n, N: tl.constexpr):
    """Across all warps: a sum, a maximum, a sort, a scan and a histogram."""
    i = tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0)
    tl.store(sums + tl.program_id(0), tl.sum(v, 0))
    tl.store(largest + tl.program_id(0), tl.max(v, 0))
    tl.store(sorted_ptr + tl.program_id(0) * N + i, tl.sort(v))
    tl.store(before + tl.program_id(0) * N + i, tl.cumsum(v, 0))
    tl.atomic_add(counts + tl.arange(0, 16), tl.histogram(v, 16))


@triton.jit
def tile_of(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    first = tile // (GROUP * tiles_n) * GROUP
    rows = min(tiles_m - first, GROUP)
    return first + tile % (GROUP * tiles_n) % rows, tile % (GROUP * tiles_n) // rows


@triton.jit
def product(x, y, out, rows, cols, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A tile a program: x y^T, whose K loop has roles."""
    a = tl.make_tensor_descriptor(x, [rows, inner], [inner, 1], [M, K])
    b = tl.make_tensor_descriptor(y, [cols, inner], [inner, 1], [N, K])
    c = tl.make_tensor_descriptor(out, [rows, cols], [cols, 1], [M, N])
    m, n = tile_of(tl.program_id(0), tl.cdiv(rows, M), tl.cdiv(cols, N), 2)
    acc = tl.zeros((M, N), tl.float32)
    for k in tl.range(tl.cdiv(inner, K), warp_specialize=True, num_stages=2):
        acc = tl.dot(a.load([m * M, k * K]), b.load([n * N, k * K]).T, acc)
    c.store([m * M, n * N], acc.to(c.dtype))


@triton.jit
def product_persistent(x, y, out, rows, cols, inner, M: tl.constexpr, N: tl.constexpr,
                       K: tl.constexpr, FLATTEN: tl.constexpr):
    """The loop over tiles has roles."""
    a = tl.make_tensor_descriptor(x, [rows, inner], [inner, 1], [M, K])
    b = tl.make_tensor_descriptor(y, [cols, inner], [inner, 1], [N, K])
    c = tl.make_tensor_descriptor(out, [rows, cols], [cols, 1], [M, N])
    tiles_m, tiles_n = tl.cdiv(rows, M), tl.cdiv(cols, N)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), flatten=FLATTEN,
                         warp_specialize=True, num_stages=3):
        m, n = tile_of(tile, tiles_m, tiles_n, 2)
        acc = tl.zeros((M, N), tl.float32)
        for k in range(tl.cdiv(inner, K)):
            acc = tl.dot(a.load([m * M, k * K]), b.load([n * N, k * K]).T, acc)
        c.store([m * M, n * N], acc.to(c.dtype))


@triton.jit
def attention(q, k, v, out, keys, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """The loop over keys has roles, and two products with a softmax between them."""
    m, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    qs = tl.load(q + m[:, None] * D + d[None, :])
    most = tl.full([M], float("-inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, D], tl.float32)
    for start in tl.range(0, keys, N, warp_specialize=True):
        n = tl.multiple_of(start, N) + tl.arange(0, N)
        scores = tl.dot(qs, tl.load(k + n[:, None] * D + d[None, :]).T) * scale
        largest = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - largest[:, None])
        shrink = tl.exp2(most - largest)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(v + n[:, None] * D + d[None, :]),
                     acc * shrink[:, None])
        most = largest
    tl.store(out + m[:, None] * D + d[None, :], acc / total[:, None])
