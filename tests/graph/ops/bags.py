"""Rows that are put together by bags; what is met most often."""
import numpy as np

rng = np.random.default_rng(13)
ARRAYS = {
    "w": rng.normal(size=(7, 5)).astype(np.float32),
    "i": rng.integers(0, 7, 12),
    "o": np.array([0, 3, 3, 8]),
    "e": np.array([0, 3, 3, 8, 12]),
    "p": rng.normal(size=12).astype(np.float32),
    "x": rng.integers(0, 4, (6, 9)).astype(np.float32),
    "n": rng.integers(-2, 3, (4, 300)),
    "single": np.array([3.0], np.float32),
}


def bags(i, o):
    """The places of each bag's indices."""
    ends = np.append(o[1:], len(i))
    return [np.arange(a, b) for a, b in zip(o, ends)]


def bag(how, padding=None, sizes=True):
    """PyTorch gives the sizes of bags that it sums up as 0."""
    def numpy(w, i, o, p=None):
        rows = w[i] if p is None else w[i] * p[:, None]
        kept = [at[i[at] != padding] for at in bags(i, o)]
        y = np.stack([how(rows[at], 0) if len(at) else np.zeros(w.shape[1]) for at in kept])
        number = np.repeat(np.arange(len(o)), [len(at) for at in bags(i, o)])
        return y.astype(np.float32), number, np.array([len(at) * sizes for at in kept])
    return numpy


def rows_of_largest(w, i, o):
    """Of the first index."""
    return np.stack([i[at[w[i[at]].argmax(0)]] if len(at) else np.zeros(w.shape[1], np.int64)
                     for at in bags(i, o)])


def mode(axis, keep=False):
    """The smallest of those, and where it is met last."""
    def numpy(x):
        def last(row):
            values, counts = np.unique(row, return_counts=True)
            return np.flatnonzero(row == values[counts.argmax()])[-1]
        at = np.apply_along_axis(last, axis, x)[...]
        at = np.expand_dims(at, axis)
        pair = np.take_along_axis(x, at, axis), at
        return pair if keep else tuple(v.squeeze(axis) for v in pair)
    return numpy


CASES = [
    ("embedding_bag.default(w, i, o) -> 0,1,2", bag(np.sum, sizes=False)),
    ("embedding_bag.default(w, i, o, False, 1) -> 0,1,2", bag(np.mean)),
    ("embedding_bag.default(w, i, o, False, 2) -> 0,1,2,3",
     lambda w, i, o: (*bag(np.max)(w, i, o), rows_of_largest(w, i, o))),
    ("embedding_bag.default(w, i, o, False, 0, False, p) -> 0,1,2", bag(np.sum, sizes=False)),
    ("embedding_bag.padding_idx(w, i, e, False, 1, False, None, True, 3) -> 0,1,2",
     lambda w, i, e: bag(np.mean, 3)(w, i, e[:-1])),
    ("embedding_bag.padding_idx(w, i, o, False, 2, False, None, False, -2) -> 0,1,2",
     bag(np.max, 5)),
    ("mode.default(x) -> 0,1", mode(1)),
    ("mode.default(x, 0, True) -> 0,1", mode(0, True)),
    ("mode.default(n, 1) -> 0,1", mode(1)),
    ("mode.default(single) -> 0,1", lambda x: (x[0], np.int64(0))),
]
