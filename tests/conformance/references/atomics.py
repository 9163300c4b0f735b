import numpy as np
from cases import new, normal
from references import case, typed

FILE = "atomics.py"


@case(FILE, tol=0)
@case(FILE, tol=0, programs=300, sem="acquire")
def chain(rng, programs=20, block=64, sem=None):
    x = rng.integers(-100, 100, (programs, block)).astype(np.int32)
    flags, sums = np.zeros(programs, np.int32), new("empty", "i32", programs)
    want = dict(sums_ptr=np.cumsum(x.sum(1)).astype(np.int32),
                flags_ptr=np.ones(programs, np.int32))
    return dict(x_ptr=x, flags_ptr=flags, sums_ptr=sums), dict(BLOCK=block, SEM=sem), \
        str(programs), want


@case(FILE, tol=0)
@case(FILE, tol=0, programs=64, dtype="i64")
@case(FILE, tol=0, dtype="i16")
def all_arrive(rng, programs=16, dtype="i32"):
    flags, _ = typed(np.zeros(programs, np.float32), dtype)
    want = np.arange(programs, dtype=np.int32) + 2
    return dict(flags_ptr=flags, out_ptr=new("empty", "i32", programs)), \
        dict(PROGRAMS=programs), str(programs), dict(out_ptr=want)


@case(FILE, tol=0)
@case(FILE, tol=0, dtype="i8", load="relaxed", store="relaxed", scope="cta")
@case(FILE, tol=0, dtype="u8", load="acquire", store="release", scope="sys")
@case(FILE, tol=0, dtype="i16", load="relaxed", store="release", scope="gpu")
@case(FILE, tol=0, dtype="i64")
@case(FILE, tol=0, dtype="f16")
@case(FILE, tol=0, dtype="bf16")
@case(FILE, tol=0, dtype="f64")
def copy(rng, n=1000, dtype="f32", load=None, store=None, scope=None):
    x, y = typed(np.round(normal(rng, n) * 8), dtype)
    return dict(x_ptr=x, out_ptr=new("empty", dtype, n), n=n), \
        dict(LOAD=load, STORE=store, SCOPE=scope, BLOCK=256), "cdiv(n, BLOCK)", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, dtype="f16")
def scalars(rng, dtype="i32"):
    x, y = typed(np.array([5.0, 6.0], np.float32), dtype)
    return dict(x_ptr=x, out_ptr=new("empty", dtype, 3)), {}, "1", \
        dict(out_ptr=np.array([5, 7, 5]).astype(y.dtype))


@case(FILE, tol=0)
@case(FILE, tol=0, WAIT=0)
def poll_timeout(rng, WAIT=100000):
    x = np.array([0, 1, 1, 0], np.int32)
    args = dict(x_ptr=x, out_ptr=new("empty", "i32", 6))
    return args, dict(WAIT=WAIT), "1", dict(out_ptr=np.array([0, 1, 1, 0, 1, 0], np.int32))
