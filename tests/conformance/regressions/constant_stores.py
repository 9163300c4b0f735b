# Constants whose upper lanes are 0: GCC 12 stored the lower half twice, where there is AVX-512.
import triton
import triton.language as tl


@triton.jit
def steps(o, N: tl.constexpr, M: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.where(i < M, 127, 0).to(o.dtype.element_ty)
    tl.store(o + tl.program_id(0) * N + i, value)


@triton.jit
def halves(o):
    a = tl.arange(0, 8).to(tl.uint8) + tl.full([8], 250, tl.uint8)
    tl.store(o + tl.arange(0, 8), (a >> 1).to(tl.int64))
