"""Each element once."""
import numpy as np

rng = np.random.default_rng(25)
X = rng.integers(-9, 9, (30, 200)).astype(np.float32)


def unique(x):
    return np.unique(x, True, True, True)


def as_met(x):
    values, first, number, counts = np.unique(x, True, True, True)
    order = np.argsort(first)
    rank = np.argsort(order)
    return values[order], first[order], rank[number.ravel()], counts[order]


CASES = [
    ("Unique", 11, [X], {}, lambda x: unique(x.ravel())),
    ("Unique", 11, [X], dict(sorted=0), as_met),
    ("Unique", 11, [X[:1, :1].astype(np.int64)], {}, lambda x: unique(x.ravel())),
]
