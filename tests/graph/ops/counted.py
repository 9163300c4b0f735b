"""Sizes that data decides."""
import numpy as np

rng = np.random.default_rng(6)

ARRAYS = {
    "x": rng.integers(0, 3, (5, 7)).astype(np.float32),
    "line": rng.integers(0, 2, 3000),
    "long": rng.integers(0, 2, 9001),
    "cube": rng.normal(size=(3, 4, 5)).astype(np.float32),
    "mask": rng.random((3, 4)) < 0.4,
    "inner": rng.random(4) < 0.5,
    "none": np.zeros((3, 4), bool),
    "s_x": rng.integers(0, 2, (6, 9)),
}

CASES = [
    ("nonzero.default(x)", lambda x: np.argwhere(x)),
    ("argwhere.default(line)", lambda x: np.argwhere(x)),
    ("nonzero.default(s_x)", lambda x: np.argwhere(x)),
    ("nonzero.default(long)", lambda x: np.argwhere(x)),
    ("nonzero.default(none)", lambda x: np.argwhere(x)),
    ("masked_select.default(cube, full)", lambda x, m: x[m]),
    ("index.Tensor(cube, [mask])", lambda x, m: x[m]),
    ("index.Tensor(cube, [none])", lambda x, m: x[m]),
    ("index.Tensor(cube, [None, inner])", lambda x, m: x[:, m]),
    # a mask of no input, whose elements are counted once
    ("ones_like.default(mask); index.Tensor(cube, [$0])", lambda m, x: x[np.ones_like(m)]),
    # what comes behind depends on the size; and one size on another
    ("nonzero.default(x); sum.dim_IntList($0, [0]); sub.Tensor($0, $1); mul.Tensor($2, 2)",
     lambda x: 2 * (np.argwhere(x) - np.argwhere(x).sum(0))),
    ("index.Tensor(cube, [mask]); gt.Scalar($0, 0); masked_select.default($0, $1); "
     "cumsum.default($2, 0)",
     lambda x, m: np.cumsum(x[m][x[m] > 0])),
]
CASES += [
    # less with every element that there is
    ("nonzero.default(x); sym_size.int($0, 0); slice.Tensor(line, 0, $1); sum.default($2)",
     lambda x, line: line[np.count_nonzero(x):].sum()),
]
CASES += [
    ("_unique2.default(x, True, True, True) -> 0,1,2",
     lambda x: (lambda v, i, c: (v, i.reshape(x.shape), c))(
         *np.unique(x, return_inverse=True, return_counts=True))),
    ("_unique2.default(line) -> 0", np.unique),
    ("_unique2.default(cube, return_counts=True) -> 0,2",
     lambda x: np.unique(x, return_counts=True)),
]
CASES += [
    ("bincount.default(line)", np.bincount),
    ("bincount.default(codes)", np.bincount),
    ("bincount.default(codes, None, 50)", lambda x: np.bincount(x, minlength=50)),
    ("bincount.default(codes, weights)", lambda x, w: np.bincount(x, w).astype(np.float32)),
    ("bincount.default(codes, halves)", lambda x, w: np.bincount(x, w)),
    ("bincount.default(few)", np.bincount),
    ("bincount.default(codes); cumsum.default($0, 0); sub.Tensor($1, $0)",
     lambda x: np.cumsum(np.bincount(x)) - np.bincount(x)),
]
CASES += [
    ("repeat_interleave.Tensor(often)", lambda r: np.repeat(np.arange(4), r)),
    ("repeat_interleave.self_Tensor(mask, often, 1)", lambda x, r: np.repeat(x, r, 1)),
    ("repeat_interleave.self_Tensor(cube, three)", lambda x, r: np.repeat(x, r[0])),
    ("repeat_interleave.self_Tensor(inner, often); cumsum.default($0, 0); mul.Tensor($1, $0)",
     lambda x, r: np.cumsum(np.repeat(x, r)) * np.repeat(x, r)),
]
ARRAYS["often"] = np.array([3, 0, 1, 40])
ARRAYS["three"] = np.array([3])
ARRAYS["codes"] = rng.integers(0, 37, 900)
ARRAYS["weights"] = rng.normal(size=900).astype(np.float32)
ARRAYS["halves"] = rng.normal(size=900)
ARRAYS["few"] = rng.integers(0, 9, 5).astype(np.int32)
ARRAYS["full"] = rng.random((3, 4, 5)) < 0.3
CASES += [
    # a number that is an element of a tensor
    ("sum.default(mask); item.default($0); slice.Tensor(x, 1, 0, $1)",
     lambda m, x: x[:, :m.sum()]),
    ("sum.default(mask); item.default($0); narrow.default(line, 0, 0, $1); mul.Tensor($2, 3)",
     lambda m, line: 3 * line[:m.sum()]),
]
