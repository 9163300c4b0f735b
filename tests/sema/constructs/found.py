# nereid: --sig x=*fp32
# Functions and modules that host code looks up.
import importlib
import importlib.util

from package.backend import HAS_LANGUAGE, libdevice, tl, triton


def find(name):
    for place in ("triton.language.nowhere", "triton.language.extra.libdevice"):
        if spec := importlib.util.find_spec(place):
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return getattr(module, name)
    raise ImportError(name)


power = find("pow")
exp2 = getattr(importlib.import_module("triton.language.math"), "exp2")
if hasattr(tl, "libdevice"):
    library = tl.libdevice
elif hasattr(tl.extra, "libdevice"):
    library = tl.extra.libdevice
else:
    library = tl.math


@triton.jit
def kernel(x):
    o = tl.arange(0, 8)
    v = tl.load(x + o)
    tl.store(x + o, power(v, 2.0) + exp2(v) + library.fast_expf(v) + libdevice.abs(v))
