import numpy as np
from cases import new, normal
from references import case

FILE = "rows.py"
BLOCK = 32768  # 256 registers of each of 128 threads


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, n=BLOCK)
@case(FILE, tol=1e-6, n=100)
@case(FILE, tol=1e-6, options=("--num-warps", "32"), block=131072)
def softmax_rows(rng, n=20001, block=BLOCK):
    x = normal(rng, 2, n)
    e = np.exp(x - x.max(1, keepdims=True))
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", 2, n), n=n)
    return args, dict(BLOCK=block), "2", dict(out_ptr=e / e.sum(1, keepdims=True))


@case(FILE, tol=1e-6)
def from_largest(rng, n=20001):
    x = rng.permutation(2 * n).astype(np.float32).reshape(2, n)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", 2, n), where_ptr=new("empty", "i32", 2), n=n)
    expected = dict(out_ptr=x - x.max(1, keepdims=True), where_ptr=x.argmax(1).astype(np.int32))
    return args, dict(BLOCK=BLOCK), "2", expected


@case(FILE, tol=1e-5)
def scaled_norm(rng, n=20001):
    x, w, scale = normal(rng, 2, n), normal(rng, n), normal(rng, 2)
    length = np.sqrt((x.astype(np.float64)**2).sum(1))
    y = x / length[:, None] * w
    out = (y - y.mean(1, keepdims=True)) * scale[:, None]
    args = dict(x_ptr=x, w_ptr=w, scale_ptr=scale, length_ptr=new("empty", "f32", 2),
                out_ptr=new("empty", "f32", 2, n), n=n)
    return args, dict(BLOCK=BLOCK), "2", dict(out_ptr=out, length_ptr=length)


@case(FILE, tol=1e-5)
def gradients(rng, n=20001):
    dy, x, dw = normal(rng, 2, n), normal(rng, 2, n), normal(rng, n)
    dx = dy - x * (x * dy).mean(1, keepdims=True) - dy.mean(1, keepdims=True)
    args = dict(dy_ptr=dy, x_ptr=x, dx_ptr=new("empty", "f32", 2, n), dw_ptr=dw,
                locks_ptr=new("zeros", "i32", 1), n=n)
    return args, dict(BLOCK=BLOCK), "2", dict(dx_ptr=dx, dw_ptr=dw + (dy * x).sum(0))


@case(FILE, tol=1e-5)
def centered_in_place(rng, n=20001):
    x = normal(rng, 2, n)
    expected = dict(x_ptr=x - x.mean(1, keepdims=True))
    return dict(x_ptr=x, n=n), dict(BLOCK=BLOCK), "2", expected


@case(FILE, tol=1e-4, devices=("interp", "cpu", "cuda", "nest"))
def shifted_in_place(rng, n=20001):
    x = normal(rng, n)
    args = dict(x_ptr=x, sum_ptr=new("empty", "f32", 1), n=n)
    expected = dict(x_ptr=np.roll(2 * x, 7), sum_ptr=np.array([4 * x.sum(dtype=np.float64)]))
    return args, dict(BLOCK=BLOCK), "1", expected


@case(FILE, tol=1e-6, kernel="softmax_rows")
def softmax_over_itself(rng, n=100001):
    """Both arguments are one array, of which shared memory keeps a part."""
    x = normal(rng, 2, n)
    e = np.exp(x - x.max(1, keepdims=True))
    args = dict(x_ptr=x, out_ptr="&x_ptr", n=n)
    return args, dict(BLOCK=131072), "2", dict(x_ptr=e / e.sum(1, keepdims=True))


@case(FILE, tol=1e-6)
def masked_rows(rng, n=20001):
    x, mask = normal(rng, 2, n), normal(rng, n)
    e = np.where(mask > 0, np.exp(x - x.max(1, keepdims=True)), 0)
    args = dict(x_ptr=x, mask_ptr=mask, out_ptr=new("empty", "f32", 2, n), n=n)
    return args, dict(BLOCK=BLOCK), "2", dict(out_ptr=e / e.sum(1, keepdims=True))


@case(FILE, tol=1e-6)
def written_and_read(rng):
    x = normal(rng, BLOCK)
    args = dict(x_ptr=x, y_ptr=new("zeros", "f32", BLOCK), out_ptr=new("empty", "f32", BLOCK))
    return args, dict(BLOCK=BLOCK), "1", dict(y_ptr=2 * x, out_ptr=2 * (x - x.max()))


@case(FILE, tol=1e-6)
def after_element(rng):
    x = normal(rng, BLOCK)
    out = x - np.float32(1000)
    out[5] = 0
    return dict(x_ptr=x), dict(BLOCK=BLOCK), "1", dict(x_ptr=out)


@case(FILE, tol=1e-6)
def reduced_to_row(rng):
    x = normal(rng, BLOCK)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", BLOCK))
    return args, dict(BLOCK=BLOCK), "1", dict(out_ptr=x - x.max())


@case(FILE, tol=1e-4)
def reversed_rows(rng, block=131072):
    """The row that is stored to is the one that is loaded, of which shared memory keeps a part."""
    x, t = normal(rng, block), normal(rng, block)
    total = x.sum(dtype=np.float64) + t.sum(dtype=np.float64)
    args = dict(x_ptr=x, t_ptr=t, b_ptr="&x_ptr", out_ptr=new("empty", "f32", block))
    expected = dict(x_ptr=t - total, out_ptr=(x + total)[::-1])
    return args, dict(BLOCK=block), "1", expected


@case(FILE, tol=1e-4, kernel="reversed_rows")
def reversed_in_place(rng, block=131072):
    x, t = normal(rng, block), normal(rng, block)
    total = x.sum(dtype=np.float64) + t.sum(dtype=np.float64)
    args = dict(x_ptr=x, t_ptr=t, b_ptr=new("empty", "f32", block), out_ptr="&x_ptr")
    expected = dict(x_ptr=(x + total)[::-1], b_ptr=t - total)
    return args, dict(BLOCK=block), "1", expected
