# nereid: --sig x=*fp32
import triton
import triton.language as tl
from triton.language import core


@core.extern
def of_my_library(x, _semantic=None):
    return core.extern_elementwise("mine", "/lib/mine.bc", [x], {
        (core.dtype("fp32"),): ("my_function", core.dtype("fp32")),
    }, is_pure=True, _semantic=_semantic)


@core.extern
def unknown(x, _semantic=None):
    return core.extern_elementwise("", "", [x], {
        (core.dtype("fp32"),): ("__nv_sinus", core.dtype("fp32")),
    }, is_pure=True, _semantic=_semantic)


@core.extern
def sine(x, _semantic=None):
    return core.extern_elementwise("", "", [x], {
        (core.dtype("fp32"),): ("__nv_sin", core.dtype("fp32")),
    }, is_pure=True, _semantic=_semantic)


@triton.jit
def k(x):
    i = tl.arange(0, 16)
    v = tl.load(x + i)
    tl.store(x + i, of_my_library(v))
    tl.store(x + i, unknown(v))
    tl.store(x + i, sine(v))
    tl.store(x + i, sine(v.to(tl.float16)))
    tl.store(x + i, core.extern_elementwise("", "", [v], [], is_pure=True))
