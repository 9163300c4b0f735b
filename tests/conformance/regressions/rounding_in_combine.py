"""A combining function whose casts round toward zero, the order of operands making no difference."""
import triton
import triton.language as tl


@triton.jit
def toward_zero(x):
    return x.to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32)


@triton.jit
def larger_half(a, b):
    a, b = toward_zero(a), toward_zero(b)
    return tl.where(a > b, a, b)


@triton.jit
def rounded_max(x_ptr, max_ptr, scan_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(max_ptr, tl.reduce(x, 0, larger_half))
    tl.store(scan_ptr + at, tl.associative_scan(x, 0, larger_half))
