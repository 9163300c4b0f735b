# Right, and seldom meant: stores of one element by several programs, elements that none stores.
import triton
import triton.language as tl


@triton.jit
def forgot(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def locked(lock_ptr, out_ptr, n):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, n)
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def flag(x_ptr, out_ptr, n):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    if tl.max(tl.load(x_ptr + i)) > 0:
        tl.store(out_ptr, 1)
