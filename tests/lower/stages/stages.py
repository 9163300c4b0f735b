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
