# The operands of libdevice's functions, whose dtypes are checked before a function is evaluated
# (operand_dtypes.h): several are brought to a common dtype and shape, and the form of a function is
# chosen that fits them.
import triton
import triton.language as tl


@triton.jit
def like(x, t):
    """x with the dtype and the shape of t."""
    x = tl.to_tensor(x).to(t.dtype)
    if len(t.shape) == 0:
        return x
    else:
        return tl.broadcast_to(x, t.shape)


@triton.jit
def common(x, y):
    """Both with their common dtype and shape."""
    x = tl.to_tensor(x)
    y = tl.to_tensor(y)
    t = x + y
    return like(x, t), like(y, t)


@triton.jit
def one(x, f32: tl.constexpr, f64: tl.constexpr):
    x = tl.to_tensor(x)
    if x.dtype == tl.float64:
        return f64(x)
    else:
        return f32(x)


@triton.jit
def both(x, f: tl.constexpr):
    """A function that suits both dtypes."""
    x = tl.to_tensor(x)
    return f(x)


@triton.jit
def via64(x, f64: tl.constexpr):
    """f32 through f64."""
    x = tl.to_tensor(x)
    return f64(x.to(tl.float64)).to(x.dtype)


@triton.jit
def two(x, y, f32: tl.constexpr, f64: tl.constexpr):
    x, y = common(x, y)
    if x.dtype == tl.float64:
        return f64(x, y)
    else:
        return f32(x, y)


@triton.jit
def pair(x, y, f: tl.constexpr):
    x, y = common(x, y)
    return f(x, y)


@triton.jit
def three(x, y, z, f: tl.constexpr):
    t = tl.to_tensor(x) + y + z
    return f(like(x, t), like(y, t), like(z, t))
