# nereid: --sig p=*fp32 -D N=64
# The language by other packages, which are not at hand, in the ways in which they pass it on.
import somepkg.triton_utils as utils
from somepkg.triton_utils import *
from somepkg import compat
import somepkg.vendored.triton.language as vendored
from somepkg.vendored.triton.language import arange, math as vendored_math
from somepkg.vendored.triton.language.extra import libdevice as vendored_libdevice
from .ops import tldevice
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime import triton_helpers

try:
    from nowhere.triton_utils import tl as tried
except ImportError:
    import triton.language as tried
asked = getattr(compat, "tl")
fast_exp = getattr(compat.libdevice, "fast_expf", None) or tried.exp


@compat.triton.jit
def kernel(p, N: compat.tl.constexpr):
    o = utils.tl.arange(0, N)
    x = tl.load(p + o)
    x = compat.tl.exp2(x) + vendored.floor(x) + vendored_math.ceil(x) + vendored_libdevice.abs(x)
    x += tldevice.trunc(x) + libdevice.rsqrt(x) + tl_math.sqrt(x) + triton_helpers.libdevice.rint(x)
    x += asked.rsqrt(x) + tried.floor(x) + fast_exp(x)
    triton.language.store(p + arange(0, N), x)
