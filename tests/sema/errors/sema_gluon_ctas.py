# nereid: --sig x=*fp32 --num-ctas 2
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def kernel(x):
    gl.static_assert(gl.num_ctas() == 2)
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.arange(0, 128, layout=layout)
    gl.store(x + i, i.to(gl.float32))
