import math
import numpy as np
from cases import new, normal, sigmoid
from references import case, typed

FILE = "norms.py"


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, groups=1)
@case(FILE, tol=1e-5, groups=6, pixels=64)
def group_norm(rng, images=2, channels=6, pixels=35, groups=3):
    x, w, b = normal(rng, images, channels, pixels), normal(rng, channels), normal(rng, channels)
    g = x.reshape(images, groups, -1)
    y = (g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + 1e-5)
    args = dict(x_ptr=x, w_ptr=w, b_ptr=b, out_ptr=new("empty", "f32", *x.shape),
                channels=channels, pixels=pixels, groups=groups, eps=1e-5)
    y = y.reshape(x.shape) * w[:, None] + b[:, None]
    return args, dict(BLOCK=64), f"{images}, groups", dict(out_ptr=y)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, images=1, pixels=1)
def batch_norm_stats(rng, images=3, channels=5, pixels=75):
    x, running = normal(rng, images, channels, pixels) + 10, normal(rng, channels)
    mean = x.mean((0, 2), dtype=np.float64)
    args = dict(x_ptr=x, mean_ptr=new("empty", "f32", channels),
                var_ptr=new("empty", "f32", channels), running_mean_ptr=running, images=images,
                channels=channels, pixels=pixels, momentum=0.25)
    expected = dict(mean_ptr=mean, var_ptr=x.var((0, 2), dtype=np.float64),
                    running_mean_ptr=running + 0.25 * (mean - running))
    return args, dict(BLOCK=32), "channels", expected


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, channels=8, pixels=64)
def batch_norm_apply(rng, images=2, channels=5, pixels=75):
    x = normal(rng, images, channels, pixels)
    mean, w, b = (normal(rng, channels) for _ in range(3))
    var = normal(rng, channels)**2
    y = (x - mean[:, None]) / np.sqrt(var + 1e-5)[:, None] * w[:, None] + b[:, None]
    args = dict(x_ptr=x, mean_ptr=mean, var_ptr=var, w_ptr=w, b_ptr=b,
                out_ptr=new("empty", "f32", *x.shape), channels=channels, pixels=pixels, eps=1e-5)
    grid = f"{images}, cdiv(channels, BLOCK_C), cdiv(pixels, BLOCK_P)"
    return args, dict(BLOCK_C=4, BLOCK_P=64), grid, dict(out_ptr=y)


@case(FILE, tol=1e-2)
@case(FILE, tol=2e-3, dtype="f16", cols=128)
def rms_norm_residual(rng, rows=8, cols=100, dtype="bf16"):
    (x_arg, x), (r_arg, r) = (typed(normal(rng, rows, cols), dtype) for _ in range(2))
    w_arg, w = typed(normal(rng, cols), dtype)
    total = x + r
    y = total / np.sqrt((total**2).mean(1, keepdims=True) + 1e-6) * w
    args = dict(x_ptr=x_arg, residual_ptr=r_arg, w_ptr=w_arg,
                out_ptr=new("empty", dtype, rows, cols), cols=cols, eps=1e-6)
    expected = dict(out_ptr=y, residual_ptr=typed(total, dtype)[1])
    return args, dict(ROWS=4, BLOCK=128), f"{rows} // ROWS", expected


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, act="silu")
@case(FILE, tol=1e-2, act="silu", dtype="bf16", cols=128)
def gated(rng, rows=3, cols=75, act="gelu", dtype="f32"):
    x_arg, x = typed(normal(rng, rows, 2 * cols), dtype)
    gate, value = x[:, :cols], x[:, cols:]
    y = (gelu(gate) if act == "gelu" else gate * sigmoid(gate)) * value
    args = dict(x_ptr=x_arg, out_ptr=new("empty", dtype, rows, cols), cols=cols)
    return args, dict(ACT=f"fn:{act}", BLOCK=64), str(rows), dict(out_ptr=y)


@case(FILE, tol=1e-5)
def swiglu_backward(rng, rows=3, cols=75):
    x, dy = normal(rng, rows, 2 * cols), normal(rng, rows, cols)
    gate, value = x[:, :cols], x[:, cols:]
    s = sigmoid(gate)
    dx = np.hstack([dy * value * s * (1 + gate * (1 - s)), dy * gate * s])
    args = dict(x_ptr=x, dy_ptr=dy, dx_ptr=new("empty", "f32", rows, 2 * cols), cols=cols)
    return args, dict(BLOCK=64), f"{rows}, cdiv(cols, BLOCK)", dict(dx_ptr=dx)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, rows=1, cols=1)
@case(FILE, tol=1e-5, rows=8, cols=128)
def softmax_backward(rng, rows=5, cols=75):
    y, dy = normal(rng, rows, cols), normal(rng, rows, cols)
    dx = y * (dy - (y * dy).sum(1, keepdims=True))
    args = dict(y_ptr=y, dy_ptr=dy, dx_ptr=new("empty", "f32", rows, cols), rows=rows, cols=cols)
    return args, dict(BLOCK_R=4, BLOCK_C=128), "cdiv(rows, BLOCK_R)", dict(dx_ptr=dx)
