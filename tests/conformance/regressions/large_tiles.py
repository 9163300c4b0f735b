# A tile of the largest number of elements: at any width of a CPU's vectors.
import triton
import triton.language as tl


@triton.jit
def mix(x_ptr, out_ptr, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * N + columns)
    turned = tl.trans(x)
    y = (x * 3 + turned) ^ (turned >> 2)
    tl.store(out_ptr + rows * N + columns, y + tl.sum(y, axis=1)[:, None])
