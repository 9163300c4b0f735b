# Constants that only Python can compute, and names of the host function around a kernel.
import subprocess
import triton
import triton.language as tl
from package.computed import SHIFT, shifted
import package.computed as computed

HAS_TOOL = tl.constexpr(subprocess.run(["true"]).returncode == 0)
LIMITS = tuple(int(x) for x in open("limits.txt").read().split())
DTYPE: tl.constexpr = subprocess.dtype()
SCALE = subprocess.scale()
TWICE = 2 * SCALE
PLAIN = 5


@triton.jit
def double(x):
    return x * 2


FUNCTION = subprocess.function()
if HAS_TOOL:
    CHOSEN = 100
else:
    CHOSEN = 200


@triton.jit
def kernel(out):
    tl.store(out, (1 if HAS_TOOL else 2) + CHOSEN)
    tl.store(out + 1, LIMITS[0] * 10 + LIMITS[1])
    tl.store(out + 2, FUNCTION(TWICE) + tl.zeros((), DTYPE))
    tl.store(out + 3, shifted(1) + SHIFT + computed.SHIFT)
    tl.store(out + 4, PLAIN)


def make(block, activation):
    size = subprocess.size(block)

    @triton.jit
    def inner(out):
        tl.store(out, activation(block) + size)

    return inner
