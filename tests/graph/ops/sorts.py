"""Sorting and what is made of it: stable, NaN behind all others."""
import numpy as np

rng = np.random.default_rng(2)


def special(shape, dtype):
    """Few different numbers, among them NaN, infinities and both zeros."""
    numbers = [0.0, -0.0, 1, -1, 2.5, -2.5, np.nan, np.inf, -np.inf]
    return rng.choice(np.array(numbers, dtype), shape)


ARRAYS = {
    "x": rng.normal(size=(3, 20)).astype(np.float32),
    "ties": special((4, 37), np.float32),
    "h": special((2, 40), np.float16),
    "d": special((3, 30), np.float64),
    "q": rng.integers(-5, 5, (4, 3, 9)),
    "wide": rng.integers(-2**63, 2**63 - 1, (2, 25)),
    "i": rng.integers(-2**31, 2**31 - 1, (3, 16)).astype(np.int32),
    "u": rng.integers(0, 256, (2, 64)).astype(np.uint8),
    "t": rng.random((3, 11)) < 0.5,
    "one": np.float32(3.5),
    "column": rng.normal(size=(7, 1)).astype(np.float32),
    "long": special((2, 5000), np.float32),
    "vocabulary": rng.normal(size=(2, 9000)).astype(np.float32),
    "tied": special((2, 20001), np.float32),
    "thousand": special((3, 1031), np.float32),
    "counts": rng.integers(-3000, 3000, (1, 33000)),
    "h_long": special((2, 9000), np.float16),
    "h_whole": rng.normal(size=(1, 65536)).astype(np.float16),
    "h_longer": rng.normal(size=(1, 65537)).astype(np.float16),
    "u_long": rng.integers(0, 256, (2, 5000)).astype(np.uint8),
    "short": rng.integers(-2**15, 2**15 - 1, (2, 6000)).astype(np.int16),
    "byte": rng.integers(-128, 127, (3, 300)).astype(np.int8),
    "half": rng.normal(size=(17000, 2)).astype(np.float16),
    "s_x": special((3, 45), np.float32),
    "s_long": rng.integers(-50, 50, 4500),
}


def order(x, axis, descending):
    """NumPy has no stable descending order with NaN in front: of equal elements the first one
    comes first either way."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    return np.argsort(-ranks(x), axis, kind="stable")


def ranks(x):
    """Integers in x's order."""
    return np.unique(x, return_inverse=True, equal_nan=True)[1].reshape(x.shape)


def sort(axis=-1, descending=False):
    def of(x):
        places = order(x, axis, descending)
        return np.take_along_axis(x, places, axis), places
    return of


def topk(k, axis=-1, largest=True):
    def of(x):
        places = np.take(order(x, axis, largest), range(k), axis)
        return np.take_along_axis(x, places, axis), places
    return of


def kth(k, axis=-1, keep=False):
    def of(x):
        places = np.take(order(x, axis, False), [k - 1], axis)
        found = np.take_along_axis(x, places, axis), places
        return found if keep else tuple(np.squeeze(v, axis) for v in found)
    return of


def median(axis, skip=False):
    def of(x):
        places = order(x, axis, False)
        nans = np.isnan(x).sum(axis, keepdims=True)
        n = x.shape[axis] - nans
        middle = np.maximum(n - 1, 0) // 2 if skip else np.where(nans > 0, n, (n - 1) // 2)
        place = np.take_along_axis(places, middle, axis)
        return tuple(np.squeeze(v, axis)
                     for v in (np.take_along_axis(x, place, axis), place))
    return of


CASES = [
    ("sort.default(x) -> 0,1", sort()),
    ("sort.default(x, 0, True) -> 0,1", sort(0, True)),
    ("sort.stable(ties, stable=True, dim=1) -> 0,1", sort()),
    ("sort.stable(ties, stable=True, dim=1, descending=True) -> 0,1", sort(1, True)),
    ("sort.default(h, -1) -> 0,1", sort()),
    ("sort.default(h, 1, True) -> 0,1", sort(1, True)),
    ("sort.default(h_long) -> 0,1", sort()),
    ("sort.default(h_long, 1, True) -> 0,1", sort(1, True)),
    ("sort.default(h_whole, 1, True) -> 0,1", sort(1, True)),
    ("sort.default(h_longer) -> 0,1", sort()),
    ("sort.default(u_long, 1, True) -> 0,1", sort(1, True)),
    ("sort.default(short) -> 0,1", sort()),
    ("sort.default(byte, 1, True) -> 0,1", sort(1, True)),
    ("sort.default(d, -1) -> 0,1", sort()),
    ("sort.default(d, 0, True) -> 0,1", sort(0, True)),
    ("sort.default(q, 1) -> 0,1", sort(1)),
    ("sort.default(q, 2, True) -> 0,1", sort(2, True)),
    ("sort.default(wide) -> 0,1", sort()),
    ("sort.default(i, 1, True) -> 0,1", sort(1, True)),
    ("sort.default(u) -> 0,1", sort()),
    ("sort.default(t, 1) -> 0,1", sort()),
    ("sort.default(one) -> 0,1", lambda x: (x, np.int64(0))),
    ("sort.default(column) -> 0,1", sort()),
    ("sort.default(long) -> 0,1", sort()),
    ("sort.default(long, 1, True) -> 0,1", sort(1, True)),
    ("sort.default(s_x) -> 0,1", sort()),
    ("sort.default(s_x, 0) -> 0,1", sort(0)),
    ("sort.default(s_long) -> 0,1", sort()),
    ("argsort.default(q, 1)", lambda x: sort(1)(x)[1]),
    ("argsort.stable(ties, stable=True, dim=1, descending=True)", lambda x: sort(1, True)(x)[1]),
    ("msort.default(q)", lambda x: np.sort(x, 0)),
    ("topk.default(x, 5) -> 0,1", topk(5)),
    ("topk.default(x, 2, 0, False) -> 0,1", topk(2, 0, False)),
    ("topk.default(ties, 37) -> 0,1", topk(37)),
    ("topk.default(wide, 3) -> 0,1", topk(3)),
    ("topk.default(vocabulary, 50) -> 0,1", topk(50)),
    ("topk.default(long, 700, 1, False) -> 0,1", topk(700, 1, False)),
    ("topk.default(long, 8) -> 0,1", topk(8)),
    ("topk.default(thousand, 9, 1, False) -> 0,1", topk(9, 1, False)),
    ("topk.default(tied, 70) -> 0,1", topk(70)),
    ("topk.default(tied, 300, 1, False) -> 0,1", topk(300, 1, False)),
    ("topk.default(h_long, 8, 1, False) -> 0,1", topk(8, 1, False)),
    ("topk.default(h_whole, 50) -> 0,1", topk(50)),
    ("topk.default(u_long, 600) -> 0,1", topk(600)),
    ("topk.default(counts, 9, 1) -> 0,1", topk(9)),
    ("topk.default(half, 40, 0) -> 0,1", topk(40, 0)),
    ("kthvalue.default(tied, 33) -> 0,1", kth(33)),
    ("kthvalue.default(h_long, 5000) -> 0,1", kth(5000)),
    ("topk.default(s_x, 4) -> 0,1", topk(4)),
    ("topk.default(one, 1) -> 0,1", lambda x: (x, np.int64(0))),
    ("kthvalue.default(x, 4) -> 0,1", kth(4)),
    ("kthvalue.default(q, 2, 1, True) -> 0,1", kth(2, 1, True)),
    ("median.dim(x, 1) -> 0,1", median(1)),
    ("median.dim(ties, 0) -> 0,1", median(0)),
    ("nanmedian.dim(ties, 1) -> 0,1", median(1, True)),
    ("median.dim(q, 2) -> 0,1", median(2)),
    ("median.default(q)", lambda x: median(0)(x.ravel())[0]),
    ("nanmedian.default(ties)", lambda x: median(0, True)(x.ravel())[0]),
]
