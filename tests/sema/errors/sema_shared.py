# nereid: --sig x=*fp32
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

ONE = gl.BlockedLayout([1], [32], [4], [0])


@gluon.jit
def element(value):
    gl.allocate_shared_memory(gl.float32, [16], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    return value


@gluon.jit
def kernel(x):
    i = gl.arange(0, 128, layout=ONE)
    memory = gl.allocate_shared_memory(gl.float32, [128], ONE)
    memory = gl.allocate_shared_memory(gl.float32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    cube = gl.allocate_shared_memory(gl.float32, [2, 8, 8], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    memory.store(i)
    memory.store(gl.full([64], 1.0, gl.float32, ONE))
    memory.index(0)
    memory.slice(3, 128)
    memory._reinterpret(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    gl.store(x + i, gl.map_elementwise(element, i))
