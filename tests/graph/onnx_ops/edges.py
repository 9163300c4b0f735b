"""Operators on axes that are empty, or shorter than what is read of them, rows of which some are
the same, and parts of boxes in images; the values are ONNX Runtime's."""
import numpy as np

F = np.float32
VALUES = "edges.txt"
LINE = np.array([[[3, -1, 2]]], F)
EMPTY = np.zeros((0, 3), F)
SQUARE = np.arange(1, 10, dtype=F).reshape(3, 3)
TAPS = np.arange(36, dtype=F).reshape(3, 2, 3, 2)


def pools(op, **more):
    """Windows that lack less than a stride, or less than two, of the axis."""
    return [(op, 18, [LINE], dict(kernel_shape=[k], strides=[s], **more), 1)
            for k, s in [(4, 2), (4, 3), (5, 3), (6, 3), (5, 2)]]


BITS = np.random.default_rng(5).integers(0, 2, (4, 5, 2)).astype(F)
BOXES = np.array([[0, 0, 0, 6, 8], [1, 2, 3, 5, 5], [0, -2, 1, 20, 3], [1, 4, 4, 3, 3],
                  [0, 1.5, 2.5, 6.5, 7.4]], F)
IMAGES = np.random.default_rng(6).normal(size=(2, 2, 9, 8)).astype(F)

CALLS = [
    *[("Unique", 18, [x], dict(axis=axis, sorted=order), 4)
      for x in (BITS, BITS.astype(np.int64), BITS.astype(bool).astype(np.int8))
      for axis in (0, 1, -1) for order in (0, 1) if x.dtype != np.int8 or not order],
    ("Unique", 18, [EMPTY], dict(axis=0), 4),
    *[("MaxRoiPool", 18, [IMAGES, BOXES], dict(pooled_shape=shape, spatial_scale=scale), 1)
      for shape in ([2, 2], [3, 1], [7, 5]) for scale in (1.0, 0.5)],
    *[("LpPool", 18, [x], dict(kernel_shape=[3, 3], strides=[2, 1], pads=[pad] * 4), 1)
      for x in (np.zeros((0, 3, 0, 5), F), np.ones((2, 3, 1, 5), F)) for pad in (0, 1)],
    *pools("MaxPool"), *pools("MaxPool", ceil_mode=1), *pools("AveragePool"),
    *pools("AveragePool", count_include_pad=1), *pools("AveragePool", pads=[1, 0]),
    ("AveragePool", 18, [LINE], dict(kernel_shape=[5], strides=[2], pads=[1, 0],
                                     count_include_pad=1), 1),
    ("MaxPool", 18, [SQUARE[None, None]], dict(kernel_shape=[4, 2], strides=[2, 1]), 1),
    *[(op, 18, [EMPTY], dict(axis=0, keepdims=1, select_last_index=last), 1)
      for op in ("ArgMax", "ArgMin") for last in (0, 1)
      for EMPTY in [np.zeros((0, 0), F), np.zeros((0, 2, 0), F)]],
    *[("CumSum", 18, [EMPTY, np.array(0)], dict(exclusive=1, reverse=back), 1) for back in (0, 1)],
    ("CumSum", 18, [EMPTY, np.array(1)], dict(exclusive=1), 1),
    ("Resize", 18, [np.ones((1, 1, 1, 4), F), None, np.array([1, 1, 0.5, 2], F)],
     dict(mode="nearest"), 1),
    ("Resize", 18, [np.ones((1, 1, 1, 4), F), None, np.array([1, 1, 0.5, 2], F)],
     dict(mode="linear"), 1),
    ("Compress", 18, [SQUARE[:2], np.array([0, 1, 1, 1], bool)], dict(axis=0), 1),
    ("Compress", 18, [SQUARE, np.array([0, 1, 1, 1, 0, 1], bool)], dict(axis=1), 1),
    ("Compress", 18, [SQUARE[0], np.array([1, 0, 0, 1], bool)], {}, 1),
    *[(op, 18, [np.zeros(size, F)], dict(kernel_shape=kernel, strides=[2, 2], auto_pad=same), 1)
      for op in ("MaxPool", "AveragePool") for same in ("SAME_UPPER", "SAME_LOWER")
      for size in ((0, 3, 1, 0), (0, 2, 0, 3)) for kernel in ([3, 1], [1, 4])],
    *[(op, 18, [np.zeros(size, F)], dict(kernel_shape=[3, 3], strides=[2, 1], ceil_mode=ceil,
                                         pads=pads), 1)
      for op in ("MaxPool", "AveragePool") for size in ((0, 3, 0, 2), (0, 2, 1, 2))
      for pads in ([0, 2, 2, 0], [1, 1, 1, 1]) for ceil in (0, 1)],
    *[(op, 18, [np.zeros((0, 3, 0, 4), F)], dict(kernel_shape=[2, 3], strides=[1, 1],
                                                 auto_pad="SAME_LOWER"), 1)
      for op in ("MaxPool", "AveragePool")],
    *[("Conv", 18, [np.zeros(size, F), TAPS, *bias], dict(group=1, pads=[1, 1, 1, 1], **more), 1)
      for size in ((0, 2, 3, 0), (1, 2, 1, 0), (2, 2, 3, 0))
      for bias in ([], [np.array([5, 6, 7], F)]) for more in ({}, dict(strides=[2, 2]))],
    *[("ConvTranspose", 18, [np.ones(size, F), TAPS, *bias], dict(strides=[2, 1], **more), 1)
      for size in ((1, 3, 3, 0), (2, 3, 0, 3), (1, 3, 0, 0), (0, 3, 0, 2))
      for bias in ([], [np.array([5, 6], F)]) for more in ({}, dict(dilations=[2, 3]))],
    *[("Pad", 18, [np.arange(1, n + 1, dtype=F), np.array(pads), np.array(1.5, F)], {}, 1)
      for n, pads in [(0, [-1, 2]), (0, [-1, 1]), (1, [-1, 2]), (1, [-2, 3]), (1, [-2, 1]),
                      (2, [1, -3]), (2, [2, -3]), (2, [-3, 4]), (2, [-3, 1]), (3, [-2, 4])]],
    *[("Pad", 18, [np.zeros((0, 3), F), np.array([0, 1, 0, 1])], dict(mode=mode), 1)
      for mode in ("reflect", "edge")],
    ("Pad", 18, [np.zeros(0, np.int64), np.array([0, 0])], dict(mode="edge"), 1),
    ("NonZero", 18, [EMPTY], {}, 1),
    ("NonZero", 18, [np.zeros((2, 0, 3), bool)], {}, 1),
    ("Unique", 18, [np.zeros(0, F)], {}, 4),
]
CASES = []  # the calls with their values, when they are run
