"""Reads and writes of the same elements by different threads, across control flow."""
import triton
import triton.language as tl


@triton.jit
def in_loops(p_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    small = p_ptr + 8 + tl.arange(0, 16)
    for i in range(n):
        x = tl.load(p_ptr)
        tl.store(p_ptr, x + 1)
        tl.store(small, tl.load(small) + 2)
    i = 0
    while i < n + 3:
        i = tl.load(p_ptr)
        tl.store(p_ptr, i + 1)
    for i in range(n):
        moved = p_ptr + 32 + i + at
        tl.store(moved, tl.load(moved) + 1)
    tl.store(out_ptr + at, tl.load(p_ptr + BLOCK - 1 - at))


@triton.jit
def at_joins(p_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(p_ptr + at, at)
    for _ in range(n):
        tl.debug_barrier()
    x = tl.load(p_ptr + (BLOCK - 1 - at))
    tl.store(p_ptr + at, x + 1)
    if n > 0:
        tl.debug_barrier()
    y = tl.load(p_ptr + (BLOCK - 1 - at))
    tl.store(p_ptr + at, y + 1)
    if n > 0:
        y += 1
    else:
        tl.debug_barrier()
    tl.store(out_ptr + at, tl.load(p_ptr + (BLOCK - 1 - at)) + y)
