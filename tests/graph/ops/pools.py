"""Max pooling with places: the first of the largest, but of NaN the last."""
import math

import numpy as np

rng = np.random.default_rng(4)


def with_nan(shape):
    x = rng.integers(-4, 4, shape).astype(np.float32)
    x.flat[::13] = np.nan
    return x


ARRAYS = {
    "x": rng.normal(size=(2, 3, 9, 8)).astype(np.float32),
    "ties": rng.integers(-2, 3, (2, 2, 7, 7)).astype(np.float32),
    "nans": with_nan((2, 2, 7, 6)),
    "wide": (with_nan((1, 2, 19, 21)) + (np.arange(21) > 9)).astype(np.float32),
    "long": rng.integers(-9, 9, (2, 140)),
    "line": rng.normal(size=(2, 3, 11)).astype(np.float32),
    "plane": rng.normal(size=(3, 10, 6)).astype(np.float16),
    "cube": rng.normal(size=(1, 2, 5, 6, 4)).astype(np.float32),
    "q": rng.integers(-9, 9, (2, 6, 6)),
    "pooled": rng.normal(size=(2, 3, 2, 2)).astype(np.float32),
    "places": np.stack([rng.permutation(20)[:4] for _ in range(6)]).reshape(2, 3, 2, 2),
    "dot": rng.normal(size=(1, 4, 1, 1)).astype(np.float32),
    "taps": rng.normal(size=(4, 1, 3, 3)).astype(np.float32),
    "low": rng.normal(size=(1, 3, 1, 4)).astype(np.float32),
    "high": rng.normal(size=(1, 3, 1, 4)).astype(np.float32),
    "taps3": rng.normal(size=(3, 1, 2, 1)).astype(np.float32),
    "s_x": rng.normal(size=(2, 3, 9, 8)).astype(np.float32),
    "s_cube": rng.normal(size=(1, 2, 5, 6, 4)).astype(np.float32),
    "s_ties": rng.choice([-np.inf, 0, 1], (2, 2, 7, 7)).astype(np.float32),
}


def windows_of(x, axes, windows):
    """Values and places, where windows[i] lists the positions of each window of axis i."""
    sizes = x.shape[-axes:]
    shape = x.shape[:-axes] + tuple(map(len, windows))
    values, places = np.zeros(shape, x.dtype), np.zeros(shape, np.int64)
    for out in np.ndindex(*shape[-axes:]):
        best = {}
        for at in np.ndindex(*[len(windows[i][out[i]]) for i in range(axes)]):
            place = tuple(windows[i][out[i]][at[i]] for i in range(axes))
            if any(p < 0 or p >= n for p, n in zip(place, sizes)):
                continue
            flat = np.ravel_multi_index(place, sizes)
            for lead in np.ndindex(*x.shape[:-axes]):
                v = x[lead + place]
                if lead not in best or v > best[lead][0] or np.isnan(v):
                    best[lead] = v, flat
        for lead, (v, flat) in best.items():
            values[lead + out], places[lead + out] = v, flat
    return values, places


def pool(axes, kernel, stride=None, padding=0, dilation=1, ceil=False):
    def of(x):
        windows = []
        for i, n in enumerate(x.shape[-axes:]):
            k, s, p, d = (v[i] if isinstance(v, list) else v
                          for v in (kernel, stride or kernel, padding, dilation))
            span = n + 2 * p - d * (k - 1) - 1
            count = (math.ceil if ceil else math.floor)(span / s) + 1
            if ceil and (count - 1) * s >= n + p:
                count -= 1
            windows.append([[o * s - p + j * d for j in range(k)] for o in range(count)])
        return windows_of(x, axes, windows)
    return of


def adaptive(axes, *out):
    def of(x):
        return windows_of(x, axes, [
            [range(i * n // o, -(-(i + 1) * n // o)) for i in range(o)]
            for n, o in zip(x.shape[-axes:], out)])
    return of


def unpool(height, width):
    def of(x, places):
        y = np.zeros(x.shape[:-2] + (height * width, ), x.dtype)
        np.put_along_axis(y, places.reshape(x.shape[:-2] + (-1, )),
                          x.reshape(x.shape[:-2] + (-1, )), -1)
        return y.reshape(x.shape[:-2] + (height, width))
    return of


def averages(x):
    """Of 9 by 8 elements in 4 by 3 windows."""
    return np.stack([np.stack([
        x[:, :, 9 * i // 4:-(-9 * (i + 1) // 4), 8 * j // 3:-(-8 * (j + 1) // 3)].mean((2, 3))
        for j in range(3)], -1) for i in range(4)], -2)


CASES = [
    ("max_pool2d_with_indices.default(x, [3, 2]) -> 0,1", pool(2, [3, 2])),
    ("max_pool2d_with_indices.default(x, [3], [2], [1]) -> 0,1", pool(2, 3, 2, 1)),
    ("max_pool2d_with_indices.default(x, [2, 3], [1, 2], [1, 1], [2, 1], True) -> 0,1",
     pool(2, [2, 3], [1, 2], [1, 1], [2, 1], True)),
    ("max_pool2d_with_indices.default(ties, [3, 3], [2, 2], [1, 1]) -> 0,1", pool(2, 3, 2, 1)),
    ("max_pool2d_with_indices.default(nans, [3, 3], [2, 2], [1, 1]) -> 0,1", pool(2, 3, 2, 1)),
    ("max_pool2d_with_indices.default(q, [2, 2]) -> 0,1", pool(2, 2)),
    # Windows of more than 64 positions.
    ("max_pool2d_with_indices.default(wide, [9, 10]) -> 0,1", pool(2, [9, 10])),
    ("max_pool2d_with_indices.default(wide, [19, 21]) -> 0,1", pool(2, [19, 21])),
    ("max_pool2d_with_indices.default(x, [9, 8]) -> 0,1", pool(2, [9, 8])),
    ("max_pool1d_with_indices.default(long, [69]) -> 0,1", pool(1, 69)),
    ("max_pool3d_with_indices.default(cube, [5, 6, 4]) -> 0,1", pool(3, [5, 6, 4])),
    ("max_pool2d_with_indices.default(plane, [3, 3], [1, 1]) -> 0,1", pool(2, 3, 1)),
    ("max_pool1d_with_indices.default(line, [3], [2], [1]) -> 0,1", pool(1, 3, 2, 1)),
    ("max_pool3d_with_indices.default(cube, [2, 3, 2], [1, 2, 2]) -> 0,1",
     pool(3, [2, 3, 2], [1, 2, 2])),
    ("max_pool2d_with_indices.default(s_x, [3, 3], [2, 2], [1, 1]) -> 0,1", pool(2, 3, 2, 1)),
    ("adaptive_max_pool1d.default(line, [4]) -> 0,1", adaptive(1, 4)),
    ("adaptive_max_pool2d.default(x, [3, 5]) -> 0,1", adaptive(2, 3, 5)),
    ("adaptive_max_pool3d.default(cube, [2, 2, 4]) -> 0,1", adaptive(3, 2, 2, 4)),
    ("adaptive_max_pool2d.default(s_x, [3, 5]) -> 0,1", adaptive(2, 3, 5)),
    ("adaptive_max_pool3d.default(s_cube, [2, 4, 3]) -> 0,1", adaptive(3, 2, 4, 3)),
    ("adaptive_max_pool2d.default(s_ties, [3, 2]) -> 0,1", adaptive(2, 3, 2)),
    ("adaptive_avg_pool2d.default(s_x, [4, 3])", averages),
    # Outside of an operand that the same kernel computes.
    ("relu.default(dot); avg_pool2d.default($0, [3, 3], [1, 1], [1, 1])",
     lambda dot: np.maximum(dot, 0) / np.float32(9)),
    ("relu.default(dot); conv2d.default($0, taps, None, [1, 1], [1, 1], [1, 1], 4)",
     lambda dot, taps: np.maximum(dot, 0) * taps[:, :, 1:2, 1:2].reshape(1, 4, 1, 1)),
    # Two of these are one kernel: places in the padding have the index of what it has loaded.
    ("expand.default(low, [1, 3, 2, 4]); abs.default($0)", lambda low: abs(low).repeat(2, 2)),
    ("avg_pool2d.default(low, [2, 1], [1, 1], [1, 0])", lambda low: (low / 2).repeat(2, 2)),
    ("expand.default(high, [1, 3, 2, 4]); abs.default($0)", lambda high: abs(high).repeat(2, 2)),
    ("conv2d.default(high, taps3, None, [1, 1], [1, 0], [1, 1], 3)",
     lambda high, taps3: high * np.stack([taps3[:, 0, 1], taps3[:, 0, 0]], 1)[None]),
    # Outside of one element, which all places of a tile would load.
    ("slice.Tensor(dot, 1, 0, 1); avg_pool2d.default($0, [3, 3], [1, 1], [1, 1])",
     lambda dot: dot[:, :1] / np.float32(9)),
    ("max_unpool2d.default(pooled, places, [4, 5])", unpool(4, 5)),
]
