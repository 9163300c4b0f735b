"""Operators that are made of others against PyTorch, whose results are in expansions.npz.

    expansions.py      with PyTorch: computes those results anew
"""
import numpy as np

import recorded

rng = np.random.default_rng(21)


def normal(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def holes(*shape):
    x = normal(*shape)
    x.flat[::5] = np.nan
    return x


ARRAYS = {
    "v": normal(5), "w": normal(4), "u": normal(7), "m": normal(3, 4), "n": normal(4, 5),
    "x": normal(6, 4), "y": normal(6, 4), "t": normal(4, 3, 6), "one": np.float32(0.7),
    "sq": normal(4, 4), "deep": normal(2, 3, 3), "sym": None, "i": rng.integers(-3, 4, (3, 4)),
    "k": rng.integers(-3, 4, 5), "holes": holes(6, 7), "q": np.array([0, 0.3, 0.5, 1], np.float32),
    "signs": np.where(rng.random(6) < 0.5, 1.0, -1.0).astype(np.float32),
    "plus": np.where(rng.random((6, 4)) < 0.5, 1.0, -1.0).astype(np.float32),
    "counts": rng.integers(0, 6, (6, 4)).astype(np.float32), "rates": rng.random((6, 4)) + 0.5,
    "classes": rng.integers(0, 4, 6), "shares": rng.random(4).astype(np.float32),
    "labels": np.array([[0, 2, -1, 1], [-1, 0, 0, 0], [3, 2, 1, 0], [1, -1, 3, -1],
                        [2, -1, -1, -1], [0, 1, -1, 2]]),
    "freq": rng.integers(1, 4, 4), "d": normal(3, 4, dtype=np.float64),
    "h": normal(3, 4, dtype=np.float16), "at": np.sort(normal(6)), "at4": np.sort(normal(4)),
    "three": normal(5, 3), "triple": normal(3), "row3": normal(1, 3),
    "z": (normal(3, 3) + 1j * normal(3, 3)),
    "zv": (normal(4) + 1j * normal(4)).astype(np.complex64), "eye": np.eye(3, dtype=np.float32),
    "s_x": normal(9, 5), "tall": normal(6, 3), "block": normal(2, 3, 6), "flat6": normal(6),
    "big": np.abs(normal(3, 4)) + 4, "bits": rng.integers(0, 200, (3, 4)),
}
ARRAYS.update({f"p{i}": normal(3, 4, dtype=np.float64 if i == 7 else np.float32) for i in range(8)},
              bits1=ARRAYS["bits"].copy(), stack1=normal(3, 4, 2), stack2=normal(3, 2, 4),
              finite=np.array([-2.5, 0, 0.25, 1, 30, -7.25], np.float32),
              poles=np.array([-2.5, -1, 0, -0.0, 0.25, 1, 30, np.inf, np.nan, -7.25]))
ARRAYS["sym"] = ARRAYS["sq"] @ ARRAYS["sq"].T
ARRAYS["rates"] = ARRAYS["rates"].astype(np.float32)
ARRAYS["z"] = ARRAYS["z"].astype(np.complex64)
INF = "inf"
CALLS = [
    # parts, joins, diagonals
    "tensor_split.sections(u, 3) -> 0,1,2", "tensor_split.sections(t, 4, -1) -> 0,1,2,3",
    "tensor_split.indices(u, [2, 5]) -> 0,1,2", "tensor_split.indices(t, [-2, 1], 0) -> 0,1,2",
    "tensor_split.sections(s_x, 2, 1) -> 0,1", "tensor_split.sections(s_x, 4) -> 0,1,2,3",
    "hsplit.int(m, 2) -> 0,1", "hsplit.array(w, [1, 2]) -> 0,1,2", "vsplit.int(x, 3) -> 0,1,2",
    "vsplit.array(x, [2]) -> 0,1", "dsplit.int(t, 2) -> 0,1", "dsplit.array(t, [1, 9]) -> 0,1,2",
    "unsafe_chunk.default(x, 4) -> 0,1,2", "atleast_1d.Sequence([one, v]) -> 0,1",
    "atleast_2d.Sequence([one, v, m]) -> 0,1,2", "atleast_3d.Sequence([one, v, m, t]) -> 0,1,2,3",
    "meshgrid.default([v, w]) -> 0,1", "cartesian_prod.default([v, w])",
    "cartesian_prod.default([v])", "cartesian_prod.default([v, w, triple])",
    "_chunk_cat.default([m, v], 0, 2)", "_chunk_cat.default([m, n], 0, 3)",
    "_chunk_cat.default([u], 0, 3)", "_chunk_cat.default([t, x], 0, 5)",
    "_chunk_cat.default([x, plus], -1, 3)", "_chunk_cat.default([deep, block], 1, 2)",
    "linalg__powsum.default(m)", "linalg__powsum.default(m, 3, [0], True)",
    "linalg__powsum.default(t, -0.5, [0, -1])", "linalg__powsum.default(holes, 0, [1])",
    "linalg__powsum.default(h, 2.5, [1])",
    "linalg__powsum.default(h, 2, None, dtype=torch.float32)",
    "_foreach_powsum.Scalar([m, h, v], 3) -> 0,1,2",
    "column_stack.default([w, sq, w])", "dstack.default([m, m])", "dstack.default([v, v])",
    "block_diag.default([m, one, v, sq])", "block_diag.default([i, m])",
    "pad_sequence.default([v, u, w])", "pad_sequence.default([x, sq, m], True, 2.0)",
    "pad_sequence.default([v, u], False, -1.0, 'left')", "diag.default(v)", "diag.default(v, -2)",
    "diag.default(m, 1)", "diagflat.default(m, 1)",
    "linalg_diagonal.default(t, offset=1, dim1=0, dim2=2)", "trace.default(m)", "trace.default(i)",
    "matrix_H.default(m)", "matrix_H.default(z)", "rot90.default(t)", "rot90.default(t, 2, [1, 2])",
    "rot90.default(t, -1, [2, 0])", "rot90.default(t, 3, [0, 1])", "rot90.default(m, 4)",
    "kron.default(m, sq)", "kron.default(v, m)", "kron.default(one, m)", "kron.default(m, one)",
    "sum_to_size.default(t, [3, 1])", "sum_to_size.default(t, [4, 1, 6])",
    "sum_to_size.default(m, [])", "fliplr.default(m)",
    # dtypes
    *[f"_cast_{t}.default(m)" for t in ("Char", "Short", "Int", "Long", "Half", "Float", "Double")],
    "_cast_Byte.default(big)", "float_power.Tensor_Tensor(big, m)", "float_power.Scalar(2, m)",
    "float_power.Tensor_Scalar(i, 3)", "__and__.Scalar(bits, 12)", "__or__.Scalar(bits, 12)",
    "__xor__.Scalar(bits, 12)",
    # losses
    *[f"triplet_margin_loss.default(x, y, plus, 0.5, {p}, 1e-06, {swap}, {r})"
      for p, swap, r in ((2.0, False, 1), (1.0, True, 0), (3.0, True, 2))],
    *[f"cosine_embedding_loss.default(x, y, signs, 0.1, {r})" for r in range(3)],
    "cosine_embedding_loss.default(x, y, signs)",
    *[f"hinge_embedding_loss.default(x, plus, 0.5, {r})" for r in range(3)],
    *[f"margin_ranking_loss.default(x, y, plus, 0.25, {r})" for r in range(3)],
    *[f"poisson_nll_loss.default(rates, counts, {log}, {full}, 1e-08, {r})"
      for log in (True, False) for full in (True, False) for r in (0, 1)],
    *[f"multi_margin_loss.default(x, classes, {p}, 0.5, {w}, {r})"
      for p, w, r in ((1, "None", 1), (2, "None", 0), (1, "shares", 2), (2, "shares", 1))],
    *[f"multilabel_margin_loss.default(x, labels, {r})" for r in range(3)],
    "multilabel_margin_loss_forward.default(x, labels, 0) -> 0,1",
    "alpha_dropout.default(x, 0.5, False)", "alpha_dropout.default(x, 1.0, True)",
    "feature_alpha_dropout.default(t, 0.0, True)", "rrelu.default(x, 0.25, 0.75)",
    # norms and ranks
    "linalg_norm.default(x)", "linalg_norm.default(t, None, [0, 2], True)",
    "linalg_norm.default(t, None, None, True)",
    *[f"linalg_norm.default(v, {p})" for p in (0, 1, 2, 3.5, INF, -1)],
    *[f"linalg_norm.default(x, {p})" for p in (1, -1, 2, -2, INF)],
    "linalg_norm.default(t, 1, [1])", "linalg_norm.default(t, 2, [2, 0], True)",
    "linalg_norm.default(h, dtype=torch.float32)", "linalg_norm.default(z)",
    "linalg_norm.ord_str(x, 'fro')", "linalg_norm.ord_str(t, 'nuc', [0, 1])",
    *[f"linalg_matrix_norm.default(t, {p}, [{d}], {k})" for p, d, k in (
        (1, "0, 1", False), (-1, "2, 0", True), (INF, "-2, -1", False), (2, "-1, 0", True),
        (-2, "-2, -1", False))],
    "linalg_matrix_norm.str_ord(t)", "linalg_matrix_norm.str_ord(t, 'nuc', [0, -1], True)",
    "frobenius_norm.dim(t, [1, 2])", "frobenius_norm.dim(t, [], True)", "nuclear_norm.default(m)",
    "nuclear_norm.dim(t, [0, 2], True)", "norm_except_dim.default(t, 2, 1)",
    "norm_except_dim.default(t, 2, -1)", "norm_except_dim.default(t, 1, 0)",
    *[f"dist.default(x, y, {p})" for p in (0, 1, 2, 3.5, INF)],
    "dist.default(v, one)",
    *[f"renorm.default(t, {p}, {d}, 1.5)" for p, d in ((2, 0), (1, 1), (3.0, -1))],
    "renorm.default(m, 2, 0, 100.0)",
    *[f"linalg_cond.default(sq, {p})" for p in ("None", 2, -2, 1, INF)],
    "linalg_cond.p_str(deep, 'fro')", "linalg_cond.p_str(sq, 'nuc')",
    "linalg_matrix_rank.default(deep, 0.1)", "linalg_matrix_rank.tol_tensor(x, one)",
    "linalg_matrix_rank.atol_rtol_float(deep)",
    "linalg_matrix_rank.atol_rtol_float(sym, hermitian=True)",
    "linalg_matrix_rank.atol_rtol_float(deep, atol=0.5, rtol=0.4)",
    "linalg_matrix_rank.atol_rtol_tensor(sq, atol=one)", "linalg_pinv.default(m, 0.1)",
    "linalg_pinv.rcond_tensor(m, one)",
    *[f"matrix_power.default(deep, {n})" for n in (0, 1, 2, 3, 5, -2)],
    "linalg_matrix_power.default(sq, 4)",
    # products
    "linalg_vecdot.default(x, y)", "linalg_vecdot.default(t, flat6)",
    "linalg_vecdot.default(zv, zv)", "inner.default(m, x)", "inner.default(t, block)",
    "inner.default(v, v)", "inner.default(one, m)", "linalg_cross.default(three, row3)",
    "linalg_cross.default(t, t, dim=1)", "cross.default(t, t)", "cross.default(three, three, 1)",
    "addr.default(m, triple, w)", "addr.default(one, triple, w, beta=2, alpha=0.5)",
    "addr.default(m, triple, w, beta=0)", "linalg_multi_dot.default([w, sq, n, v])",
    "linalg_multi_dot.default([m, sq, n])", "linalg_multi_dot.default([m, n, v])",
    "chain_matmul.default([m, sq, n])", "linalg_vander.default(m)", "linalg_vander.default(m, N=3)",
    "vander.default(v)", "vander.default(k, 4, True)", "vander.default(w, 3)",
    "qr.default(sq) -> 0,1", "linalg_solve_ex.default(sq, n) -> 0,1",
    "linalg_tensorinv.default(block, 2)", "linalg_tensorinv.default(block, 2)",
    # statistics
    "count_nonzero.default(i)", "count_nonzero.default(i, 1)", "nanmean.default(holes)",
    "nanmean.default(holes, [0])", "nanmean.default(holes, [1], True)", "isin.Tensor_Tensor(i, k)",
    "isin.Tensor_Tensor(i, k, invert=True)", "isin.Tensor_Scalar(i, 2)", "isin.Scalar_Tensor(2, k)",
    "isreal.default(m)", "isreal.default(z)", "cov.default(m)", "cov.default(v)",
    "cov.default(m, correction=0, fweights=freq)", "cov.default(m, aweights=shares)",
    "cov.default(m, fweights=freq, aweights=shares)", "cov.default(i)", "corrcoef.default(m)",
    "corrcoef.default(v)",
    *[f"quantile.default(x, q, {d}, {k}, interpolation='{how}')" for d, k, how in (
        (0, False, "linear"), (1, True, "linear"), ("None", False, "linear"),
        ("None", True, "lower"), (0, False, "higher"), (1, False, "nearest"),
        (-1, True, "midpoint"))],
    "quantile.scalar(x, 0.3, 1)", "quantile.scalar(t, 0.75, 1, True)", "quantile.scalar(x, 0.5)",
    "quantile.default(holes, q, 0)", "nanquantile.default(holes, q, 0)",
    "nanquantile.default(holes, q, 1, True)", "nanquantile.scalar(holes, 0.4, 0)",
    "quantile.scalar(one, 0.4, 0, True)", "quantile.scalar(d, 0.1)", "trapezoid.dx(x)",
    "trapezoid.dx(x, dx=0.5, dim=0)", "trapz.dx(x, dx=2.0)", "trapezoid.x(x, at4)",
    "trapezoid.x(x, at, dim=0)", "trapezoid.x(x, y)", "trapz.x(x, at, dim=0)",
    "cumulative_trapezoid.dx(x, dx=2, dim=0)", "cumulative_trapezoid.x(x, at4)",
    "gradient.scalarint(v) -> 0", "gradient.scalarint(x) -> 0,1",
    "gradient.scalarint(x, spacing=0.5, dim=1) -> 0",
    "gradient.scalarint(x, spacing=2, dim=0, edge_order=2) -> 0",
    "gradient.array(x, dim=[1, 0]) -> 0,1", "gradient.scalararray(x, spacing=2, dim=[1]) -> 0",
    "gradient.scalarrayint(x, spacing=[2.0, 0.5]) -> 0,1",
    "gradient.scalarrayarray(x, spacing=[0.5], dim=[1]) -> 0",
    "gradient.tensorarrayint(x, spacing=[at, at4]) -> 0,1",
    "gradient.tensorarrayint(x, spacing=[at], dim=0, edge_order=2) -> 0",
    "gradient.tensorarray(x, spacing=[at4], dim=[1], edge_order=2) -> 0",
    "mvlgamma.default(big, 3)", "special_multigammaln.default(big, 1)",
    # other names
    "special_log_softmax.default(x, 1)", "special_softmax.default(x, 0)",
    "special_logsumexp.default(x, [1])", "special_xlogy.other_scalar(big, 2.5)",
    "special_xlogy.self_scalar(2.0, big)", "special_xlog1py.other_scalar(big, 2.5)",
    "special_xlog1py.self_scalar(2.0, big)", "special_round.default(m, decimals=1)",
    "expand_copy.default(m, [2, 3, 4])", "permute_copy.default(t, [2, 0, 1])",
    "view_copy.default(m, [2, 6])", "squeeze_copy.dim(m, 0)", "unsqueeze_copy.default(m, 1)",
    "transpose_copy.int(m, 0, 1)", "t_copy.default(m)", "diagonal_copy.default(m, 1)",
    "unfold_copy.default(m, 1, 2, 1)", "alias_copy.default(m)", "narrow_copy.default(m, 1, 1, 2)",
    "slice_copy.Tensor(m, 1, 1, 3)", "select_copy.int(m, 1, 2)", "split_copy.Tensor(m, 2) -> 0,1",
    "split_with_sizes_copy.default(m, [1, 2]) -> 0,1", "unbind_copy.int(m) -> 0,1,2",
    "digamma.default(poles)", "digamma.default(m)", "special_psi.default(h)", "digamma.default(i)",
    *[f"polygamma.default({n}, finite)" for n in (0, 1, 2, 5)], "special_polygamma.default(3, big)",
    "addbmm.default(sq, stack1, stack2)", "addbmm.default(one, stack1, stack2, beta=2, alpha=-1)",
    "_trilinear.default(m, m, m, [], [], [], [1])", "_trilinear.default(v, u, w, [1, 2], [0, 2], "
    "[0, 1], [0])", "_linalg_det.default(deep) -> 0,1,2", "_linalg_det.default(sq) -> 0",
    # in place, each another array
    "arctan_.default(p0)", "clip_.default(p1, -0.5, 0.5)", "greater_.Scalar(p2, 0.5)",
    "not_equal_.Scalar(p3, 0.5)", "true_divide_.Scalar(p4, 3)", "__ixor__.Scalar(bits1, 12)",
    "renorm_.default(p5, 2, 0, 1.0)", "cumprod_.default(p6, 1)", "float_power_.Scalar(p7, 2)",
]
CALLS = list(dict.fromkeys(CALLS))


DEVICES = ("interp", )  # of other operators, which other modules try on all
CASES = recorded.cases(__file__, CALLS)

if __name__ == "__main__":
    recorded.record(__file__, CALLS, ARRAYS)
