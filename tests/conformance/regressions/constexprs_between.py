"""Constexprs between the arguments: a pointer's place differs from its parameter's."""
import triton
import triton.language as tl


@triton.jit
def mixed(out_ptr, A: tl.constexpr, x_ptr, B: tl.constexpr, y_ptr, C: tl.constexpr, z_ptr):
    at = tl.arange(0, A)
    x = tl.load(x_ptr + at) * B
    y = tl.load(y_ptr + at) + C
    tl.store(out_ptr + at, x + y + tl.load(z_ptr + tl.sum(x) // 1000))
