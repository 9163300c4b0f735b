import numpy as np
from cases import new, normal
from references import case, eighths, typed

FILE = "gluon.py"


@case(FILE, tol=0)
@case(FILE, tol=0, layout="CoalescedLayout()")
@case(FILE, tol=0, layout="SliceLayout(1, BlockedLayout((1, 1), (32, 1), (2, 2), (0, 1)))")
def add_masked(rng, layout="BlockedLayout((4,), (32,), (4,), (0,))"):
    x, y = eighths(rng, 1000), eighths(rng, 1000)
    least = np.maximum(y, 0.5)
    args = dict(x_ptr=x, y_ptr=y, out_ptr=new("empty", "f32", 1000), n=1000)
    return args, dict(B=256, layout=layout), "cdiv(n, B)", \
        dict(out_ptr=np.where(x > 0, x * 2 + least, least))


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, rows=1, columns=64)
def softmax_rows(rng, rows=10, columns=60):
    x = normal(rng, rows, columns)
    e = np.exp(x - x.max(1, keepdims=True))
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", rows, columns), rows=rows, columns=columns,
                stride=columns)
    return args, dict(R=4, C=64), "cdiv(rows, R)", dict(out_ptr=e / e.sum(1, keepdims=True))


@case(FILE, tol=0)
@case(FILE, tol=0, rows=64, columns=32, dtype="f16")
def transpose(rng, rows=40, columns=50, dtype="f32"):
    x, _ = typed(normal(rng, rows, columns), dtype)
    args = dict(x_ptr=x, out_ptr=new("empty", dtype, columns, rows), M=rows, N=columns)
    return args, dict(B=32), "cdiv(M, B), cdiv(N, B)", dict(out_ptr=x.T)


@case(FILE, tol=0)
def permuted(rng):
    x = eighths(rng, 16, 32)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", 32, 16))
    return args, dict(M=16, N=32), "1", dict(out_ptr=x.T + np.arange(16, dtype=np.float32))


@case(FILE, tol=0)
@case(FILE, tol=0, n=128, STAGES=3)
@case(FILE, tol=0, dtype="i8")
@case(FILE, tol=0, dtype="f16", STAGES=4)
def ring(rng, n=700, dtype="f32", STAGES=2):
    x, values = typed(eighths(rng, n) * 8, dtype)
    args = dict(x_ptr=x, out_ptr=new("empty", dtype, n), n=n)
    return args, dict(B=128, STAGES=STAGES), "1", dict(out_ptr=values + values)


@case(FILE, tol=0)
def views(rng, M=16, N=32):
    x = eighths(rng, M, N)
    y = x.copy()
    y[:, N // 2:N // 2 + N // 4] *= 10
    y.reshape(-1)[:4] = 7
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", 2, N, M))
    return args, dict(M=M, N=N), "2", dict(out_ptr=np.stack([y.T, y.T + 1]))


@case(FILE, tol=0)
def matmul(rng, M=32, N=32, K=96):
    a, b = eighths(rng, M, K), eighths(rng, K, N)
    args = dict(a_ptr=a.astype(np.float16), b_ptr=b.astype(np.float16),
                c_ptr=new("empty", "f32", M, N), K=K)
    return args, dict(M=M, N=N, BK=32), "1", dict(c_ptr=a @ b)


@case(FILE, tol=0)
def outer_sum(rng, M=16, N=32, K=16):
    a, b = eighths(rng, M, K), eighths(rng, K, N)
    args = dict(a_ptr=a, b_ptr=b, c_ptr=new("empty", "f32", M, N))
    return args, dict(M=M, N=N, K=K), "1", dict(c_ptr=a @ b)


@case(FILE, tol=0)
@case(FILE, tol=0, count=0)
@case(FILE, tol=0, n=8)
@case(FILE, tol=0, n=8, count=9)
def paths(rng, n=3, count=4):
    x = eighths(rng, 128)
    a, b = (x + 1, x + 100) if n > 5 else ((x + 1) * 2, x + 100)
    for k in range(min(count, 5)):
        if k == 2:
            b = a + b
        else:
            a = a + k
    a, b = b, a
    for i in range(n + 1):
        a = (a + 1) * 2 if i < n else a + 1
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", 256), n=n, count=count)
    return args, {}, "1", dict(out_ptr=np.concatenate([a, b + (n > 5)]).astype(np.float32))


@case(FILE, tol=0)
@case(FILE, tol=0, dtype="f16", AXIS=-1)
def four_bits(rng, M=16, N=8, dtype="f32", AXIS=0):
    x = rng.integers(0, 256, (M, N)).astype(np.uint8)
    codes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
    y = np.stack([codes[x & 15], codes[x >> 4]], 1 if AXIS == 0 else 2)
    y = y.reshape((2 * M, N) if AXIS == 0 else (M, 2 * N))
    args = dict(x_ptr=x, out_ptr=new("empty", dtype, *y.shape))
    return args, dict(M=M, N=N, AXIS=AXIS), "1", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, n=0)
@case(FILE, tol=0, n=5)
def ping_pong(rng, n=3):
    x = eighths(rng, 128)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", 128), n=n)
    return args, {}, "1", dict(out_ptr=x * 2**(n if n < 5 else 4))
