"""Searching, counting, and sampling at points."""
import itertools

import numpy as np

rng = np.random.default_rng(5)


def sampled(shape):
    return rng.uniform(-1.4, 1.4, shape).astype(np.float32)


ARRAYS = {
    "bounds": np.sort(rng.integers(-20, 20, 13)).astype(np.float32),
    "x": rng.integers(-25, 25, (4, 9)).astype(np.float32),
    "odd": np.array([np.nan, np.inf, -np.inf, 0, -0.0], np.float32),
    "rows": np.sort(rng.integers(0, 9, (4, 6)), 1),
    "q": rng.integers(-1, 10, (4, 3)),
    "mixed": rng.permutation(13).astype(np.float32),
    "long": np.sort(rng.normal(size=5000)).astype(np.float32),
    "s_bounds": np.sort(rng.normal(size=40)).astype(np.float32),
    "s_x": rng.normal(size=(3, 5)).astype(np.float32),
    "data": rng.uniform(-3, 3, (5, 40)).astype(np.float32),
    "pairs": rng.normal(size=(5, 3)).astype(np.float32),
    "image": rng.normal(size=(2, 3, 5, 6)).astype(np.float32),
    "points": sampled((2, 4, 3, 2)),
    "volume": rng.normal(size=(1, 2, 3, 4, 5)).astype(np.float32),
    "points3": sampled((1, 2, 3, 2, 3)),
    "theta": rng.normal(size=(2, 2, 3)).astype(np.float32),
}


def reflect(at, size, corners):
    low, span = (0, size - 1) if corners else (-0.5, size)
    at = np.abs(at - low)
    over, times = np.fmod(at, span), np.floor(at / span)
    return np.where(times % 2 == 1, span - over, over) + low


def cubic(t):
    t, a = np.abs(t), -0.75
    return np.where(t <= 1, ((a + 2) * t - (a + 3)) * t * t + 1,
                    ((a * t - 5 * a) * t + 8 * a) * t - 4 * a)


def sample(mode, padding, corners):
    """By definition: a sum over the neighbours of each point."""
    def of(x, grid):
        n = grid.shape[-1]
        sizes = x.shape[2:]
        grid = grid.astype(np.float64)

        def pad(at, size):
            if padding == 2:
                at = reflect(at, size, corners)
            return at if padding == 0 else np.fmin(np.fmax(at, 0), size - 1)
        taps = []
        for i, size in enumerate(sizes):
            at = grid[..., n - 1 - i]
            at = (at + 1) / 2 * (size - 1) if corners else ((at + 1) * size - 1) / 2
            if mode == 1:
                taps.append([(np.rint(pad(at, size)), 1.0)])
            elif mode == 0:
                at = pad(at, size)
                low = np.floor(at)
                taps.append([(low, low + 1 - at), (low + 1, at - low)])
            else:
                low = np.floor(at)
                taps.append([(pad(low + k, size), cubic(at - low - k)) for k in range(-1, 3)])
        y = np.zeros(x.shape[:2] + grid.shape[1:-1])
        for which in np.ndindex(*map(len, taps)):
            chosen = [taps[i][k] for i, k in enumerate(which)]
            inside = np.ones(grid.shape[:-1], bool)
            for (at, _), size in zip(chosen, sizes):
                inside &= (at >= 0) & (at < size)
            for batch in range(len(x)):
                places = tuple(np.clip(at[batch], 0, size - 1).astype(int)
                               for (at, _), size in zip(chosen, sizes))
                weight = np.prod([np.broadcast_to(w, grid.shape[:-1])[batch] for _, w in chosen],
                                 axis=0)
                y[batch] += np.where(inside[batch], x[batch][(slice(None), ) + places], 0) * weight
        return y.astype(np.float32)
    return of


def affine(height, width, corners):
    def of(theta):
        def steps(n):
            return np.linspace(-1, 1, n) if corners else (2 * np.arange(n) + 1) / n - 1
        y, x = np.meshgrid(steps(height), steps(width), indexing="ij")
        points = np.stack([x, y, np.ones_like(x)], -1)
        return np.einsum("hwk,nik->nhwi", points, theta).astype(np.float32)
    return of


def distances(x, p):
    first, second = np.triu_indices(len(x), 1)
    return (np.abs(x[first] - x[second])**p).sum(1)**(1 / p)


CASES = [
    ("searchsorted.Tensor(bounds, x)", lambda b, x: np.searchsorted(b, x)),
    ("searchsorted.Tensor(bounds, x, right=True)", lambda b, x: np.searchsorted(b, x, "right")),
    ("searchsorted.Tensor(bounds, x, side='right', out_int32=True)",
     lambda b, x: np.searchsorted(b, x, "right").astype(np.int32)),
    ("searchsorted.Tensor(bounds, odd)", lambda b, x: np.searchsorted(b, x)),
    ("searchsorted.Tensor(mixed, x, sorter=sorter)",
     lambda b, x, s: np.searchsorted(b, x, "left", s)),
    ("searchsorted.Tensor(rows, q)",
     lambda rows, q: np.stack([np.searchsorted(r, v) for r, v in zip(rows, q)])),
    ("searchsorted.Scalar(bounds, 3)", lambda b: np.int64(np.searchsorted(b, 3))),
    ("searchsorted.Tensor(long, x)", lambda b, x: np.searchsorted(b, x)),
    ("searchsorted.Tensor(s_bounds, s_x)", lambda b, x: np.searchsorted(b, x)),
    ("bucketize.Tensor(x, bounds)", lambda x, b: np.searchsorted(b, x)),
    ("bucketize.Tensor(q, bounds, right=True)", lambda q, b: np.searchsorted(b, q, "right")),
    ("add.Tensor(x, 1); neg.default(bounds); flip.default($1, [0]); bucketize.Tensor($0, $2)",
     lambda x, b: np.searchsorted(-b[::-1], x + 1)),
    ("histc.default(data, 7, -2, 2)",
     lambda x: np.histogram(x, 7, (-2, 2))[0].astype(np.float32)),
    ("histc.default(data, 10)", lambda x: np.histogram(x, 10)[0].astype(np.float32)),
    ("histc.default(data, 1)", lambda x: np.float32([x.size])),
    ("_pdist_forward.default(pairs, 2.0)", lambda x: distances(x, 2)),
    ("_pdist_forward.default(pairs, 1.0)", lambda x: distances(x, 1)),
    ("affine_grid_generator.default(theta, [2, 1, 4, 5], False)", affine(4, 5, False)),
    ("affine_grid_generator.default(theta, [2, 1, 4, 5], True)", affine(4, 5, True)),
    ("grid_sampler_3d.default(volume, points3, 0, 0, False)", sample(0, 0, False)),
    ("grid_sampler_3d.default(volume, points3, 1, 1, True)", sample(1, 1, True)),
]
for mode in range(3):
    for padding in range(3):
        for corners in False, True:
            CASES.append((f"grid_sampler_2d.default(image, points, {mode}, {padding}, {corners})",
                          sample(mode, padding, corners)))
ARRAYS["lost"] = ARRAYS["points"].copy()  # NaN is the first element's place
ARRAYS["lost"][:, ::2, 1, 0] = ARRAYS["lost"][:, 1, :, 1] = np.nan
for mode, padding in itertools.product(range(2), (1, 2)):
    CASES.append((f"grid_sampler_2d.default(image, lost, {mode}, {padding}, True)",
                  sample(mode, padding, True)))
ARRAYS["sorter"] = np.argsort(ARRAYS["mixed"])
