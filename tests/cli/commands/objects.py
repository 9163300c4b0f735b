import collections

import triton
import triton.language as tl

Pair = collections.namedtuple("Pair", "a, b")


@triton.jit
def double(x):
    return x + x


@triton.jit
def f(out, pair, rest, S: tl.constexpr):
    tl.static_assert(S[0] == "a,b" and S[1] == () and S[2][0] == -1.5 and S[2][1] is None)
    tl.static_assert(S[3] == tl.float16 and S[4] and pair.b[1] == 4)
    tl.store(out, pair.b[0](pair.a) + pair.b[1] + len(rest))
