# nereid: --sig x=*fp32,n=i32 -D B=128
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

ONE = gl.BlockedLayout([1], [32], [4], [0])
TWO = gl.BlockedLayout([2], [32], [4], [0])
ROW = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])


@gluon.jit
def operands(x, i):
    j = gl.arange(0, 128, layout=TWO)
    gl.store(x + i, j)
    both = i + j
    both = gl.arange(0, 128) + j
    both = gl.convert_layout(j, TWO, assert_trivial=True)
    both = gl.convert_layout(j, ONE, assert_trivial=True)
    return i[:, None]


@gluon.jit
def axes():
    i = gl.arange(0, 128, gl.SliceLayout(1, ROW))
    return i[None, :]


@gluon.jit
def tiles(B: gl.constexpr):
    a = gl.full([B, B], 1, gl.float32, ONE)
    a = gl.full([B], 1, gl.float32, gl.BlockedLayout([1], [32], [8], [0]))
    a = gl.full([B], 1, gl.float32, gl.BlockedLayout([1], [16], [4], [0]))
    a = gl.full([B], 1, gl.float32, 5)
    a = gl.set_auto_layout(gl.arange(0, B, ONE), TWO)
    return a


@gluon.jit
def layouts():
    a: gl.constexpr = gl.BlockedLayout([1, 2], [32], [4], [0])
    a: gl.constexpr = gl.BlockedLayout([3], [32], [4], [0])
    a: gl.constexpr = gl.BlockedLayout([1, 1], [32, 1], [4, 1], [0, 0])
    a: gl.constexpr = gl.SliceLayout(2, ROW)
    a: gl.constexpr = gl.SliceLayout(0, 3)
    a: gl.constexpr = gl.NVMMASharedLayout(48, 16)


@gluon.jit
def paths(x, i, n):
    y = gl.full([128], 1, gl.float32, ONE)
    for k in range(n):
        y = gl.convert_layout(y, TWO)
    if n > 3:
        z = gl.full([128], 1, gl.float32, ONE)
    else:
        z = gl.full([128], 1, gl.float32, TWO)
    gl.store(x + i, z)


@gluon.jit
def products(x):
    a = gl.full([16, 16], 1, gl.float32, ROW)
    b = gl.full([16, 16], 1, gl.float32, gl.DotOperandLayout(0, ROW, 0))
    a = gl.dot_fma(a, b, a)


@gluon.jit
def kernel(x, n, B: gl.constexpr):
    i = gl.program_id(0) * B + gl.arange(0, B, layout=ONE)
    operands(x, i)
    axes()
    tiles(B)
    layouts()
    paths(x, i, n)
    products(x)
