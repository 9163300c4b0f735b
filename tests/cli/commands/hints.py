"""Hints that hold for some arguments."""
import triton
import triton.language as tl


@triton.jit
def scalar(x, o, n):
    n = tl.multiple_of(n, 16)
    i = tl.arange(0, 512) + n
    tl.store(o + i, tl.load(x + i))


@triton.jit
def tile(x, o, n):
    i = tl.max_contiguous(tl.multiple_of(tl.arange(0, 512) + n, 16), 512)
    tl.store(o + i, tl.load(x + i))


@triton.jit
def wrapped(x, o, M, BM: tl.constexpr):
    at = tl.program_id(0) * BM + tl.arange(0, BM)
    i = tl.max_contiguous(tl.multiple_of(at % M, BM), BM)
    tl.store(o + at, tl.load(x + i))


@triton.jit
def equal(o, n):
    i = tl.arange(0, 64)
    tl.store(o + i, tl.max_constancy(i // n, 8))


@triton.jit
def gathered(x, p, o):
    i = tl.arange(0, 512)
    at = tl.max_contiguous(tl.multiple_of(tl.load(p + i) + i % 4, 4), 4)
    tl.store(o + i, tl.load(x + at))


@triton.jit
def assumed(o, n):
    tl.assume(n > 5)
    tl.store(o, n)
