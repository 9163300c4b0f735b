"""Histograms, reductions of segments, and the loss of connectionist temporal classification,
against PyTorch, whose results are in counts.npz.

    counts.py      with PyTorch: computes those results anew
"""
import numpy as np

import recorded

rng = np.random.default_rng(41)


def normal(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def log_softmax(x):
    return (x - np.log(np.exp(x).sum(-1, keepdims=True))).astype(x.dtype)


ARRAYS = {
    "x": normal(5, 6), "flat": np.full(4, 2.5, np.float32), "none": np.zeros(0, np.float32),
    "weight": rng.random((5, 6)).astype(np.float32), "d": normal(30, dtype=np.float64),
    "edges": np.array([-1, -0.5, 0.25, 0.5, 2], np.float32),
    "e0": np.array([-2, 0, 1], np.float32), "e1": np.array([-1, 0, 0.5, 3], np.float32),
    "points": normal(20, 2), "solid": normal(3, 4, 3), "heavy": rng.random(20).astype(np.float32),
    "data": normal(7, 3), "lengths": np.array([2, 0, 3, 2]), "offsets": np.array([0, 2, 2, 5, 7]),
    "rows": normal(2, 5, 3), "row_lengths": np.array([[2, 3], [4, 1]]),
    "holes": np.array([[1, 0, 2], [0, np.nan, 1], [3, 3, 0], [3, 3, 1]], np.float32),
    "hole_lengths": np.array([2, 2]), "g4": normal(4, 3), "g2": normal(2, 3), "gr": normal(2, 2, 3),
    "empty": np.zeros((0, 3), np.float32), "nothing": np.array([0, 0]),
    "probs": log_softmax(normal(9, 3, 5)),
    "d_probs": log_softmax(normal(6, 2, 4, dtype=np.float64)),
    "targets": rng.integers(1, 5, (3, 4)), "packed": rng.integers(1, 5, 7),
    "steps": np.array([9, 7, 2]), "sizes": np.array([4, 0, 3]), "packed_sizes": np.array([3, 1, 3]),
    "twice": np.array([[1, 1, 2], [2, 2, 2]]), "alone": log_softmax(normal(5, 4)),
    "label": np.array([1, 3]), "blank1": rng.integers(2, 5, (3, 4)),
}
REDUCTIONS = ("sum", "mean", "prod", "max", "min")
CALLS = [
    "histogram.bin_ct(x, 7) -> 0,1", "histogram.bin_ct(d, 4, range=[-1.0, 0.75]) -> 0,1",
    "histogram.bin_ct(x, 3, weight=weight, density=True) -> 0,1",
    "histogram.bin_ct(flat, 3) -> 0,1",
    "histogram.bin_ct(none, 2) -> 0,1", "histogram.bins_tensor(x, edges) -> 0,1",
    "histogram.bins_tensor(x, edges, weight=weight, density=True) -> 0,1",
    "_histogramdd_bin_edges.default(points, [2, 3]) -> 0,1",
    "_histogramdd_from_bin_cts.default(points, [2, 3], weight=heavy)",
    "_histogramdd_from_bin_cts.default(solid, [2, 2, 2], range=[-1.0, 1.0, -2.0, 2.0, 0.0, 1.0])",
    "_histogramdd_from_bin_tensors.default(points, [e0, e1], density=True)",
    "histogramdd.default(points, [2, 3], density=True) -> 0,1.0,1.1",
    "histogramdd.int_bins(points, 3) -> 0,1.0,1.1",
    "histogramdd.TensorList_bins(points, [e0, e1]) -> 0,1.0,1.1",
    *[f"segment_reduce.default(data, '{r}', lengths=lengths)" for r in REDUCTIONS],
    *[f"segment_reduce.default(data, '{r}', offsets=offsets, initial=1.5)" for r in REDUCTIONS],
    *[f"segment_reduce.default(rows, '{r}', lengths=row_lengths, axis=1)" for r in REDUCTIONS],
    *[f"segment_reduce.default(empty, '{r}', lengths=nothing)" for r in ("sum", "mean", "max")],
    "segment_reduce.default(holes, 'prod', lengths=hole_lengths)",
    "segment_reduce.default(holes, 'max', lengths=hole_lengths)",
    *[f"segment_reduce.default(data, '{r}', lengths=lengths); _segment_reduce_backward.default("
      f"g4, $0, data, '{r}', lengths=lengths)" for r in REDUCTIONS],
    *[f"segment_reduce.default(rows, '{r}', lengths=row_lengths, axis=1); "
      f"_segment_reduce_backward.default(gr, $0, rows, '{r}', lengths=row_lengths, axis=1)"
      for r in REDUCTIONS],
    *[f"segment_reduce.default(holes, '{r}', lengths=hole_lengths); _segment_reduce_backward."
      f"default(g2, $0, holes, '{r}', lengths=hole_lengths)" for r in ("prod", "max")],
    *[f"ctc_loss.IntList(probs, targets, [9, 7, 2], [4, 0, 3], 0, {r}, {z})"
      for r in range(3) for z in (False, True)],
    "ctc_loss.Tensor(probs, targets, steps, sizes, 0, 0)",
    "ctc_loss.Tensor(probs, packed, steps, packed_sizes, 0, 1, True)",
    "ctc_loss.IntList(probs, packed, [9, 9, 9], [3, 1, 3])",
    "ctc_loss.IntList(d_probs, twice, [6, 5], [3, 2], 0, 0)",
    "ctc_loss.IntList(probs, blank1, [9, 8, 7], [4, 3, 2], 1, 2)",
    "ctc_loss.IntList(alone, label, [5], [2])", "ctc_loss.IntList(alone, label, [5], [2], 0, 0)",
]
CASES = recorded.cases(__file__, CALLS)

if __name__ == "__main__":
    recorded.record(__file__, CALLS, ARRAYS)
