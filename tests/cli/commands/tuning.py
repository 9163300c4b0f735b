"""Kernels that tests tune: `scale` has a MODE for each way in which a candidate may fail."""
import triton
import triton.language as tl


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr, MODE: tl.constexpr = 0):
    tl.static_assert(MODE != 3, "no such mode")
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    if MODE == 1:  # hangs
        while tl.load(x, volatile=True) < 2:
            tl.debug_barrier()
    if MODE == 2:  # writes where nothing is
        tl.store(y + i + (1 << 50), v)
    if MODE == 4:  # is wrong
        v += 1
    if MODE == 5:  # turns more than fits into shared memory
        side = tl.arange(0, 512)
        at = side[:, None] * 512 + side
        tl.store(y + at, tl.trans(tl.load(x + at, at < n)), at < n)
    tl.store(y + i, 2 * v, i < n)


@triton.jit
def unmasked(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n, 0))


@triton.jit
def plain(x):
    tl.store(x, 1)


@triton.jit
def flagged(x, y, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) if KIND == "copy" else 0, i < n)


@triton.autotune(configs=read_them("a file"), key=["n"])
@triton.jit
def listed(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n), i < n)
