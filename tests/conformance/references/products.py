import numpy as np
from cases import new, normal
from references import case, eighths, typed

FILE = "products.py"


def operands(rng, dtype, a_shape, b_shape, b_dtype=None):
    """Small values: all products and their sums are exact, whatever the type and the order."""
    whole = dtype in ("i8", "f8e5", "f8e4nv")
    make = (lambda *s: rng.integers(-4, 5, s)) if whole else (lambda *s: eighths(rng, *s))
    return typed(make(*a_shape), dtype), typed(make(*b_shape), b_dtype or dtype)


def rounded(x):
    """To 10 bits of mantissa, ties away from zero."""
    bits = x.astype(np.float32).view(np.uint32) + np.uint32(0x1000)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


@case(FILE, tol=1e-3)
@case(FILE, tol=1e-2, dtype="bf16", trans_a=True)
@case(FILE, tol=1e-3, trans_a=True, trans_b=True, shape=(1, 16, 64, 48))
@case(FILE, tol=1e-3, trans_b=True, shape=(2, 33, 17, 130), tile=(16, 16, 64))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32")
@case(FILE, tol=1e-2, dtype="f32", precision="tf32_rounded")  # a CPU does not round
@case(FILE, tol=1e-2, dtype="f32", precision="tf32_rounded", shape=(1, 64, 64, 64), trans_b=True,
      tile=(64, 64, 32))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32x3", trans_b=True)
@case(FILE, tol=1e-5, dtype="f32", precision="ieee")
@case(FILE, tol=1e-5, dtype="f32", precision="ieee", trans_a=True, trans_b=True)
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32")
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_b=True, shape=(1, 64, 32, 64))
@case(FILE, tol=1e-3, dtype="f8e5")
@case(FILE, tol=1e-3, dtype="f8e4nv", trans_b=True)
@case(FILE, tol=1e-3, shape=(1, 1, 1, 1))
@case(FILE, tol=1e-3, acc="tl.float16")
@case(FILE, tol=1e-3, shape=(1, 100, 90, 200), tile=(64, 64, 64))
@case(FILE, tol=1e-2, dtype="bf16", trans_a=True, shape=(2, 130, 48, 96), tile=(128, 32, 32))
@case(FILE, tol=1e-3, trans_b=True, shape=(1, 64, 200, 160), tile=(64, 128, 128))
@case(FILE, tol=1e-3, trans_a=True, trans_b=True, shape=(1, 256, 16, 64), tile=(256, 16, 16))
@case(FILE, tol=1e-3, shape=(1, 60, 130, 70), tile=(64, 128, 16), options=("--num-warps", "8"))
@case(FILE, tol=1e-2, dtype="bf16", shape=(1, 128, 256, 64), tile=(128, 256, 64),
      options=("--num-warps", "8", "--num-stages", "2"))
@case(FILE, tol=1e-3, dtype="f8e4nv", trans_b=True, shape=(1, 64, 32, 192), tile=(64, 32, 64))
@case(FILE, tol=1e-3, dtype="f8e4nv", b_dtype="f8e5", trans_b=True, shape=(1, 70, 64, 300),
      tile=(128, 64, 128), options=("--num-warps", "8", "--num-stages", "2"))
@case(FILE, tol=1e-3, dtype="f8e5", b_dtype="f8e4nv", shape=(2, 64, 64, 128), tile=(64, 64, 64))
@case(FILE, tol=1e-3, dtype="f8e5", trans_a=True, shape=(1, 64, 64, 256), tile=(64, 64, 64))
@case(FILE, tol=1e-3, dtype="f8e4nv", shape=(1, 128, 256, 96), tile=(128, 256, 32),
      options=("--num-warps", "8"))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_b=True, shape=(1, 64, 64, 256),
      tile=(64, 64, 128))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_a=True, shape=(1, 64, 64, 96),
      tile=(64, 64, 32))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", trans_b=True, shape=(1, 100, 70, 90),
      tile=(64, 64, 32))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", trans_a=True, shape=(1, 100, 70, 90),
      tile=(64, 48, 32), options=("--num-warps", "8"))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", shape=(1, 100, 72, 92), tile=(64, 64, 32))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", shape=(1, 64, 256, 160), tile=(32, 128, 32),
      options=("--num-warps", "8"))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", shape=(2, 40, 70, 90), tile=(16, 64, 8))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", trans_a=True, trans_b=True,
      shape=(1, 128, 64, 144), tile=(128, 64, 48))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", shape=(1, 64, 72, 100), tile=(64, 64, 64),
      options=("--num-stages", "1"))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_a=True, trans_b=True,
      shape=(1, 64, 16, 300), tile=(64, 16, 256), options=("--num-stages", "1"))
@case(FILE, tol=1e-3, dtype="f8e4nv", shape=(1, 96, 112, 160), tile=(64, 64, 64))
@case(FILE, tol=1e-3, dtype="f8e5", b_dtype="f8e4nv", trans_a=True, trans_b=True,
      shape=(1, 128, 32, 96), tile=(128, 32, 32), options=("--num-warps", "8"))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", shape=(2, 48, 144, 128),
      tile=(16, 128, 64))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_a=True, trans_b=True,
      shape=(1, 256, 64, 64), tile=(256, 64, 32))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_a=True, trans_b=True,
      shape=(1, 384, 16, 64), tile=(384, 16, 32))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_a=True, trans_b=True,
      shape=(1, 256, 32, 64), tile=(256, 32, 64), options=("--num-warps", "16"))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", trans_a=True, shape=(1, 100, 72, 160),
      tile=(64, 64, 32))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", trans_a=True, shape=(1, 128, 136, 132),
      tile=(128, 128, 64), options=("--num-warps", "8"))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", trans_a=True, shape=(1, 64, 192, 96),
      tile=(64, 96, 32))
@case(FILE, tol=1e-3, dtype="f8e4nv", trans_a=True, shape=(1, 96, 112, 160), tile=(64, 64, 64))
@case(FILE, tol=1e-3, dtype="f8e5", b_dtype="f8e4nv", trans_a=True, shape=(1, 128, 144, 272),
      tile=(128, 128, 128), options=("--num-warps", "8"))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_a=True, shape=(1, 64, 256, 96),
      tile=(64, 256, 32))
@case(FILE, tol=0, dtype="i8", acc="tl.int32", out="i32", trans_a=True, shape=(1, 256, 64, 80),
      tile=(256, 32, 64), options=("--num-warps", "16"))
@case(FILE, tol=1e-2, dtype="bf16", trans_b=True, shape=(1, 13, 144, 96), tile=(16, 64, 32))
@case(FILE, tol=1e-3, trans_a=True, shape=(1, 40, 200, 160), tile=(32, 128, 32),
      options=("--num-warps", "8"))
@case(FILE, tol=1e-3, dtype="f8e4nv", trans_b=True, shape=(1, 16, 112, 192), tile=(16, 64, 64))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", trans_b=True, shape=(1, 20, 72, 100),
      tile=(16, 64, 32))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", trans_a=True, trans_b=True,
      shape=(1, 256, 32, 64), tile=(256, 32, 32), options=("--num-warps", "16"))
@case(FILE, tol=1e-3, shape=(1, 64, 200, 100), tile=(64, 96, 48))
@case(FILE, tol=1e-2, dtype="bf16", trans_a=True, trans_b=True, shape=(1, 192, 80, 100),
      tile=(192, 80, 96), options=("--num-stages", "2"))
@case(FILE, tol=1e-3, dtype="f8e4nv", trans_b=True, shape=(1, 64, 50, 200), tile=(64, 48, 96))
@case(FILE, tol=1e-2, dtype="bf16", trans_b=True, shape=(1, 200, 200, 100), tile=(192, 192, 32),
      options=("--num-warps", "8"))
@case(FILE, tol=1e-3, shape=(1, 192, 130, 96), tile=(192, 128, 32), options=("--num-warps", "8"))
@case(FILE, tol=1e-3, shape=(1, 64, 96, 64), tile=(64, 96, 32), options=("--num-warps", "8"))
@case(FILE, tol=1e-3, dtype="f8e4nv", trans_b=True, shape=(1, 192, 96, 64), tile=(192, 96, 32),
      options=("--num-warps", "8"))
@case(FILE, tol=1e-5, dtype="f32", precision="tf32", shape=(1, 64, 96, 72), tile=(64, 96, 32),
      options=("--num-warps", "8"))
def batched_matmul(rng, shape=(3, 50, 37, 70), tile=(32, 32, 32), dtype="f16", b_dtype=None,
                   out=None, acc="tl.float32", precision="tf32", trans_a=False, trans_b=False):
    B, M, N, K = shape
    (a_arg, a), (b_arg, b) = operands(rng, dtype, (B, K, M) if trans_a else (B, M, K),
                                      (B, N, K) if trans_b else (B, K, N), b_dtype)
    if precision == "tf32_rounded":
        (a_arg, a), (b_arg, b) = (typed(normal(rng, *x.shape), dtype) for x in (a, b))
        a, b = rounded(a), rounded(b)
    a, b = a.swapaxes(1, 2) if trans_a else a, b.swapaxes(1, 2) if trans_b else b
    out = out or ("f16" if dtype.startswith("f8") else dtype)
    args = dict(a_ptr=a_arg, b_ptr=b_arg, c_ptr=new("empty", out, B, M, N), M=M, N=N, K=K,
                stride_ab=M * K, stride_am=1 if trans_a else K, stride_ak=M if trans_a else 1,
                stride_bb=K * N, stride_bk=1 if trans_b else N,
                stride_bn=K if trans_b else 1)
    defines = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile), ACC=acc, PRECISION=precision)
    grid = f"cdiv(M, BLOCK_M), cdiv(N, BLOCK_N), {B}"
    return args, defines, grid, dict(c_ptr=a.astype(np.float64) @ b)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, trans_b=True)
@case(FILE, tol=1e-5, trans_a=True)
@case(FILE, tol=1e-5, trans_a=True, trans_b=True, shape=(16, 64, 32))
@case(FILE, tol=1e-5, trans_b=True, dtype="f16", shape=(64, 16, 64))
def whole_product(rng, shape=(32, 32, 32), dtype="f32", trans_a=False, trans_b=False):
    M, N, K = shape
    a, b = operands(rng, dtype, (M, K), (K, N))
    lies = lambda x, trans: np.ascontiguousarray(x.T) if trans else x
    args = dict(a_ptr=lies(a[0], trans_a), b_ptr=lies(b[0], trans_b),
                c_ptr=new("empty", "f32", M, N), stride_am=1 if trans_a else K,
                stride_ak=M if trans_a else 1, stride_bk=1 if trans_b else N,
                stride_bn=K if trans_b else 1)
    return args, dict(M=M, N=N, K=K), "1", dict(c_ptr=a[1].astype(np.float64) @ b[1])


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, shape=(2, 32, 16, 32), dtype="bf16")
@case(FILE, tol=1e-5, shape=(4, 16, 16, 16), dtype="f32")
def dot_3d(rng, shape=(4, 16, 32, 16), dtype="f16"):
    B, M, N, K = shape
    (a_arg, a), (b_arg, b) = operands(rng, dtype, (B, M, K), (B, K, N))
    args = dict(a_ptr=a_arg, b_ptr=b_arg, c_ptr=new("empty", "f32", B, M, N))
    return args, dict(zip("BMNK", shape)), "1", dict(c_ptr=a @ b)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, shape=(32, 64, 256), share=64)
def split_k(rng, shape=(50, 37, 200), share=70):
    M, N, K = shape
    a, b = eighths(rng, M, K), eighths(rng, K, N)
    args = dict(a_ptr=a, b_ptr=b, c_ptr=new("zeros", "f32", M, N), M=M, N=N, K=K, share=share)
    grid = "cdiv(M, BLOCK_M), cdiv(N, BLOCK_N), cdiv(K, share)"
    return args, dict(BLOCK_M=32, BLOCK_N=32, BLOCK_K=32), grid, dict(c_ptr=a @ b)


@case(FILE, tol=1e-3)
@case(FILE, tol=1e-3, shape=(64, 64, 32), programs=7)
def persistent_matmul(rng, shape=(70, 75, 45), programs=2):
    M, N, K = shape
    a, b = eighths(rng, M, K).astype(np.float16), eighths(rng, K, N).astype(np.float16)
    args = dict(a_ptr=a, b_ptr=b, c_ptr=new("empty", "f16", M, N), M=M, N=N, K=K)
    defines = dict(BLOCK_M=32, BLOCK_N=16, BLOCK_K=16)
    return args, defines, str(programs), dict(c_ptr=a.astype(np.float32) @ b)


@case(FILE, tol=1e-3)
@case(FILE, tol=1e-3, sizes=((16, 16, 16), (1, 1, 1), (33, 7, 20), (20, 40, 33)))
def grouped_matmul(rng, sizes=((20, 18, 30), (16, 48, 16))):
    pairs = [(eighths(rng, m, k), eighths(rng, k, n)) for m, n, k in sizes]
    flat = lambda arrays: np.concatenate([x.ravel() for x in arrays]).astype(np.float16)
    c = flat([a @ b for a, b in pairs])
    args = dict(pointers_ptr=new("zeros", "i64", len(sizes), 3), sizes_ptr=np.array(sizes, "i4"),
                a0_ptr=flat([a for a, _ in pairs]), b0_ptr=flat([b for _, b in pairs]),
                c0_ptr=new("empty", "f16", len(c)), groups=len(sizes))
    return args, dict(BLOCK=16, FILL=True), "1", dict(c0_ptr=c)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, rows=1, cols=300)
@case(FILE, tol=1e-5, dtype="bf16", rows=64, cols=256)
def matvec(rng, rows=37, cols=75, dtype="f32"):
    (a_arg, a), (x_arg, x) = operands(rng, dtype, (rows, cols), (cols, ))
    args = dict(a_ptr=a_arg, x_ptr=x_arg, y_ptr=new("empty", "f32", rows), rows=rows, cols=cols)
    return args, dict(BLOCK_R=16, BLOCK_C=64), "cdiv(rows, BLOCK_R)", dict(y_ptr=a @ x)


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, rows=1, cols=1)
def outer(rng, rows=37, cols=75):
    x, y, out = normal(rng, rows), normal(rng, cols), normal(rng, rows, cols)
    args = dict(x_ptr=x, y_ptr=y, out_ptr=out, rows=rows, cols=cols)
    grid = "cdiv(rows, BLOCK_R), cdiv(cols, BLOCK_C)"
    return args, dict(BLOCK_R=16, BLOCK_C=32), grid, dict(out_ptr=out + np.outer(x, y))


@case(FILE, tol=1e-5)
def complex_matmul(rng, n=16):
    ar, ai, br, bi = (eighths(rng, n, n) for _ in range(4))
    args = dict(ar_ptr=ar, ai_ptr=ai, br_ptr=br, bi_ptr=bi, cr_ptr=new("empty", "f32", n, n),
                ci_ptr=new("empty", "f32", n, n))
    c = (ar + 1j * ai) @ (br + 1j * bi)
    return args, dict(N=n), "1", dict(cr_ptr=c.real, ci_ptr=c.imag)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, shape=(64, 32, 16, 16), options=("--num-warps", "8"))
def chained_dots(rng, shape=(16, 32, 64, 32)):
    M, K, L, N = shape
    a, b, c = eighths(rng, M, K), eighths(rng, K, L), eighths(rng, N, L)
    half = lambda x: x.astype(np.float16)
    hidden = np.maximum(a @ b, 0).astype(np.float16)
    args = dict(a_ptr=half(a), b_ptr=half(b), c_ptr=half(c), out_ptr=new("empty", "f32", M, N))
    return args, dict(zip("MKLN", shape)), "1", dict(out_ptr=hidden.astype(np.float32) @ c.T)


@case(FILE, tol=1e-4)
@case(FILE, tol=1e-4, n=32, cols=1)
def triangular_solve(rng, n=16, cols=8):
    low, b = np.tril(normal(rng, n, n)) / n + np.eye(n, dtype="f4"), normal(rng, n, cols)
    args = dict(l_ptr=low, b_ptr=b, x_ptr=new("empty", "f32", n, cols))
    return args, dict(N=n, COLS=cols), "1", dict(x_ptr=np.linalg.solve(low, b))


@case(FILE, tol=1e-4)
@case(FILE, tol=1e-4, n=1, blocks=1)
def cholesky(rng, n=16, blocks=2):
    m = normal(rng, blocks, n, n)
    a = m @ m.swapaxes(1, 2) + n * np.eye(n, dtype="f4")
    args = dict(a_ptr=a, l_ptr=new("empty", "f32", blocks, n, n))
    return args, dict(N=n), str(blocks), dict(l_ptr=np.linalg.cholesky(a))


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, imprecise=32, tile=(64, 64, 64))
@case(FILE, tol=1e-5, imprecise=128, shape=(128, 256, 256), tile=(128, 256, 128),
      options=("--num-warps", "8"))
def block_scaled_product(rng, shape=(128, 64, 192), tile=(128, 32, 64), imprecise=None):
    M, N, K = shape
    (a_arg, a), (b_arg, b) = operands(rng, "f8e4nv", (M, K), (N, K))
    blocks = K // tile[2]
    scales = [np.exp2(rng.integers(-3, 4, (rows, blocks))).astype(np.float32) for rows in (M, N)]
    wide = [np.repeat(x, tile[2], axis=1) for x in scales]
    args = dict(a_ptr=a_arg, b_ptr=b_arg, a_scale_ptr=scales[0], b_scale_ptr=scales[1],
                c_ptr=new("empty", "f32", M, N), M=M, N=N, K=K)
    defines = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile), IMPRECISE=imprecise)
    grid = "cdiv(M, BLOCK_M), cdiv(N, BLOCK_N)"
    return args, defines, grid, dict(c_ptr=(a * wide[0]).astype(np.float64) @ (b * wide[1]).T)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, imprecise=0, shape=(64, 16, 128), tile=(64, 16, 64))
@case(FILE, tol=1e-5, imprecise=100, shape=(128, 256, 256), tile=(128, 256, 128), b_dtype="f8e5",
      options=("--num-warps", "8"))
@case(FILE, tol=1e-5, imprecise=500)  # above K: never
def promoted_product(rng, shape=(128, 64, 256), tile=(128, 32, 128), imprecise=64,
                     b_dtype="f8e4nv"):
    M, N, K = shape
    (a_arg, a), (b_arg, b) = operands(rng, "f8e4nv", (M, K), (N, K), b_dtype)
    args = dict(a_ptr=a_arg, b_ptr=b_arg, c_ptr=new("empty", "f32", M, N), N=N, K=K)
    defines = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile), IMPRECISE=imprecise)
    grid = f"cdiv({M}, BLOCK_M), cdiv(N, BLOCK_N)"
    return args, defines, grid, dict(c_ptr=1 + a.astype(np.float64) @ b.T)


@case(FILE, tol=0)
@case(FILE, tol=0, shape=(16, 16, 128), tile=(16, 16, 32))
@case(FILE, tol=0, shape=(8, 32, 16), tile=(8, 32, 4))
def bytes_product(rng, shape=(32, 64, 256), tile=(16, 32, 32)):
    M, N, K = shape
    a, b = (rng.integers(-128, 128, size).astype(np.int8) for size in ((M, K), (N, K)))
    a[0], b[0], a[1], b[1] = -128, -128, 127, 127
    args = dict(a_ptr=a, b_ptr=b, c_ptr=new("empty", "i32", M, N), N=N, K=K)
    defines = dict(zip(("BLOCK_M", "BLOCK_N", "WORDS"), tile))
    grid = f"cdiv({M}, BLOCK_M), cdiv(N, BLOCK_N)"
    return args, defines, grid, dict(c_ptr=7 + a.astype(np.int32) @ b.T.astype(np.int32))


@case(FILE, tol=0)
@case(FILE, tol=0, shape=(16, 16, 128), tile=(16, 16, 32))
@case(FILE, tol=0, shape=(8, 32, 16), tile=(8, 32, 4))
def pairs_product(rng, shape=(32, 64, 256), tile=(16, 32, 32)):
    """Infinity in one half of a word does not become NaN by the other half, nor do zeros."""
    M, N, K = shape
    x, y = (np.array(v, np.float64) for v in (eighths(rng, M, K), eighths(rng, N, K)))
    x[2, 0], x[3, 1] = np.inf, -np.inf
    y[:, :2] = np.abs(y[:, :2]) + 1
    a, b = typed(x, "bf16")[0], typed(y, "bf16")[0]
    args = dict(a_ptr=a, b_ptr=b, c_ptr=new("empty", "f32", M, N), N=N, K=K)
    defines = dict(zip(("BLOCK_M", "BLOCK_N", "WORDS"), tile))
    grid = f"cdiv({M}, BLOCK_M), cdiv(N, BLOCK_N)"
    return args, defines, grid, dict(c_ptr=0.5 + x @ y.T)
