"""Counts how often each value from 0 to BINS - 1 occurs.  Each program counts its own block and
then adds its counts to the total, so an address sees one atomic operation a program.

build/nereid run examples/kernels/histogram.py x_ptr=randint:i32[5000]:0:64:1 counts_ptr=zeros:i32[64] n=5000 -D BINS=64 -D BLOCK=1024 --grid "cdiv(n, BLOCK)"
"""
import triton
import triton.language as tl


@triton.jit
def histogram(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    counts = tl.histogram(x, BINS, mask=mask)
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts, sem="relaxed")
