"""Each element once."""
import numpy as np

rng = np.random.default_rng(25)
X = rng.integers(-9, 9, (30, 200)).astype(np.float32)


ROWS = np.float32([[0, 0, 0], [1, -2, 2], [0, 0, 3e-3]])
QUERY = rng.standard_normal((1, 2, 4, 8)).astype(np.float32)
SEEN = np.arange(16).reshape(4, 4) % 3 > 0
SEEN[1] = False


def normalized(x, norm):
    norm = norm[:, None]
    return np.where(norm == 0, np.float32(0), x / np.where(norm == 0, 1, norm))


def attention(q, k, v, seen, cap):
    s = q @ k.swapaxes(2, 3) / np.float32(np.sqrt(8))
    s = np.float32(cap) * np.tanh(s / np.float32(cap)) if cap else s
    e = np.where(seen, np.exp(s), 0)
    return np.float32(e / np.maximum(e.sum(-1, keepdims=True), 1e-30)) @ v


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
    ("LpNormalization", 22, [ROWS], {}, lambda x: normalized(x, np.sqrt((x * x).sum(-1)))),
    ("LpNormalization", 22, [ROWS], dict(p=1), lambda x: normalized(x, np.abs(x).sum(-1))),
    # what ONNX Runtime has of older opsets than ONNX, or writes into optimized files
    ("LayerNormalization", 11, [ROWS, np.ones_like(ROWS[0])], dict(axis=-1, epsilon=1e-12),
     lambda x, _: (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-12)),
    ("DynamicSlice", 9, [ROWS, np.array([-2]), np.array([9]), np.array([1])], {},
     lambda x, *_: x[:, -2:]),
    # a number's dtype counts as that of its exponents does
    ("Pow", 15, [np.float32(1.7), np.float16([2.5, -0.3])], {},
     lambda x, y: (float(x) ** y.astype("f8")).astype("f4")),
    ("Pow", 15, [ROWS[1], np.float64(2 + 1e-7)], {},
     lambda x, y: np.where(x < 0, np.nan, np.abs(x.astype("f8")) ** y).astype("f4")),
    ("MemcpyToHost", 17, [ROWS], {}, lambda x: x),
    ("MemcpyFromHost", 17, [ROWS], {}, lambda x: x),
] + [
    (f"Reduce{name}", 13, [np.zeros((2, 0, 3), t)], dict(axes=[1], keepdims=keep),
     np.full((2, 1, 3) if keep else (2, 3), value, t))
    for name, t, value in [
        ("Max", np.float32, -np.inf), ("Min", np.float32, np.inf), ("Max", np.int32, -2**31),
        ("Min", np.uint8, 255), ("LogSumExp", np.float32, -np.inf)]
    for keep in (0, 1)
] + [
    ("Hardmax", 13, [np.zeros((2, 0), np.float32)], {}, np.zeros((2, 0), np.float32)),
    # Rows of which nothing is seen: shares are 0, where products are asked for as well.
    ("Attention", 23, [QUERY, QUERY, QUERY, SEEN], dict(softcap=5.0),
     lambda q, k, v, m: attention(q, k, v, m, 5.0)),
    ("Attention", 23, [QUERY, QUERY, QUERY, SEEN], {},
     lambda q, k, v, m: attention(q, k, v, m, 0)),
    ("Unique", 11, [X[:1, :1].astype(np.int64)], {}, lambda x: unique(x.ravel())),
]
