import triton
import triton.language as tl


@triton.jit
def by_words(x, w, y):
    k, m, n = tl.arange(0, 32)[:, None], tl.arange(0, 64)[None, :], tl.arange(0, 32)[None, :]
    left = tl.load(x + k * 64 + m) + 1
    product = tl.dot(tl.trans(left), tl.load(w + k * 32 + n), input_precision="bytes")
    tl.store(y + tl.arange(0, 64)[:, None] * 32 + n, product)
