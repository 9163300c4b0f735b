# nereid: --sig x=*fp32
import triton
import triton.language as tl

ROW = [0] * 65536


@triton.jit
def kernel(x):
    tl.static_assert(len(list(zip(*([ROW] * 100)))) == 1)
    s = "x" * 1048576
    tl.static_assert(f"{s}{s}" == "")
    tl.static_assert(str([s] * 65536) == "")
    tl.static_assert(s.replace("x", s) == "")
    tl.static_assert(int("99999999999999999999") == 1)
    tl.store(x, 1)
