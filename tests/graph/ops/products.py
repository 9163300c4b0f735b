"""Products of matrices whose sums need more than f32."""
import numpy as np

rng = np.random.default_rng(7)
ARRAYS = {
    "i": rng.integers(-2**40, 2**40, (4, 5)),
    "j": rng.integers(-2**20, 2**20, (5, 3)),
    "k": rng.integers(-2**30, 2**30, (2, 4, 5)).astype(np.int32),
    "l": rng.integers(-2**10, 2**10, (2, 5, 3)).astype(np.int32),
    "a": rng.normal(size=(4, 5)),
    "b": rng.normal(size=(5, 3)),
    "m": rng.normal(size=(2, 3, 3)),
    "p": (lambda x: x @ x.transpose(0, 2, 1) + np.eye(3))(rng.normal(size=(2, 3, 3))),
    "v": rng.normal(size=(2, 3)), "w": rng.normal(size=(2, 3, 2)),
    "swap": np.array([[0., 2, 1], [1, 0, 3], [4, 1, 0]]),
}
CASES = [
    ("mm.default(i, j)", lambda i, j: i @ j),
    ("bmm.default(k, l)", lambda k, l: k @ l),
    ("matmul.default(a, b)", lambda a, b: a @ b),
    ("linalg_inv.default(m)", np.linalg.inv),
    ("linalg_inv.default(swap)", np.linalg.inv),
    ("linalg_det.default(m)", np.linalg.det),
    ("linalg_solve.default(m, w)", np.linalg.solve),
    ("linalg_solve.default(m, v)", lambda m, v: np.linalg.solve(m, v[..., None])[..., 0]),
    ("linalg_cholesky.default(p)", np.linalg.cholesky),
]
