"""The cases of numeric.py: kernels, arguments, and what NumPy says the result is.

A case is a function of a random generator that returns
    args      name: array, bf16(array), number, None, or a VALUE as `nereid run` takes it
    defines   name: value, passed with -D
    grid      as `--grid` takes it
    expected  name of an output: array
Sizes are small, for the interpreters, and odd, so that every mask matters; they are parameters
with defaults, so that one function serves several cases and the demo.
"""
import collections, pathlib
import numpy as np

Case = collections.namedtuple("Case", "name file kernel make params tol options devices")
CASES = []


def decorator(cases, folder):
    """A decorator that adds the functions below it to `cases`."""
    def case(file, tol, kernel=None, options=(), devices=None, **params):
        """`tol` bounds |got - expected| / (1 + |expected|); `file` is relative to the folder, and
        its kernel has the function's name if no other is given; `devices`, if given, are the
        only ones the case runs on."""
        def add(make):
            name = make.__name__ + "".join(f",{k}={v}" for k, v in params.items())
            cases.append(Case(name, str(folder / file), kernel or make.__name__, make, params, tol,
                              options, devices))
            return make
        return add
    return case


case = decorator(CASES, pathlib.Path(__file__).resolve().parents[2] / "examples" / "kernels")


class narrow:
    """A float32 array of values that `dtype`, which NumPy lacks, holds exactly; passed to the
    kernel as that dtype."""
    def __init__(self, array, dtype):
        self.array, self.dtype = np.asarray(array, np.float32), dtype


def bf16(array):
    bits = np.asarray(array, np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)  # to nearest even
    return narrow(bits.view(np.float32), "bf16")


class described:
    """A tensor descriptor of an array or of a text that new() gives."""
    def __init__(self, array, block, shape=None, strides=None, padding=None):
        self.array, self.block, self.padding = array, block, padding
        self.parts = dict(shape=shape, strides=strides)

    def text(self, value):
        """As `nereid run` takes it; `value` is the text of the array."""
        bits = f"{8 * self.array.itemsize}" if isinstance(self.array, np.ndarray) else ""
        dtype = (f"{self.array.dtype.kind}{bits}" if bits else
                 value.split("[")[0].split(":")[-1])
        block = ",".join(map(str, self.block)) + "]"
        block += f",padding={self.padding}" if self.padding else ""
        parts = [f"{k}=[{','.join(map(str, part))}]:" for k, part in self.parts.items() if part]
        return f"tensordesc<{dtype}[{block}>:{''.join(parts)}{value}"


def new(how, dtype, *shape):
    return f"{how}:{dtype}[{','.join(map(str, shape))}]"


def normal(rng, *shape):
    return rng.standard_normal(shape, np.float32)


def sigmoid(x):
    with np.errstate(over="ignore"):  # to infinity, whose inverse is the 0 that is meant
        return 1 / (1 + np.exp(-x))


@case("vector_add.py", tol=0)
@case("vector_add.py", tol=0, n=7)
@case("vector_add.py", tol=0, n=1024)
def vector_add(rng, n=1000, block=256):
    x, y = normal(rng, n), normal(rng, n)
    args = dict(x_ptr=x, y_ptr=y, out_ptr=new("empty", "f32", n), n=n)
    return args, dict(BLOCK=block), "cdiv(n, BLOCK)", dict(out_ptr=x + y)


@case("softmax.py", tol=1e-6)
@case("softmax.py", tol=1e-6, n=1)
@case("softmax.py", tol=1e-6, n=128)
def softmax(rng, rows=5, n=77, block=128):
    x = normal(rng, rows, n)
    e = np.exp(x - x.max(1, keepdims=True), dtype=np.float64)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", rows, n), n_cols=n)
    return args, dict(BLOCK=block), str(rows), dict(out_ptr=e / e.sum(1, keepdims=True))


@case("rms_norm.py", tol=1e-2)
def rms_norm(rng, rows=5, n=200, block=256):
    x, w = bf16(normal(rng, rows, n)), bf16(normal(rng, n))
    y = x.array / np.sqrt((x.array**2).mean(1, keepdims=True) + 1e-6) * w.array
    args = dict(x_ptr=x, w_ptr=w, out_ptr=new("empty", "bf16", rows, n), n_cols=n, eps=1e-6)
    return args, dict(BLOCK=block), str(rows), dict(out_ptr=y)


@case("rms_norm_backward.py", tol=1e-5)
def rms_norm_backward(rng, rows=10, n=100, groups=3, block=128):
    x, dy, w = normal(rng, rows, n), normal(rng, rows, n), normal(rng, n)
    scale = 1 / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)
    xhat, wdy = x * scale, w * dy
    dx = (wdy - xhat * (xhat * wdy).mean(1, keepdims=True)) * scale
    args = dict(dy_ptr=dy, x_ptr=x, w_ptr=w, dx_ptr=new("empty", "f32", rows, n),
                dw_parts_ptr=new("empty", "f32", groups, n), n_rows=rows, n_cols=n, eps=1e-6)
    parts = np.stack([(dy * xhat)[g::groups].sum(0) for g in range(groups)])
    return args, dict(GROUPS=groups, BLOCK=block), str(groups), dict(dx_ptr=dx, dw_parts_ptr=parts)


@case("layer_norm.py", tol=1e-5)
def layer_norm_forward(rng, rows=5, n=200, block=256):
    x, w, b = normal(rng, rows, n), normal(rng, n), normal(rng, n)
    mean, rstd = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    y = (x - mean[:, None]) * rstd[:, None] * w + b
    args = dict(x_ptr=x, w_ptr=w, b_ptr=b, out_ptr=new("empty", "f32", rows, n),
                mean_ptr=new("empty", "f32", rows), rstd_ptr=new("empty", "f32", rows),
                n_cols=n, eps=1e-5)
    return args, dict(BLOCK=block), str(rows), dict(out_ptr=y, mean_ptr=mean, rstd_ptr=rstd)


@case("layer_norm.py", tol=1e-5)
def layer_norm_backward(rng, rows=10, n=100, groups=3, block=128):
    x, dy, w = normal(rng, rows, n), normal(rng, rows, n), normal(rng, n)
    mean, rstd = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    xhat = (x - mean[:, None]) * rstd[:, None]
    wdy = w * dy
    dx = wdy - xhat * (xhat * wdy).mean(1, keepdims=True) - wdy.mean(1, keepdims=True)
    of_group = [np.arange(rows) % groups == g for g in range(groups)]
    args = dict(dy_ptr=dy, x_ptr=x, w_ptr=w, mean_ptr=mean, rstd_ptr=rstd,
                dx_ptr=new("empty", "f32", rows, n), dw_parts_ptr=new("zeros", "f32", groups, n),
                db_parts_ptr=new("zeros", "f32", groups, n),
                locks_ptr=new("zeros", "i32", groups), n_cols=n)
    expected = dict(dx_ptr=dx * rstd[:, None],
                    dw_parts_ptr=np.stack([(dy * xhat)[g].sum(0) for g in of_group]),
                    db_parts_ptr=np.stack([dy[g].sum(0) for g in of_group]))
    return args, dict(GROUPS=groups, BLOCK=block), str(rows), expected


@case("layer_norm.py", tol=1e-5)
def layer_norm_backward_rows(rng, rows=10, n=100, groups=3, block=128):
    args, defines, _, expected = layer_norm_backward(rng, rows, n, groups, block)
    del args["locks_ptr"]
    return args | dict(n_rows=rows), defines, str(groups), expected


@case("layer_norm.py", tol=1e-5)
def layer_norm_backward_bands(rng, rows=10, n=100, band=4, block=32):
    args, _, _, expected = layer_norm_backward(rng, rows, n)
    del args["locks_ptr"]
    bands = [slice(first, first + band) for first in range(0, rows, band)]
    dy, mean, rstd = args["dy_ptr"], args["mean_ptr"][:, None], args["rstd_ptr"][:, None]
    xhat = (args["x_ptr"] - mean) * rstd
    for name, each in ("dw_parts_ptr", dy * xhat), ("db_parts_ptr", dy):
        args[name] = new("empty", "f32", len(bands), n)
        expected[name] = np.stack([each[b].sum(0) for b in bands])
    defines = dict(BAND=band, ROWS=2, COLS=64, BLOCK=block)
    grid = "cdiv(n_rows, BAND) * (BAND + cdiv(n_cols, COLS))"
    return args | dict(n_rows=rows), defines, grid, expected


@case("layer_norm.py", tol=1e-5)
def layer_norm_sum_parts(rng, groups=8, n=100, block=64):
    dw, db = normal(rng, groups, n), normal(rng, groups, n)
    args = dict(dw_parts_ptr=dw, db_parts_ptr=db, dw_ptr=new("empty", "f32", n),
                db_ptr=new("empty", "f32", n), n_cols=n)
    defines = dict(GROUPS=groups, BLOCK=block)
    return args, defines, "cdiv(n_cols, BLOCK)", dict(dw_ptr=dw.sum(0), db_ptr=db.sum(0))


def philox_words(seed, offsets):
    """tl.randint: the first word of Philox 4x32 with 10 rounds."""
    low, word = np.uint64(0xFFFFFFFF), np.uint64(32)
    c0, c1 = offsets.astype(np.uint64), np.zeros(len(offsets), np.uint64)
    c2, c3, k0, k1 = c1, c1, seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c2 = (b >> word) ^ c1 ^ np.uint64(k0), (a >> word) ^ c3 ^ np.uint64(k1)
        c1, c3 = b & low, a & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0.astype(np.uint32)


def philox_rand(seed, offsets):
    """tl.rand: the word as a float in [0, 1)."""
    signed = philox_words(seed, offsets).view(np.int32)
    positive = np.where(signed < 0, -signed - 1, signed).astype(np.float32)
    return positive * np.float32(4.6566127342e-10)


@case("dropout.py", tol=1e-6)
def dropout(rng, n=1000, p=0.25, block=256):
    x = normal(rng, n)
    keep = philox_rand(42, np.arange(n)) >= np.float32(p)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", n), n=n, p=p, seed=42)
    return args, dict(BLOCK=block), "cdiv(n, BLOCK)", dict(out_ptr=np.where(keep, x / (1 - p), 0))


ACTIVATIONS = {
    "None": lambda x: x,
    "fn:relu": lambda x: np.maximum(x, 0),
    "fn:leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "fn:silu": lambda x: x * sigmoid(x),
}


@case("matmul.py", tol=1e-2)
@case("matmul.py", tol=1e-2, activation="fn:silu")
@case("matmul.py", tol=1e-5, dtype="f32", activation="fn:relu")
@case("matmul.py", tol=1e-2, transposed=True, activation="fn:leaky_relu")
def matmul(rng, m=100, n=72, k=90, tile=(32, 32, 32), dtype="bf16", activation="None",
           transposed=False):
    """Inputs are small multiples of 1/8, so that products are exact in any dtype but the sums'
    order and the output's rounding remain."""
    small = lambda *shape: (rng.integers(-16, 17, shape) / 8).astype(np.float32)
    a, b = small(m, k), small(k, n)
    kind = bf16 if dtype == "bf16" else np.asarray
    args = dict(a_ptr=kind(a), b_ptr=kind(np.ascontiguousarray(b.T) if transposed else b),
                c_ptr=new("empty", dtype, m, n), M=m, N=n, K=k, stride_am=k, stride_ak=1,
                stride_bk=1 if transposed else n, stride_bn=k if transposed else 1,
                stride_cm=n, stride_cn=1)
    defines = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile), GROUP_M=2, ACTIVATION=activation)
    grid = "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"
    return args, defines, grid, dict(c_ptr=ACTIVATIONS[activation](a @ b))


@case("attention.py", tol=1e-2, causal=False)
@case("attention.py", tol=1e-2, causal=True)
@case("attention.py", tol=1e-2, causal=True, blocks=(16, 32))
def attention(rng, heads=2, n=75, dim=32, blocks=(32, 16), causal=False):
    q, k, v = (bf16(normal(rng, heads, n, dim)) for _ in range(3))
    scale = dim**-0.5
    scores = q.array @ k.array.transpose(0, 2, 1) * np.float32(scale)
    if causal:
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(2, keepdims=True))
    args = dict(q_ptr=q, k_ptr=k, v_ptr=v, out_ptr=new("empty", "bf16", heads, n, dim),
                seq_len=n, scale=scale)
    defines = dict(HEAD_DIM=dim, BLOCK_M=blocks[0], BLOCK_N=blocks[1], CAUSAL=causal)
    expected = dict(out_ptr=p / p.sum(2, keepdims=True) @ v.array)
    return args, defines, f"cdiv(seq_len, BLOCK_M), {heads}", expected


class Gradients:
    """Attention and its gradients, in float64, of which a kernel makes one or two."""
    def __init__(self, rng, heads, n, dim, causal):
        self.q, self.k, self.v, self.grad = (bf16(normal(rng, heads, n, dim)) for _ in range(4))
        q, k, v, grad = (x.array.astype(np.float64) for x in (self.q, self.k, self.v, self.grad))
        self.scale = dim**-0.5
        scores = q @ k.transpose(0, 2, 1) * self.scale
        if causal:
            scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(2, keepdims=True))
        self.sums = np.log2(p.sum(2)) + scores.max(2) * np.log2(np.e)
        p /= p.sum(2, keepdims=True)
        self.delta = (grad * (p @ v)).sum(2)
        ds = p * (grad @ v.transpose(0, 2, 1) - self.delta[..., None])
        self.dq, self.dk = ds @ k * self.scale, ds.transpose(0, 2, 1) @ q * self.scale
        self.dv = p.transpose(0, 2, 1) @ grad

    def arguments(self, *outputs):
        rows = dict(sums_ptr=self.sums.astype(np.float32), delta_ptr=self.delta.astype(np.float32))
        outputs = {f"{x}_ptr": new("empty", "bf16", *getattr(self, x).shape) for x in outputs}
        return dict(q_ptr=self.q, k_ptr=self.k, v_ptr=self.v, grad_ptr=self.grad, **rows, **outputs,
                    seq_len=self.q.array.shape[1], scale=self.scale)


@case("attention_backward.py", tol=1e-2)
@case("attention_backward.py", tol=1e-2, causal=True)
@case("attention_backward.py", tol=1e-2, causal=True, blocks=(16, 32))
def grad_keys(rng, heads=2, n=75, dim=32, blocks=(32, 16), causal=False):
    x = Gradients(rng, heads, n, dim, causal)
    defines = dict(HEAD_DIM=dim, BLOCK_M=blocks[0], BLOCK_N=blocks[1], CAUSAL=causal)
    return (x.arguments("dk", "dv"), defines, f"cdiv(seq_len, BLOCK_M), {heads}",
            dict(dk_ptr=x.dk, dv_ptr=x.dv))


@case("attention_backward.py", tol=1e-2)
@case("attention_backward.py", tol=1e-2, causal=True)
@case("attention_backward.py", tol=1e-2, causal=True, blocks=(16, 32))
def grad_query(rng, heads=2, n=75, dim=32, blocks=(32, 16), causal=False):
    x = Gradients(rng, heads, n, dim, causal)
    defines = dict(HEAD_DIM=dim, BLOCK_M=blocks[0], BLOCK_N=blocks[1], CAUSAL=causal)
    return x.arguments("dq"), defines, f"cdiv(seq_len, BLOCK_M), {heads}", dict(dq_ptr=x.dq)


@case("attention_backward.py", tol=1e-3)
def row_sums(rng, n=75, dim=32, block=16):
    out, grad = bf16(normal(rng, n, dim)), bf16(normal(rng, n, dim))
    args = dict(out_ptr=out, grad_ptr=grad, delta_ptr=new("empty", "f32", n), n_rows=n)
    expected = dict(delta_ptr=(out.array.astype(np.float64) * grad.array).sum(1))
    return args, dict(HEAD_DIM=dim, BLOCK=block), "cdiv(n_rows, BLOCK)", expected


@case("cumsum.py", tol=1e-5)
@case("cumsum.py", tol=1e-5, n=64)
def cumsum(rng, rows=5, n=200, block=64):
    x = normal(rng, rows, n)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", rows, n), n_cols=n)
    return args, dict(BLOCK=block), str(rows), dict(out_ptr=x.cumsum(1, dtype=np.float64))


@case("histogram.py", tol=0)
def histogram(rng, n=1000, bins=64, block=256):
    x = rng.integers(0, bins, n, np.int32)
    args = dict(x_ptr=x, counts_ptr=new("zeros", "i32", bins), n=n)
    expected = dict(counts_ptr=np.bincount(x, minlength=bins))
    return args, dict(BINS=bins, BLOCK=block), "cdiv(n, BLOCK)", expected


@case("cross_entropy.py", tol=1e-5)
@case("cross_entropy.py", tol=1e-5, with_grad=False)
def cross_entropy(rng, rows=6, n=200, block=64, with_grad=True):
    x, target = normal(rng, rows, n), rng.integers(0, n, rows)
    target[2] = -100
    counted, at = target != -100, np.maximum(target, 0)
    p = np.exp(x - x.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = np.where(counted, -np.log(p[np.arange(rows), at]), 0)
    grad = np.where(counted[:, None], p - np.eye(n)[at], 0)
    args = dict(logits_ptr=x, target_ptr=target, loss_ptr=new("empty", "f32", rows),
                grad_ptr=new("empty", "f32", rows, n) if with_grad else None,
                n_classes=n, ignore_index=-100)
    expected = dict(loss_ptr=loss, grad_ptr=grad) if with_grad else dict(loss_ptr=loss)
    return args, dict(BLOCK=block), str(rows), expected


@case("rotary.py", tol=1e-5)
def rotary(rng, tokens=5, heads=6, half=24, block_heads=4, block_half=32):
    x = normal(rng, tokens, heads, 2 * half)
    angle = np.arange(tokens)[:, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    a, b, c, s = x[..., :half], x[..., half:], cos[:, None], sin[:, None]
    args = dict(x_ptr=x, cos_ptr=cos, sin_ptr=sin,
                out_ptr=new("empty", "f32", tokens, heads, 2 * half), n_heads=heads, half=half)
    defines = dict(BLOCK_HEADS=block_heads, BLOCK_HALF=block_half)
    grid = f"{tokens}, cdiv(n_heads, BLOCK_HEADS)"
    return args, defines, grid, dict(out_ptr=np.concatenate([a * c - b * s, b * c + a * s], -1))
