# nereid: --sig x=*fp32,n=i32 -D B=128
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier


@gluon.jit
def kernel(x, n, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * B + gl.arange(0, B, layout=layout)
    gl.warp_specialize([(kernel, (x, n))], [4], [24])
    mbarrier.init(x, count=1)
    gl.nvidia.blackwell.tma.store_wait(0)
    conflicts = gl.bank_conflicts(offsets.type, offsets.type)
    gl.store(x + offsets, gl.aranges(0, B))
