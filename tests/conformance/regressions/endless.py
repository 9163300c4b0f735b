# Loops that never end, and one that does.
import triton
import triton.language as tl


@triton.jit
def same(out_ptr, n):
    a = n
    while a > 0:
        a = a | 1
    tl.store(out_ptr, a)


@triton.jit
def to_and_fro(out_ptr, n):
    a = n + tl.program_id(0)
    while a > 0:
        a = 30 - a
    tl.store(out_ptr, a)


@triton.jit
def waits(out_ptr, n):
    while tl.atomic_cas(out_ptr, 0, 0) < n:
        pass


@triton.jit
def inner(out_ptr, n):
    total = 0
    for i in range(2000):
        left = n
        while left > 0:
            left -= 1
        total += n - left
    tl.store(out_ptr, total)
