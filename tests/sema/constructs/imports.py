# nereid: --sig x=*fp32 --run-passes ''
# Names through aliases, packages, star imports and try.
import numpy as np
import triton
from triton import language as lang
from triton.language.math import rsqrt as root

import package
from package import scale_by
from package.shapes import WIDTH as width

try:
    from triton.language.extra import libdevice
    from package.ops import gone as absent
except ImportError:
    absent = None


@triton.jit
def kernel(x):
    o = lang.arange(0, package.WIDTH)
    v = lang.load(x + o)
    v = scale_by(v) + root(v) * libdevice.fast_expf(v) + width
    if absent is not None:
        v = absent(v)
    lang.store(x + o, v)
