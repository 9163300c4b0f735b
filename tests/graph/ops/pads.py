"""Padding of what is computed in place."""
import numpy as np

rng = np.random.default_rng(9)
ARRAYS = {
    "x": rng.normal(size=(3, 5)).astype(np.float32),
    "one": np.array(1.5, np.float32),
    "row": np.array([2.5], np.float32),
}
CASES = [
    ("sub.Tensor(x, one); constant_pad_nd.default($0, [1, 2], 7.0)",
     lambda x, one: np.pad(x - one, [(0, 0), (1, 2)], constant_values=7)),
    ("mul.Tensor(x, row); constant_pad_nd.default($0, [0, 0, 1, 1])",
     lambda x, row: np.pad(x * row, [(1, 1), (0, 0)])),
]
