# nereid: --sig x=*fp32,n=i32 -D B=128
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def kernel(x, n, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * B + gl.arange(0, B, layout=layout)
    gl.store(x + offsets, gl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)
