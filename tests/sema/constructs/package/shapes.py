import triton.language as tl

WIDTH = tl.constexpr(8)
