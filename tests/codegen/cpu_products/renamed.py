import triton
import triton.language as tl


@triton.jit
def renamed(x, w, y, z):
    # Sums of pairs are words; what reads them reads floats.  The second one's zeros are made beside
    # other statements.
    row = tl.arange(0, 64)[:, None]
    k = tl.arange(0, 16)
    column = tl.arange(0, 32)[None, :]
    left = tl.load(x + row * 16 + k[None, :])
    right = tl.load(w + k[:, None] * 32 + column)
    first = tl.dot(left, right, input_precision="pairs").to(tl.float32, bitcast=True) * 0.5
    second = tl.dot(left, right + 1, input_precision="pairs").to(tl.float32, bitcast=True)
    tl.store(y + tl.arange(0, 32), tl.max(first, 0) + tl.sum(second, 0))
    tl.store(z + row * 32 + column, first + second)
