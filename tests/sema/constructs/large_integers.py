# nereid: --sig x=*fp32 --run-passes ''
# Compile-time integers at the ends of 128 bits, and what is more than they hold.
import math

import triton
import triton.language as tl

MOST = 2**126 - 1 + 2**126
LEAST = -MOST - 1


@triton.jit
def kernel(x):
    tl.static_assert(LEAST.bit_length() == 128 and MOST.bit_length() == 127)
    tl.static_assert(list(range(2**126, MOST, 2**126)) == [2**126])
    tl.static_assert(list(enumerate([1, 2], 2**63 - 1))[1] == (2**63, 2))
    tl.static_assert(math.gcd(MOST, LEAST) == 1)
    tl.static_assert(round(1e300) == 1e300 and round(2.5) == 2)
    tl.static_assert(f"{2**100:d}" == "1267650600228229401496703205376")
    tl.static_assert(f"{5:05d}" == "00005" and f"{1.0:.3f}" == "1.000")
    tl.store(x, 1.0)
