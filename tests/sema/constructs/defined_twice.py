# Of several definitions of a name the file leaves one.
import torch
import triton
import triton.language as tl

NEW = True


@triton.jit
def helper():
    return 1


@triton.jit
def plain(out):
    tl.store(out, helper() * 10 + 1)


@triton.jit
def helper():
    return 2


@triton.jit
def plain(out, n):
    tl.store(out, helper() * 10 + n)


if NEW:

    @triton.jit
    def by_constant(out):
        tl.store(out, 1)
else:

    @triton.jit
    def by_constant(out):
        tl.store(out, 2)


if torch.cuda.get_device_capability()[0] >= 9:

    @triton.jit
    def by_target(out):
        tl.store(out, 90)
else:

    @triton.jit
    def by_target(out):
        tl.store(out, 80)


if torch.compiled_with("something"):

    @triton.jit
    def unknown(out):
        tl.store(out, 1)
else:

    @triton.jit
    def unknown(out):
        tl.store(out, 2)


try:
    import torch

    @triton.jit
    def tried(out):
        tl.store(out, 1)
except ImportError:

    @triton.jit
    def tried(out):
        tl.store(out, 2)


class First:
    @triton.jit
    def method(out):
        tl.store(out, 1)


class Second:
    @triton.jit
    def method(out):
        tl.store(out, 2)


@triton.jit
def launched(out):
    tl.store(out, 1)


def launched(out):
    launched[(1,)](out)


@triton.autotune(configs=[triton.Config({"B": 16})], key=[])
@triton.jit
def tuned(out, B: tl.constexpr):
    tl.store(out, B)


@triton.autotune(configs=[triton.Config({"B": 32})], key=[])
@triton.jit
def tuned(out, B: tl.constexpr):
    tl.store(out, 1000 + B)
