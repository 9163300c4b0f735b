# nereid: --sig x=*fp32:16,n=i32
# Layouts leave no trace in the tile IR, and shared memory is what was stored there.
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

ONE = gl.BlockedLayout([1], [32], [4], [0])
FOUR = gl.BlockedLayout([4], [32], [4], [0])


@gluon.jit
def kernel(x, n):
    i = gl.arange(0, 128, layout=FOUR)
    memory = gl.allocate_shared_memory(gl.float32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    memory.store(gl.load(x + i))
    for k in range(n):
        memory.store(gl.convert_layout(memory.load(ONE) * 2, FOUR))
    gl.store(x + i, memory.load(FOUR))
