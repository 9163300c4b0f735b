# A row times a matrix in memory, which a processor that does not look far ahead is asked for.
import triton
import triton.language as tl


@triton.jit
def row_ahead(x_ptr, w_ptr, out_ptr, K: tl.constexpr, BK: tl.constexpr):
    n = tl.arange(0, 64)[None, :]
    acc = tl.zeros([1, 64], dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(x_ptr + k[None, :])
        acc = tl.dot(x, tl.load(w_ptr + k[:, None] * 64 + n), acc, input_precision="ieee")
    tl.store(out_ptr + n, acc)
