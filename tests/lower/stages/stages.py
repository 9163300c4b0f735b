import triton
import triton.language as tl


@triton.jit
def parts(a_ptr, b_ptr, parts_ptr, tiles, steps, M: tl.constexpr, N: tl.constexpr,
          K: tl.constexpr):
    """Sums of parts along k, each of which a tile of f32 holds."""
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        acc = tl.zeros((M, N), tl.float32)
        for i in range(steps):
            at = (tile * steps + i) * K + k
            a = tl.load(a_ptr + m * 4096 + at[None, :])
            b = tl.load(b_ptr + at[:, None] * N + n)
            acc = tl.dot(a, b, acc)
        tl.store(parts_ptr + tile * M * N + m * N + n, acc)
        tl.atomic_add(parts_ptr, 1.0)


@triton.jit
def chained(q_ptr, k_ptr, v_ptr, out_ptr, steps, M: tl.constexpr, N: tl.constexpr,
            D: tl.constexpr):
    """The second product takes what is made of the first one, exchanged in shared memory."""
    m, n, d = tl.arange(0, M)[:, None], tl.arange(0, N), tl.arange(0, D)[None, :]
    q = tl.load(q_ptr + m * D + d)
    acc = tl.zeros((M, D), tl.float32)
    for i in range(steps):
        rows = (i * N + n)[:, None] * D + d
        scores = tl.dot(q, tl.trans(tl.load(k_ptr + rows)))
        acc = tl.dot(scores * scores, tl.load(v_ptr + rows), acc)
    tl.store(out_ptr + m * D + d, acc)
