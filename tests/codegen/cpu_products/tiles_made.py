import triton
import triton.language as tl


@triton.jit
def tiles_made(x, w, y):
    row = tl.arange(0, 16)[:, None]
    k = tl.arange(0, 48)
    column = tl.arange(0, 32)[None, :]
    left = tl.load(x + row * 48 + k[None, :])
    right = tl.load(w + k[:, None] * 32 + column)
    acc = tl.dot(left, right, tl.zeros([16, 32], dtype=tl.int32), input_precision="bytes")
    tl.store(y + row * 32 + column, acc)
