"""Gradients of resized and of sampled images, and pooling at random places, against PyTorch, whose
results are in sampled.npz.

    sampled.py      with PyTorch: computes those results anew
"""
import numpy as np

import recorded

rng = np.random.default_rng(40)


def normal(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


ARRAYS = {
    "line": normal(2, 3, 7), "g10": normal(2, 3, 10), "g4": normal(2, 3, 4),
    "g14": normal(2, 3, 14),
    "g73": normal(2, 2, 7, 3), "g82": normal(2, 2, 10, 8), "g32": normal(2, 2, 3, 2),
    "g365": normal(1, 2, 3, 6, 5), "h73": normal(2, 2, 7, 3, dtype=np.float16),
    "image": normal(2, 3, 4, 5), "grid": normal(2, 2, 3, 2) * 1.2, "grad": normal(2, 3, 2, 3),
    "volume": normal(1, 2, 3, 4, 5), "grid3": normal(1, 2, 2, 2, 3), "grad3": normal(1, 2, 2, 2, 2),
    "d_image": normal(1, 2, 4, 3, dtype=np.float64), "d_grid": normal(1, 3, 2, 2, dtype=np.float64),
    "d_grad": normal(1, 2, 3, 2, dtype=np.float64),
    "thin": normal(2, 3, 1, 5), "pool": normal(2, 3, 7, 6), "planes": normal(3, 7, 6),
    "share": rng.random((2, 3, 2)).astype(np.float32), "pool3": normal(1, 2, 5, 6, 4),
    "share1": rng.random((1, 3, 2)).astype(np.float32), "gpool": normal(2, 3, 3, 4),
    "share3": rng.random((1, 2, 3)).astype(np.float32), "at": rng.integers(0, 42, (2, 3, 3, 4)),
    "gpool3": normal(1, 2, 2, 3, 2), "at3": rng.integers(0, 120, (1, 2, 2, 3, 2)),
}
SAMPLE = [(m, p, c) for m in range(3) for p in range(3) for c in (False, True)]
CALLS = [
    "upsample_nearest1d_backward.default(g10, [10], [2, 3, 7])",
    "upsample_nearest1d_backward.default(g14, [14], [2, 3, 7], 2.0)",
    "upsample_nearest2d_backward.default(g73, [7, 3], [2, 2, 5, 4])",
    "upsample_nearest2d_backward.default(g82, [10, 8], [2, 2, 5, 4])",
    "upsample_nearest3d_backward.default(g365, [3, 6, 5], [1, 2, 2, 3, 4])",
    "_upsample_nearest_exact1d_backward.default(g10, [10], [2, 3, 7])",
    "_upsample_nearest_exact2d_backward.default(h73, [7, 3], [2, 2, 5, 4])",
    "_upsample_nearest_exact3d_backward.default(g365, [3, 6, 5], [1, 2, 2, 3, 4])",
    "upsample_linear1d_backward.default(g10, [10], [2, 3, 7], False)",
    "upsample_linear1d_backward.default(g4, [4], [2, 3, 7], True)",
    "upsample_linear1d_backward.default(g14, [14], [2, 3, 7], False, 2.0)",
    "upsample_bilinear2d_backward.default(g73, [7, 3], [2, 2, 5, 4], False)",
    "upsample_bilinear2d_backward.default(g82, [10, 8], [2, 2, 5, 4], True)",
    "upsample_trilinear3d_backward.default(g365, [3, 6, 5], [1, 2, 2, 3, 4], False, 1.5, 2.0, "
    "1.25)",
    "upsample_bicubic2d_backward.default(g73, [7, 3], [2, 2, 5, 4], False)",
    "upsample_bicubic2d_backward.default(g82, [10, 8], [2, 2, 5, 4], True)",
    "_upsample_bilinear2d_aa_backward.default(g73, [7, 3], [2, 2, 5, 4], False)",
    "_upsample_bilinear2d_aa_backward.default(g32, [3, 2], [2, 2, 7, 9], False)",
    "_upsample_bicubic2d_aa_backward.default(g32, [3, 2], [2, 2, 7, 9], True)",
    *[f"grid_sampler_2d_backward.default(grad, image, grid, {m}, {p}, {c}, [True, True]) -> 0,1"
      for m, p, c in SAMPLE],
    *[f"grid_sampler_3d_backward.default(grad3, volume, grid3, {m}, {p}, {c}, [True, True]) -> 0,1"
      for m, p, c in SAMPLE if m < 2],
    *[f"grid_sampler_2d_backward.default(d_grad, d_image, d_grid, {m}, 2, False, [True, True]) "
      "-> 0,1"
      for m in range(3)],
    "grid_sampler_2d_backward.default(grad, thin, grid, 0, 2, True, [True, True]) -> 0,1",
    "grid_sampler_2d_backward.default(grad, image, grid, 0, 0, True, [False, True]) -> 1",
    "grid_sampler_2d_backward.default(grad, image, grid, 0, 0, True, [True, False]) -> 0",
    "fractional_max_pool2d.default(pool, [2, 3], [3, 4], share) -> 0,1",
    "fractional_max_pool2d.default(planes, [2, 2], [1, 5], share1) -> 0,1",
    "fractional_max_pool3d.default(pool3, [2, 2, 2], [3, 2, 1], share3) -> 0,1",
    "fractional_max_pool2d_backward.default(gpool, pool, [2, 3], [3, 4], at)",
    "fractional_max_pool3d_backward.default(gpool3, pool3, [2, 2, 2], [2, 3, 2], at3)",
]
# cuDNN's, which PyTorch has on GPUs alone, by what it is
CUDNN = {
    "cudnn_grid_sampler.default(image, grid)": "grid_sampler_2d.default(image, grid, 0, 0, True)",
    "cudnn_grid_sampler_backward.default(image, grid, grad) -> 0,1":
    "grid_sampler_2d_backward.default(grad, image, grid, 0, 0, True, [True, True]) -> 0,1",
}
CALLS = list(dict.fromkeys([*CALLS, *CUDNN.values()]))
CASES = recorded.cases(__file__, CALLS)
CASES += [(call, dict(CASES)[same]) for call, same in CUDNN.items()]

if __name__ == "__main__":
    recorded.record(__file__, CALLS, ARRAYS)
