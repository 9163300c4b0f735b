# nereid: --sig out=*fp32,n=i32,values=Values(*fp32,(i32,2:constexpr),())
import collections

import triton
import triton.language as tl

Values = collections.namedtuple("Values", "ptr shape rest")


@triton.aggregate
class Base:
    total: tl.tensor
    SIZE: tl.constexpr = 16


@triton.aggregate
class Sum(Base):
    scale: tl.constexpr

    def __init__(self, total, scale, _semantic=None):
        self.total = total
        self.SIZE = tl.constexpr(8)
        self.scale = tl.constexpr(self.double(scale))

    @triton.constexpr_function
    def double(self, x):
        return 2 * x

    @triton.jit
    def add(self, x):
        return tl.aggregate_replace(Base(self.total, self.SIZE), total=self.total + x * self.scale)

    @triton.jit
    def __getitem__(self, i):
        return self.total * i

    @triton.jit
    def __sub__(self, other):
        return self.total - other

    @triton.jit
    def __rsub__(self, other):
        return other - self.total

    @property
    def half(self):
        return self.SIZE // 2


@triton.jit
def kernel(out, n, values):
    tl.static_assert(values.shape[1].type == tl.constexpr_type(2))
    tl.static_assert(len(values.rest) == 0)
    s = Sum(tl.load(values.ptr), 3)
    for i in range(n):
        s = Sum(s.add(tl.load(values.ptr + i)).total, 3)
    tl.static_assert(s.scale == 6 and s.half == 4 and isinstance(s, Base))
    tl.store(out, s[2])
    tl.store(out + 1, s - 1.0)
    tl.store(out + 2, 1.0 - s)
    tl.store(out + s.SIZE, values.shape[0].to(tl.float32))
