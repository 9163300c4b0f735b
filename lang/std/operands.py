# The operands of libdevice's functions: their dtypes checked, several brought to a common dtype and
# shape, and the form of a function chosen that fits them.
import triton
import triton.language as tl


@triton.jit
def check(x):
    tl.static_assert(
        x.dtype == tl.float32 or x.dtype == tl.float64,
        f"Expected dtype ['fp32', 'fp64'] but got {x.dtype}: convert with x.to(tl.float32)")


@triton.jit
def only(x, dtype: tl.constexpr):
    tl.static_assert(x.dtype == dtype, f"Expected dtype {dtype} but got {x.dtype}")


@triton.jit
def check_int(x):
    tl.static_assert(x.dtype.is_int() and x.dtype.primitive_bitwidth >= 32,
                     f"Expected an integer dtype of 32 or 64 bits but got {x.dtype}")


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
    check(x)
    if x.dtype == tl.float64:
        return f64(x)
    else:
        return f32(x)


@triton.jit
def both(x, f: tl.constexpr):
    """A function that suits both dtypes."""
    x = tl.to_tensor(x)
    check(x)
    return f(x)


@triton.jit
def via64(x, f64: tl.constexpr):
    """f32 through f64."""
    x = tl.to_tensor(x)
    check(x)
    return f64(x.to(tl.float64)).to(x.dtype)


@triton.jit
def two(x, y, f32: tl.constexpr, f64: tl.constexpr):
    x, y = common(x, y)
    check(x)
    if x.dtype == tl.float64:
        return f64(x, y)
    else:
        return f32(x, y)


@triton.jit
def pair(x, y, f: tl.constexpr):
    x, y = common(x, y)
    check(x)
    return f(x, y)


@triton.jit
def ints(x, y):
    x, y = common(x, y)
    check_int(x)
    return x, y


@triton.jit
def three(x, y, z, f: tl.constexpr):
    t = x + y + z
    check(t)
    return f(like(x, t), like(y, t), like(z, t))
