"""Addresses that wrap around a tensor's end, whose extent is an argument: neighbours are read at
once as far as the extent allows."""
import triton
import triton.language as tl


@triton.jit
def wrap(x_ptr, out_ptr, rows, columns, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)) % rows
    n = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)) % columns
    x = tl.load(x_ptr + m[:, None] * stride + n[None, :])
    tl.store(out_ptr + m[:, None] * columns + n, x + 1, mask=(m < 5)[:, None])
    tl.store(out_ptr + m[:, None] * columns + n, x * 2, mask=(m >= 5)[:, None])


@triton.jit
def below_zero(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # Remainders of negative numbers are negative: a mask sees each of them as it is.
    i = tl.arange(0, BLOCK) - 8
    r = i % n
    tl.store(out_ptr + tl.arange(0, BLOCK), r, mask=r < -3)
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + r, mask=r >= 0), mask=r >= 0)
