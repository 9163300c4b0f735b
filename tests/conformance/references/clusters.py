import numpy as np

from cases import new, normal

from . import bf16, case, eighths

FILE = "clusters.py"


@case(FILE, tol=0, options=("--num-ctas", "2"))
@case(FILE, tol=0, m=8, n=128, options=("--num-ctas", "4", "--num-warps", "8"))
@case(FILE, tol=0, m=1, n=1024, options=("--num-ctas", "16"))
def copy_block(rng, m=16, n=32):
    x = normal(rng, 2 * m + 3, 3 * n - 4)
    args = dict(x=x, out=new("empty", "f32", *x.shape), rows=x.shape[0], cols=x.shape[1])
    return args, dict(M=m, N=n), "cdiv(rows, M), cdiv(cols, N)", dict(out=x)


@case(FILE, tol=0, options=("--num-ctas", "2"))
@case(FILE, tol=0, size=64, options=("--num-ctas", "4", "--num-warps", "1"))
@case(FILE, tol=0, size=1024, options=("--num-ctas", "8", "--num-warps", "8"))
def rows(rng, size=256, programs=3):
    n = size - 5
    x = np.zeros((programs, size), np.int32)
    x[:, :n] = rng.integers(0, 16, (programs, n))
    args = dict(x=np.ascontiguousarray(x[:, :n]), sums=new("empty", "i32", programs),
                largest=new("empty", "i32", programs),
                sorted_ptr=new("empty", "i32", programs, size),
                before=new("empty", "i32", programs, size), counts=np.zeros(16, np.int32), n=n)
    counts = np.bincount(x.ravel(), minlength=16).astype(np.int32)
    want = dict(sums=x.sum(1).astype(np.int32), largest=x.max(1), sorted_ptr=np.sort(x, 1),
                before=np.cumsum(x, 1).astype(np.int32), counts=counts)
    return args, dict(N=size), str(programs), want


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, options=("--num-ctas", "2"))
@case(FILE, tol=1e-5, tile=(64, 64, 32), options=("--num-ctas", "4"))
@case(FILE, tol=1e-5, tile=(128, 64, 32), inner=0, options=("--num-ctas", "2"))
def product(rng, tile=(32, 32, 32), rows=72, cols=80, inner=104):
    x, y = eighths(rng, rows, inner), eighths(rng, cols, inner)
    args = dict(x=bf16(x), y=bf16(y), out=new("empty", "f32", rows, cols), rows=rows, cols=cols,
                inner=inner)
    defines = dict(zip("MNK", tile))
    return args, defines, "cdiv(rows, M) * cdiv(cols, N)", dict(out=x @ y.T)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, flatten=True)
@case(FILE, tol=1e-5, tile=(64, 64, 32), rows=200, options=("--num-ctas", "2"))
@case(FILE, tol=1e-5, tile=(64, 64, 32), flatten=True, options=("--num-ctas", "4"))
def product_persistent(rng, tile=(32, 32, 32), rows=136, cols=80, inner=72, flatten=False):
    args, defines, _, want = product(rng, tile, rows, cols, inner)
    return args, dict(**defines, FLATTEN=flatten), "2", want


@case(FILE, tol=1e-2)
@case(FILE, tol=1e-2, block=(64, 64), dim=64, options=("--num-ctas", "2"))
def attention(rng, block=(32, 32), dim=32, queries=128, keys=192):
    q, k, v = (bf16(normal(rng, n, dim)) for n in (queries, keys, keys))
    args = dict(q=q, k=k, v=v, out=new("empty", "f32", queries, dim), keys=keys, scale=0.25)
    scores = q.array.astype(np.float64) @ k.array.T.astype(np.float64) * 0.25
    p = np.exp2(scores - scores.max(1, keepdims=True))
    want = (p / p.sum(1, keepdims=True)) @ v.array
    return args, dict(M=block[0], N=block[1], D=dim), "4" if block[0] == 32 else "2", dict(out=want)
