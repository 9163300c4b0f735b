"""Tuples with names, constants and functions in them, and aggregates."""
import collections
from typing import NamedTuple

import triton
import triton.language as tl
from triton.language.core import _aggregate as aggregate


class Function(NamedTuple):
    fn: tl.constexpr
    captured: tuple


class Matrix(NamedTuple):
    ptr: tl.tensor
    shape: tuple
    strides: tuple


Pair = collections.namedtuple("Pair", ["low", "high"])


@triton.jit
def scaled(x, factor, more):
    return x * tl.load(factor) + more


@triton.jit
def tile_of(matrix, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    inside = (i < matrix.shape[0]) & (j < matrix.shape[1])
    return Pair(matrix.ptr + i * matrix.strides[0] + j * matrix.strides[1], inside)


@triton.jit
def closure(function, x, out, M: tl.constexpr, N: tl.constexpr):
    source = tile_of(x, M, N)
    target = tile_of(Matrix(strides=out.strides, ptr=out.ptr, shape=out.shape), M, N)
    value = function.fn(tl.load(source.low, source.high, 0.0), *function.captured)
    tl.store(target.low, value, target.high)


@triton.jit
def mixed(xs, nothing, out, SHAPE: tl.constexpr):
    tl.static_assert(len(nothing) == 0)
    tl.static_assert(xs[1].type == tl.constexpr_type(3))
    tl.static_assert((2, (None, tl.float16)).type == (2, (None, tl.float16)).type)
    tl.static_assert((2, (None, tl.float16)).type != (2, (None, tl.float32)).type)
    tl.static_assert(isinstance(xs[1], int) and isinstance(xs, tl.tuple))
    i = tl.arange(0, SHAPE[0][1])
    value = tl.load(xs[0] + i) * xs[1]
    if SHAPE[1] is None:
        value = value + SHAPE[2]
    tl.store(out + i, value)


@aggregate
class Moments:
    mean: tl.tensor
    count: tl.tensor
    SIZE: tl.constexpr

    @triton.constexpr_function
    def __init__(self, mean, count, SIZE):
        self.mean = mean
        self.count = count
        self.SIZE = tl.constexpr(SIZE)

    @triton.jit
    def add(self, x):
        count = self.count + self.SIZE
        return Moments(self.mean + (tl.sum(x) - self.mean * self.SIZE) / count, count, self.SIZE)


@aggregate
class State:
    all: Moments
    largest: tl.tensor
    NEGATIVE: tl.constexpr

    @triton.constexpr_function
    def __init__(self, all, largest, NEGATIVE):
        self.all = all
        self.largest = largest
        self.NEGATIVE = tl.constexpr(NEGATIVE)

    @triton.jit
    def step(self, x):
        if self.NEGATIVE:
            x = -x
        return State(self.all.add(x), tl.maximum(self.largest, tl.max(x)), self.NEGATIVE)

    @triton.jit
    def save(self, out):
        tl.store(out, self.all.mean)
        tl.store(out + 1, self.largest)

    @triton.constexpr_function
    def width(self):
        return self.all.SIZE * 2


@triton.jit
def start(SIZE: tl.constexpr, NEGATIVE: tl.constexpr):
    return State(Moments(tl.zeros([], tl.float32), tl.zeros([], tl.float32), SIZE),
                 tl.full([], float("-inf"), tl.float32), NEGATIVE)


@triton.jit
def moments(x, n, out, SIZE: tl.constexpr, NEGATIVE: tl.constexpr):
    state = start(SIZE, NEGATIVE)
    tl.static_assert(state.width() == 2 * SIZE)
    for i in range(n):
        row = tl.load(x + i * SIZE + tl.arange(0, SIZE))
        if i % 2 == 1:
            state = state.step(row)
        else:
            state = state.step(row + 1)
    state.save(out)


@aggregate
class Scaled:
    factor: tl.tensor

    def __init__(self, factor):
        self.set_factor(factor)

    def set_factor(self, factor):
        self.factor = factor

    @triton.jit
    def apply(self, x):
        return x * self.factor


@aggregate
class Shifted(Scaled):
    shift: tl.tensor

    def __init__(self, factor, shift):
        super().__init__(factor)
        self.shift = shift

    @triton.jit
    def apply(self, x):
        return super().apply(x) + self.shift


@triton.jit
def inherited(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, Shifted(tl.load(x), tl.load(x + 1)).apply(tl.load(x + i)))


def outer():
    FACTOR = 3.0

    @triton.jit
    def inner(x):
        return x * FACTOR

    return inner


@triton.jit
def applied(x, out, N: tl.constexpr, F: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, F(tl.load(x + i)))
