"""Rows of which much is computed: on chip, and in loops where they take too many registers."""
import numpy as np

rng = np.random.default_rng(11)
ARRAYS = {
    "x": rng.uniform(0.5, 1, (3, 6480)).astype(np.float32),
    "short": rng.uniform(0.5, 1, (100, 60)).astype(np.float32),
    "i": rng.integers(-5, 5, (3, 6480)),
    "w": rng.uniform(0.5, 1, 5).astype(np.float32),
    "bytes": rng.integers(-9, 9, (7, 3), np.int8),
}


def chain(op, name, n):
    """x = op(x), n times, as parts of their sum."""
    calls = [f"{op}.default({name})"] + [f"{op}.default(${i})" for i in range(n - 1)]
    calls += [f"sum.dim_IntList(${n - 1}, [1], True)", f"div.Tensor(${n - 1}, ${n})"]

    def numpy(x):
        for _ in range(n):
            x = getattr(np, op)(x)
        return x / np.sum(x, 1, keepdims=True)

    return "; ".join(calls), numpy


def hashed(axis=None, keepdims=False):
    """The exclusive or of 64 bits of each element, floats as f64."""
    def of(x):
        wide = x.astype(np.float64 if x.dtype.kind == "f" else np.int64).view(np.uint64)
        return np.bitwise_xor.reduce(wide, axis, keepdims=keepdims)
    return of


CASES = [
    ("hash_tensor.default(x)", hashed()),
    ("hash_tensor.default(short, [1])", hashed(1)),
    ("hash_tensor.default(i, [-2], keepdim=True)", hashed(0, True)),
    ("hash_tensor.default(bytes)", hashed()),
    ("fmod.Scalar(x, 0.7); remainder.Scalar($0, 0.3)",
     lambda x: np.mod(np.fmod(x, np.float32(0.7)), np.float32(0.3))),
    ("fmod.Scalar(i, 3)", lambda i: np.fmod(i, 3)),
    chain("sqrt", "x", 4),
    chain("sqrt", "x", 34),
    chain("sin", "x", 4),
    chain("sin", "short", 9),
    ("index.Tensor(w, [i]); sum.dim_IntList($0, [0, 1]); mul.Tensor(x, $0); "
     "sum.dim_IntList($2, [0, 1]); div.Tensor($3, $1)",
     lambda w, i, x: np.sum(x * w[i]) / np.sum(w[i])),
]
