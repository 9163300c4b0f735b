"""Matrix products whose k is no multiple of the matrix instruction's: what a thread holds behind
its end is no part of the sums."""
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    y = tl.load(y_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    z = tl.dot(x * 2, y * 2, out_dtype=out_ptr.dtype.element_ty)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], z)
