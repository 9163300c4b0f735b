"""Pools, sums and products along an axis, images that are cut and put together, quantization."""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

rng = np.random.default_rng(21)
F = np.float32
SHORT = np.array([[[1, 2]]], "f4")
X = rng.normal(size=(2, 3, 9, 10)).astype(F)


def windows(x, kernel, strides, dilations):
    """[batch, channel, rows, columns, kernel, kernel]"""
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    w = sliding_window_view(x, span, (2, 3))[:, :, ::strides[0], ::strides[1]]
    return w[..., ::dilations[0], ::dilations[1]]


def padded(x, value, pads):
    return np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])],
                  constant_values=value)


def norm(p, kernel, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0)):
    def numpy(x):
        w = windows(padded(np.abs(x.astype(float))**p, 0, pads), kernel, strides, dilations)
        return w.sum((4, 5))**(1 / p)
    return lambda x: numpy(x).astype(F)


def mean(kernel, dilations, pads):
    def numpy(x):
        sums, counts = (windows(padded(v, 0, pads), kernel, (1, 1), dilations).sum((4, 5))
                        for v in (x, np.ones_like(x)))
        return sums / counts
    return numpy


def exclusive(f, x, neutral):
    first = np.full_like(x[:, :1], neutral)
    return f(np.concatenate([first, x[:, :-1]], 1), 1)


def fold(x):
    """Windows of 2 by 3 at every place of an image of 5 by 6."""
    out = np.zeros((2, 2, 5, 6), F)
    for at, column in enumerate(x.reshape(2, 2, 2, 3, 16).transpose(4, 0, 1, 2, 3)):
        out[:, :, at // 4:at // 4 + 2, at % 4:at % 4 + 3] += column
    return out


def grid(theta):
    """Centers of pixels."""
    y, x = np.meshgrid((2 * np.arange(4) + 1) / 4 - 1, (2 * np.arange(5) + 1) / 5 - 1,
                       indexing="ij")
    points = np.stack([x, y, np.ones_like(x)], -1)
    return np.einsum("hwk,nik->nhwi", points, theta).astype(F)


HALVES = np.arange(-3, 9, dtype=F) / 2
ROW = rng.normal(size=(3, 6)).astype(F)
SCALES = rng.uniform(0.5, 1, (3, 3)).astype(F)
ZEROS = rng.integers(0, 9, (3, 3)).astype(np.uint8)
BYTES = rng.integers(0, 200, (3, 6)).astype(np.uint8)
WIDE = ROW * 20000

CASES = [
    ("LpPool", 18, [X], dict(kernel_shape=[3, 2], p=3), norm(3, (3, 2))),
    ("LpPool", 18, [X], dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1],
                             dilations=[2, 1]),
     norm(2, (3, 3), (2, 2), (2, 1), (1, 0, 1, 1))),
    ("GlobalLpPool", 2, [X], dict(p=1), lambda x: np.abs(x).sum((2, 3), keepdims=True)),
    # a window that is longer than the axis: its elements behind the padding count until version 18
    ("AveragePool", 18, [SHORT], dict(kernel_shape=[4], strides=[3], pads=[1, 0],
                                      count_include_pad=1), SHORT.sum(2, keepdims=True) / 4),
    ("AveragePool", 19, [SHORT], dict(kernel_shape=[4], strides=[3], pads=[1, 0],
                                      count_include_pad=1), SHORT.sum(2, keepdims=True) / 3),
    ("AveragePool", 19, [X], dict(kernel_shape=[3, 2], dilations=[2, 3], pads=[1, 1, 0, 1]),
     mean((3, 2), (2, 3), (1, 1, 0, 1))),
    # the sixth window would begin in the padding
    ("MaxPool", 12, [X], dict(kernel_shape=[1, 2], strides=[1, 2], pads=[0, 0, 0, 1],
                              ceil_mode=1),
     lambda x: x.reshape(2, 3, 9, 5, 2).max(4)),
    ("CumSum", 14, [ROW, np.array(1)], dict(exclusive=1), lambda x, _: exclusive(np.cumsum, x, 0)),
    ("CumProd", 26, [ROW, np.array(-1)], dict(exclusive=1),
     lambda x, _: exclusive(np.cumprod, x, 1)),
    ("CumProd", 26, [ROW, np.array(1)], dict(reverse=1),
     lambda x, _: np.cumprod(x[:, ::-1], 1)[:, ::-1]),
    ("CenterCropPad", 18, [ROW, np.array([8, 3])], {},
     lambda x, _: np.pad(x[:, 1:4], [(2, 3), (0, 0)])),
    ("CenterCropPad", 18, [ROW, np.array([9])], dict(axes=[-1]),
     lambda x, _: np.pad(x, [(0, 0), (1, 2)])),
    ("Col2Im", 18, [rng.normal(size=(2, 12, 16)).astype(F), np.array([5, 6]), np.array([2, 3])],
     {}, lambda x, image, block: fold(x)),
    ("AffineGrid", 20, [rng.normal(size=(2, 2, 3)).astype(F), np.array([2, 1, 4, 5])], {},
     lambda theta, size: grid(theta)),
    ("BitCast", 26, [ROW], dict(to=6), lambda x: x.view(np.int32)),
    ("BitCast", 26, [ROW > 0], dict(to=2), lambda x: x.view(np.uint8)),
    *[("SpaceToDepth", 27, [X[..., :8, :]], dict(blocksize=2, mode=mode),
       lambda x, order=order: x.reshape(2, 3, 4, 2, 5, 2).transpose(order).reshape(2, 12, 4, 5))
      for mode, order in (("DCR", (0, 3, 5, 1, 2, 4)), ("CRD", (0, 1, 3, 5, 2, 4)))],
    ("BitCast", 26, [rng.integers(0, 1 << 15, 9).astype(np.int16)], dict(to=10),
     lambda x: x.view(np.float16)),
    ("DequantizeLinear", 21, [BYTES, SCALES, ZEROS], dict(axis=1, block_size=2),
     lambda x, s, z: (x.astype(F) - z.repeat(2, 1)) * s.repeat(2, 1)),
    ("QuantizeLinear", 21, [ROW * 20, SCALES, ZEROS], dict(axis=1, block_size=2),
     lambda x, s, z: np.clip(np.rint(x / s.repeat(2, 1)) + z.repeat(2, 1), 0,
                             255).astype(np.uint8)),
    # Halves go to the even neighbor of what is divided, whatever the zero point.
    ("QuantizeLinear", 21, [HALVES, np.array(1, F), np.array(3, np.uint8)], {},
     np.clip(np.rint(HALVES) + 3, 0, 255).astype(np.uint8)),
    ("QuantizeLinear", 21, [WIDE, np.array(0.5, F), np.array(3, np.int16)], {},
     lambda x, s, z: np.clip(np.rint(x / s) + z, -32768, 32767).astype(np.int16)),
]
