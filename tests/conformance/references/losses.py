import numpy as np
from cases import bf16, new, normal, philox_words
from references import case, eighths, typed

FILE = "losses.py"


def log_sum(x):
    top = x.max(1, keepdims=True)
    return top + np.log(np.exp(x - top, dtype=np.float64).sum(1, keepdims=True))


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, rows=1, cols=1)
@case(FILE, tol=1e-5, rows=4, cols=256)
def logsumexp(rng, rows=7, cols=150):
    x = normal(rng, rows, cols) * 20
    if cols > 1:
        x[0, :] = 1000
        x[-1, ::2] = -np.inf
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", rows), rows=rows, cols=cols)
    return args, dict(ROWS=4, BLOCK=32), "cdiv(rows, ROWS)", dict(out_ptr=log_sum(x)[:, 0])


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, cols=1)
@case(FILE, tol=1e-2, dtype="bf16", cols=256)
def online_softmax(rng, rows=3, cols=150, dtype="f32"):
    arg, x = typed(normal(rng, rows, cols) * 5, dtype)
    args = dict(x_ptr=arg, out_ptr=new("empty", dtype, rows, cols), cols=cols)
    return args, dict(BLOCK=64), str(rows), dict(out_ptr=np.exp(x - log_sum(x)))


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, log_target=True)
def kl_divergence(rng, rows=3, cols=150, log_target=False):
    x, y = normal(rng, rows, cols), normal(rng, rows, cols)
    logp, logq = (x - log_sum(x)).astype("f4"), (y - log_sum(y)).astype("f4")
    q = np.exp(logq)
    if not log_target:
        q[:, ::3] = 0
    loss = np.where(q > 0, q * (logq - logp), 0).sum(1)
    args = dict(logp_ptr=logp, q_ptr=logq if log_target else q, loss_ptr=new("empty", "f32", rows),
                grad_ptr=new("empty", "f32", rows, cols), cols=cols)
    defines = dict(LOG_TARGET=log_target, BLOCK=64)
    return args, defines, str(rows), dict(loss_ptr=loss, grad_ptr=-q)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, n=64, gamma=0.5)
def focal_loss(rng, n=100, alpha=0.25, gamma=2.0):
    x, target = normal(rng, n) * 4, rng.integers(0, 2, n).astype(bool)
    z = np.where(target, x, -x).astype(np.float64)
    log_p = -np.log1p(np.exp(-z))
    loss = -np.where(target, alpha, 1 - alpha) * (1 - np.exp(log_p))**gamma * log_p
    args = dict(x_ptr=x, target_ptr=target, loss_ptr=new("empty", "f32", n), n=n, alpha=alpha,
                gamma=f"{gamma}:fp32")
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", dict(loss_ptr=loss)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-2, dtype="bf16", n=128)
def adamw(rng, n=100, dtype="f32", lr=0.01, beta1=0.9, beta2=0.99, eps=1e-8, decay=0.1, step=3):
    (p_arg, p), (g_arg, g) = typed(normal(rng, n), dtype), typed(normal(rng, n), dtype)
    m, v = normal(rng, n), normal(rng, n)**2
    m2, v2 = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    p2 = p * (1 - lr * decay) - lr * (m2 / (1 - beta1**step)) / (
        np.sqrt(v2 / (1 - beta2**step)) + eps)
    args = dict(p_ptr=p_arg, g_ptr=g_arg, m_ptr=m, v_ptr=v, n=n, lr=lr, beta1=beta1, beta2=beta2,
                eps=eps, decay=decay, step=step)
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", dict(p_ptr=p2, m_ptr=m2, v_ptr=v2)


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, n=1)
def lion(rng, n=100, lr=0.01, beta1=0.9, beta2=0.99, decay=0.1):
    p, g, m = normal(rng, n), normal(rng, n), normal(rng, n)
    p2 = p * (1 - lr * decay) - lr * np.sign(beta1 * m + (1 - beta1) * g)
    args = dict(p_ptr=p, g_ptr=g, m_ptr=m, n=n, lr=lr, beta1=beta1, beta2=beta2, decay=decay)
    expected = dict(p_ptr=p2, m_ptr=beta2 * m + (1 - beta2) * g)
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", expected


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, cols=128, dtype="f16")
def quantize_rows(rng, rows=3, cols=75, dtype="f32"):
    """The largest value of a row is 127, so that scales are 1 and halves are met exactly."""
    arg, x = typed(np.clip(rng.integers(-254, 255, (rows, cols)) / 2, -126.5, 126.5), dtype)
    x[:, 0] = 127
    x[1] = 0
    q = np.trunc(x + np.where(x >= 0, 0.5, -0.5))
    scale = np.maximum(np.abs(x).max(1), 1e-10) / 127
    args = dict(x_ptr=arg, q_ptr=new("empty", "i8", rows, cols),
                scale_ptr=new("empty", "f32", rows), cols=cols)
    return args, dict(BLOCK=128), str(rows), dict(q_ptr=q, scale_ptr=scale)


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, n=256, group=64)
def dequantize_int4(rng, n=150, group=16):
    q, groups = rng.integers(0, 16, n), -(-n // group)
    scale, zero = eighths(rng, groups), rng.integers(0, 16, groups).astype(np.float32)
    packed = (q[::2] | q[1::2] << 4).astype(np.uint8)
    args = dict(packed_ptr=packed, scale_ptr=scale, zero_ptr=zero, out_ptr=new("empty", "f32", n),
                n=n)
    at = np.arange(n) // group
    expected = dict(out_ptr=(q - zero[at]) * scale[at])
    return args, dict(GROUP=group, BLOCK=64), "cdiv(n, 2 * BLOCK)", expected


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, shape=(16, 32, 64))
def matmul_int4(rng, shape=(20, 37, 72)):
    M, N, K = shape
    x, w = eighths(rng, M, K).astype(np.float16), rng.integers(-8, 8, (K, N))
    scale = eighths(rng, N)
    nibbles = (w + 8).astype(np.uint32).reshape(K // 8, 8, N)
    packed = (nibbles << (4 * np.arange(8, dtype=np.uint32))[:, None]).sum(1, dtype=np.uint32)
    args = dict(x_ptr=x, packed_ptr=packed.view(np.int32), scale_ptr=scale,
                out_ptr=new("empty", "f32", M, N), M=M, N=N, K=K)
    grid = "cdiv(M, BLOCK_M), cdiv(N, BLOCK_N)"
    expected = dict(out_ptr=x.astype(np.float32) @ w * scale)
    return args, dict(BLOCK_M=16, BLOCK_N=32, BLOCK_K=32), grid, expected


@case(FILE, tol=0)
def round_stochastically(rng, n=200, seed=7):
    x = normal(rng, n)
    noise = philox_words(seed, np.arange(n)) & np.uint32(0xFFFF)
    cut = (x.view(np.uint32) + noise.astype(np.uint32)) & np.uint32(0xFFFF0000)
    args = dict(x_ptr=x, out_ptr=new("empty", "bf16", n), n=n, seed=seed)
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", dict(out_ptr=cut.view(np.float32))


def to_fp8(x, mantissa, least, largest):
    """Rounds to nearest even with so many bits after the point, down to 2^least."""
    exponent = np.maximum(np.frexp(x)[1] - 1, least)
    unit = np.exp2(exponent - mantissa)
    return np.clip(np.rint(x / unit) * unit, -largest, largest)


@case(FILE, tol=0)
@case(FILE, tol=0, n=256)
def narrow_casts(rng, n=75):
    x = (normal(rng, n) * np.exp2(rng.integers(-12, 5, n))).astype(np.float32)
    names = dict(half="f16", brain="bf16", e4="f8e4nv", e5="f8e5", byte="i8")
    args = dict(x_ptr=x, **{f"{k}_ptr": new("empty", t, n) for k, t in names.items()}, n=n)
    expected = dict(half_ptr=x.astype(np.float16), brain_ptr=bf16(x).array,
                    e4_ptr=to_fp8(x, 3, -6, 448), e5_ptr=to_fp8(x, 2, -14, 57344),
                    byte_ptr=x.astype(np.int8))
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", expected
