@triton.jit
def a(): pass

@triton.jit(noinline=True)
def b(x, y: tl.int32, z=1, w: "tl.constexpr" = 2, *args: int, k, l: int = 3, **kw) -> tl.tensor:
    pass

@triton.autotune(
    configs=[Config({'B': 1})],

    key=['n'],  # a comment
)
@triton.heuristics({'E': lambda args: args['n'] % args['B'] == 0})
@jit
def c(
    x,  # the first
    y,

    *,
    z,
): pass

def d(x, /, y, *, z): pass

@other.decorator
def e(): pass

@gluon.jit
# between
def f(): pass

@jax.jit
def g(): pass

async def h(): await g()
