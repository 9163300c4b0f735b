# A panel's parts, each of which several blocks of rows take.
import triton
import triton.language as tl


@triton.jit
def next_part(x_ptr, w_ptr, out_ptr, M: tl.constexpr, K: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, 64)[None, :]
    acc = tl.zeros([M, 64], dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(x_ptr + m * K + k[None, :])
        acc = tl.dot(x, tl.load(w_ptr + k[:, None] * 64 + n), acc, input_precision="ieee")
    tl.store(out_ptr + m * 64 + n, acc)
