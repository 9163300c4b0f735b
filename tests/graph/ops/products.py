"""Products of matrices whose sums need more than f32, or are long and odd."""
import numpy as np

rng = np.random.default_rng(7)
ARRAYS = {
    "i": rng.integers(-2**40, 2**40, (4, 5)),
    "j": rng.integers(-2**20, 2**20, (5, 3)),
    "k": rng.integers(-2**30, 2**30, (2, 4, 5)).astype(np.int32),
    "l": rng.integers(-2**10, 2**10, (2, 5, 3)).astype(np.int32),
    "a": rng.normal(size=(4, 5)),
    "b": rng.normal(size=(5, 3)),
    "rows": rng.normal(size=(600, 70)), "to": rng.normal(size=(70, 45)),  # panels on CPUs
    # CPUs sum it in parts and a rest of three; it is exact in any order.
    "long": rng.integers(-4, 5, (3, 4099)).astype(np.float32),
    "down": rng.integers(-4, 5, (4099, 20)).astype(np.float32),
}
CASES = [
    ("mm.default(i, j)", lambda i, j: i @ j),
    ("bmm.default(k, l)", lambda k, l: k @ l),
    ("matmul.default(a, b)", lambda a, b: a @ b),
    ("mm.default(rows, to)", lambda rows, to: rows @ to),
    ("mm.default(long, down)", lambda long, down: long @ down),
    ("t.default(down); t.default(long); mm.default($0, $1)", lambda down, long: (long @ down).T),
]
