"""Scans, of rows within a tile and longer ones, and of symbolic length."""
import numpy as np

rng = np.random.default_rng(1)


def with_nan(shape):
    x = rng.normal(size=shape).astype(np.float32)
    x.flat[::17] = np.nan
    return x


ARRAYS = {
    "x": rng.normal(size=(3, 50)).astype(np.float32),
    "q": rng.integers(-3, 4, (4, 5, 6)),
    "h": rng.normal(size=(2, 70)).astype(np.float16),
    "t": rng.random((3, 40)) < 0.5,
    "nans": with_nan((5, 33)),
    "infs": np.array([[-np.inf, 0, np.inf, 1], [-np.inf, -np.inf, 1, 2]], np.float32),
    "one": np.float32(3.5),
    "column": rng.normal(size=(7, 1)).astype(np.float32),
    "long": rng.uniform(size=(2, 9001)).astype(np.float32),
    "ints": rng.integers(-9, 9, 20000),
    "near": rng.uniform(0.999, 1.001, (1, 12000)),
    "s_x": rng.uniform(size=(3, 2500)).astype(np.float32),
    "s_q": rng.integers(-3, 4, (2, 31)),
}


def cumulative(better, axis):
    """Values and places of the extremes so far: of equal ones the last, NaN before all."""
    def of(x):
        values, places = x.copy(), np.zeros(x.shape, np.int64)
        v, p = np.moveaxis(values, axis, 0), np.moveaxis(places, axis, 0)
        for i in range(1, len(v)):
            later = np.isnan(v[i]) | better(v[i], v[i - 1])
            p[i] = np.where(later, i, p[i - 1])
            v[i] = np.where(later, v[i], v[i - 1])
        return values, places
    return of


def log_sums(axis):
    return lambda x: np.logaddexp.accumulate(x, axis)


CASES = [
    ("cumsum.default(x, 1)", lambda x: np.cumsum(x, 1)),
    ("cumsum.default(x, 0)", lambda x: np.cumsum(x, 0)),
    ("cumsum.default(h, -1)", lambda x: np.cumsum(x.astype(np.float32), 1).astype(np.float16)),
    ("cumsum.default(t, 1)", lambda x: np.cumsum(x, 1)),
    ("cumsum.default(q, 1)", lambda x: np.cumsum(x, 1)),
    ("cumsum.default(one, 0)", lambda x: x),
    ("cumsum.default(column, 1)", lambda x: x),
    ("cumprod.default(x, 1)", lambda x: np.cumprod(x, 1)),
    ("cumprod.default(q, 2)", lambda x: np.cumprod(x, 2)),
    ("logcumsumexp.default(x, 1)", log_sums(1)),
    ("logcumsumexp.default(infs, 1)", log_sums(1)),
    ("logcumsumexp.default(nans, 0)", log_sums(0)),
    ("cummax.default(x, 1) -> 0,1", cumulative(np.greater_equal, 1)),
    ("cummin.default(q, 0) -> 0,1", cumulative(np.less_equal, 0)),
    ("cummax.default(q, 2) -> 0,1", cumulative(np.greater_equal, 2)),
    ("cummax.default(nans, 1) -> 0,1", cumulative(np.greater_equal, 1)),
    ("cummin.default(nans, 0) -> 0,1", cumulative(np.less_equal, 0)),
    ("cummax.default(infs, 1) -> 0,1", cumulative(np.greater_equal, 1)),
    ("cummax.default(one, 0) -> 0,1", lambda x: (x, np.int64(0))),
    ("cummax.default(column, 1) -> 0,1", lambda x: (x, np.zeros((7, 1), np.int64))),
    ("cummax.default(t, 1) -> 1", lambda x: cumulative(np.greater_equal, 1)(x.astype(int))[1]),
    ("cumsum.default(long, 1)", lambda x: np.cumsum(x.astype(np.float64), 1).astype(np.float32)),
    ("cumsum.default(ints, 0)", lambda x: np.cumsum(x)),
    ("cumsum.default(ints, 0); sub.Tensor(ints, $0)", lambda x: x - np.cumsum(x)),
    # a scan whose sum is used by another scan: its row is gone through three times
    ("cumsum.default(near, 1); amax.default($0, [1], True); sub.Tensor($0, $1); "
     "logcumsumexp.default($2, 1)",
     lambda x: (lambda c: log_sums(1)(c - c.max(1, keepdims=True)))(np.cumsum(x, 1))),
    ("cumprod.default(near, 1)", lambda x: np.cumprod(x, 1)),
    ("cummax.default(long, 1) -> 0,1", cumulative(np.greater_equal, 1)),
    ("cummin.default(ints, 0) -> 0,1", cumulative(np.less_equal, 0)),
    ("cumsum.default(s_x, 1)",
     lambda x: np.cumsum(x.astype(np.float64), 1).astype(np.float32)),
    ("cumsum.default(s_x, 0)", lambda x: np.cumsum(x, 0)),
    ("cummax.default(s_x, 1) -> 0,1", cumulative(np.greater_equal, 1)),
    ("cumprod.default(s_q, 0)", lambda x: np.cumprod(x, 0)),
]
