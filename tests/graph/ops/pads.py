"""Padding and joining of what is computed in place; tensors without axes or elements."""
import numpy as np

rng = np.random.default_rng(9)
ARRAYS = {
    "x": rng.normal(size=(3, 5)).astype(np.float32),
    "one": np.array(1.5, np.float32),
    "row": np.array([2.5], np.float32),
    "truths": np.array([[True, False, True]]),
    "none": np.zeros(0, np.float32),
    "no_doubles": np.zeros(0),
    "narrow": np.zeros((4, 0), np.float32),
    "no_rows": np.zeros((0, 5), np.float32),
}
CASES = [
    ("sub.Tensor(x, one); constant_pad_nd.default($0, [1, 2], 7.0)",
     lambda x, one: np.pad(x - one, [(0, 0), (1, 2)], constant_values=7)),
    ("mul.Tensor(x, row); constant_pad_nd.default($0, [0, 0, 1, 1])",
     lambda x, row: np.pad(x * row, [(1, 1), (0, 0)])),
    ("constant_pad_nd.default(truths, [1, 1], 2.0); to.dtype($0, torch.float32)",
     lambda truths: np.pad(truths, [(0, 0), (1, 1)], constant_values=True).astype(np.float32)),
    ("constant_pad_nd.default(truths, [1, 1]); bitwise_not.default($0)",
     lambda truths: ~np.pad(truths, [(0, 0), (1, 1)])),
    ("cat.default([x, x], 1)", lambda x: np.concatenate([x, x], 1)),
    ("cat.default([x])", lambda x: x),
    ("cat.default([none, x, none], 1)", lambda none, x: x),
    ("cat.default([none, none])", lambda none: none),
    ("cat.default([no_doubles, x, x], -1)", lambda _, x: np.concatenate([x, x], 1).astype(float)),
    ("cat.default([no_rows, x, no_rows])", lambda _, x: x),
    ("unfold.default(one, 0, 1, 2)", lambda one: one.reshape(1)),
    ("unfold.default(one, -1, 0, 1)", lambda one: np.zeros(0, np.float32)),
    ("_cdist_forward.default(no_rows, x, 2.0, None)", lambda *_: np.zeros((0, 3), np.float32)),
]
for p in "0.0", "1.0", "inf":
    CASES.append((f"_cdist_forward.default(narrow, narrow, {p}, None)",
                  lambda _: np.zeros((4, 4), np.float32)))
