"""Factors, inverses and solutions of small matrices."""
import numpy as np

rng = np.random.default_rng(5)
BUNCH = (1 + 17 ** 0.5) / 8


def positive(*shape):
    x = rng.normal(size=shape)
    return x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])


ARRAYS = {
    "a": rng.normal(size=(2, 3, 3)),
    "tall": rng.normal(size=(5, 3)),
    "wide": rng.normal(size=(2, 3, 6)),
    "p": positive(2, 3, 3), "q": positive(3, 3),
    "v": rng.normal(size=(2, 3)), "w": rng.normal(size=(2, 3, 2)),
    "x": rng.normal(size=(3, 2)),
    "u": rng.normal(size=(4, 2, 3)),
    "swap": np.array([[0., 2, 1], [1, 0, 3], [4, 1, 0]]),
    "none": np.array([[1., 2, 3], [2, 4, 6], [1, 1, 1]]),
    "bad": np.array([[4., 2, 2], [2, 1, 5], [2, 5, 1]]),
    "late": np.array([[4., 2, 4, 6], [2, 10, 14, 18], [4, 14, 17, 7], [6, 18, 7, 9]]),
    "f": rng.normal(size=(3, 4, 4)).astype(np.float32),
    "most": rng.normal(size=(32, 32)) + 8 * np.eye(32),
    "s_r": rng.normal(size=45),
    "k": rng.normal(size=2),
    "t": rng.normal(size=(5, 2)), "l": rng.normal(size=(4, 5)),
    "half": np.array(0.5),
    "h": np.array([[0.5, -1], [2, 0.25]], np.float16),
    "sparse": np.array([[0., 1, 0, 2], [1, 0, 3, 0], [0, 3, 0, 1], [2, 0, 1, 0]]),
    "m_x": rng.normal(size=(4, 2)),
    "mixed": rng.normal(size=(3, 7, 7)), "m_b": rng.normal(size=(3, 7, 2)),
    "zero": np.zeros((3, 3)),
    "huge": np.array([[3e200, 1e200], [1e200, -2e200]]),
    "tiny": np.array([[3e-200, 1e-200], [1e-200, -2e-200]]),
    "one": np.array([[-2.]]),
    "empty": np.zeros((2, 0, 3)),
    "nowhere": np.zeros((0, 3, 3)),
}


def each(function):
    """The same for every matrix of a batch."""
    def batched(a, *more, **options):
        if a.ndim == 2:
            return function(a, *more, **options)
        results = [function(m, *more, **options) for m in a]
        if isinstance(results[0], tuple):
            return tuple(map(np.stack, zip(*results)))
        return np.stack(results)
    return batched


@each
def lu(a, pivot=True):
    """LAPACK's getrf: factors, pivots from 1, the first column without a pivot."""
    x, pivots, info = a.copy(), [], 0
    for k in range(min(a.shape)):
        p = k + int(np.argmax(np.abs(x[k:, k]))) if pivot else k
        x[[k, p]] = x[[p, k]]
        pivots.append(p + 1)
        if x[k, k] == 0:
            info = info or k + 1
            if pivot:
                continue
        with np.errstate(divide="ignore", invalid="ignore"):
            x[k + 1:, k] /= x[k, k]
            x[k + 1:, k + 1:] -= np.outer(x[k + 1:, k], x[k, k + 1:])
    return x, np.array(pivots, np.int32), np.int32(info)


def not_turned(a):
    """The factors of rows that keep their places, and no permutation."""
    factors, less = lu(a, pivot=False)[0], min(a.shape[-2:])
    lower = np.tril(factors[..., :less], -1) + np.eye(a.shape[-2], less)
    return np.zeros(0), lower, np.triu(factors[..., :less, :])


@each
def unpacked(a):
    factors, pivots, _ = lu(a)
    rows, columns = a.shape
    less = min(a.shape)
    order = np.eye(rows)
    for k, p in enumerate(pivots):
        order[[k, p - 1]] = order[[p - 1, k]]
    return (order.T, np.tril(factors[:, :less], -1) + np.eye(rows, less),
            np.triu(factors[:less]))


def across(a):
    return np.swapaxes(a, -1, -2)


def solve(a, b):
    if a.ndim == 3 and b.shape == (3, 2):
        return np.stack([np.linalg.solve(m, b) for m in a])
    if b.ndim == a.ndim - 1:
        return np.linalg.solve(a, b[..., None])[..., 0]
    return np.linalg.solve(a, b)


def triangle(a, upper, unit):
    a = np.triu(a) if upper else np.tril(a)
    rows = np.eye(a.shape[-1])
    return a * (1 - rows) + rows if unit else a


def square_of(p, upper=False):
    """The matrix whose Cholesky factor is that triangle of p."""
    t = triangle(p, upper, False)
    return across(t) @ t if upper else t @ across(t)


def solve_lu(adjoint, left=True):
    def solution(a, b):
        a = across(a) if adjoint else a
        return solve(a, b) if left else across(np.linalg.solve(across(a), across(b)))
    return solution


@each
def ldl(a):
    """LAPACK's sytrf of the lower triangle."""
    x, n, k, info = symmetric(a), len(a), 0, 0
    pivots = np.zeros(n, np.int32)
    while k < n:
        column = np.abs(x[k + 1:, k])
        most = column.max(initial=0)
        p, step = k, 1
        if max(abs(x[k, k]), most) == 0:
            info = info or k + 1
        elif abs(x[k, k]) < BUNCH * most:
            high = k + 1 + int(column.argmax())
            row = np.abs(np.delete(x[high, k:], high - k)).max()
            if abs(x[k, k]) < BUNCH * most * most / row:
                p, step = high, 1 if abs(x[high, high]) >= BUNCH * row else 2
        last = k + step - 1
        x[[last, p], k:] = x[[p, last], k:]
        x[k:, [last, p]] = x[k:, [p, last]]
        pivots[k:last + 1] = p + 1 if step == 1 else -(p + 1)
        block = x[k:last + 1, k:last + 1]
        if block.any():
            rest = x[last + 1:, k:last + 1] @ np.linalg.inv(block)
            x[last + 1:, last + 1:] -= rest @ x[k:last + 1, last + 1:]
            x[last + 1:, k:last + 1] = rest
        k = last + 1
    return np.tril(x), pivots, np.int32(info)


@each
def reflections(a):
    """LAPACK's geqrf."""
    x, factors = a.copy(), np.zeros(min(a.shape))
    for k in range(min(a.shape)):
        length = np.linalg.norm(x[k + 1:, k])
        if length == 0:
            continue
        beta = -np.copysign(np.hypot(x[k, k], length), x[k, k])
        factors[k] = (beta - x[k, k]) / beta
        v = np.concatenate([[1], x[k + 1:, k] / (x[k, k] - beta)])
        x[k:, k + 1:] -= factors[k] * np.outer(v, v @ x[k:, k + 1:])
        x[k:, k] = np.concatenate([[beta], v[1:]])
    return x, factors


@each
def rotation(vectors, factors):
    """All of Q."""
    q = np.eye(vectors.shape[0])
    for k, factor in enumerate(factors):
        v = np.where(np.arange(len(q)) > k, vectors[:, k], np.arange(len(q)) == k)
        q = q - factor * np.outer(q @ v, v)
    return q


@each
def orthogonal(a):
    x, factors = reflections(a)
    return rotation(x, factors), np.triu(x)


def reduced(a):
    q, r = orthogonal(a)
    less = min(a.shape[-2:])
    return q[..., :less], r[..., :less, :]


def symmetric(a, upper=False):
    t = np.triu(a) if upper else np.tril(a)
    return t + across(t) - t * np.eye(a.shape[-1])


def exponential(a):
    y, term = np.eye(a.shape[-1]), np.eye(a.shape[-1])
    for k in range(1, 80):
        term = term @ a / k
        y = y + term
    return y


CASES = [
    *((f"linalg_ldl_factor_ex.default({x}) -> 0,1,2", ldl)
      for x in ("a", "p", "swap", "none", "sparse", "mixed", "one", "zero")),
    *((f"linalg_ldl_factor_ex.default({x}); $0[0]; $0[1]; linalg_ldl_solve.default($1, $2, {y})",
       lambda a, b: solve(symmetric(a), b))
      for x, y in (("a", "w"), ("swap", "x"), ("mixed", "m_b"), ("sparse", "m_x"))),
    ("linalg_matrix_exp.default(h)", lambda h: exponential(h.astype(float)).astype(np.float16)),
    ("geqrf.default(tall) -> 0,1", reflections),
    ("geqrf.default(wide) -> 0,1", reflections),
    ("geqrf.default(one) -> 0,1", reflections),
    ("linalg_qr.default(tall) -> 0,1", reduced),
    ("linalg_qr.default(wide) -> 0,1", reduced),
    ("linalg_qr.default(swap) -> 0,1", reduced),
    ("linalg_qr.default(tall, 'complete') -> 0,1", orthogonal),
    ("linalg_qr.default(tall, 'r') -> 0,1", lambda a: (np.zeros(0), reduced(a)[1])),
    ("linalg_householder_product.default(tall, k)", lambda a, k: rotation(a, k)[:, :3]),
    ("ormqr.default(tall, k, t)", lambda a, k, t: rotation(a, k) @ t),
    ("ormqr.default(tall, k, t, True, True)", lambda a, k, t: rotation(a, k).T @ t),
    ("ormqr.default(tall, k, l, False)", lambda a, k, l: l @ rotation(a, k)),
    ("ormqr.default(tall, k, l, False, True)", lambda a, k, l: l @ rotation(a, k).T),
    ("linalg_matrix_exp.default(swap)", exponential),
    ("linalg_matrix_exp.default(a)", each(exponential)),
    ("linalg_matrix_exp.default(one)", np.exp),
    ("_linalg_eigh.default(most, 'L', False) -> 0,1",
     lambda a: (np.linalg.eigvalsh(a), np.zeros(0))),
    ("linalg_eigh.default(a, 'U') -> 0", lambda a: np.linalg.eigvalsh(symmetric(a, True))),
    ("_linalg_eigh.default(a); $0[0]; $0[1]; unsqueeze.default($1, 1); mul.Tensor($2, $3);"
     " transpose.int($2, 1, 2); bmm.default($4, $5)", symmetric),
    ("_linalg_eigh.default(most); $0[1]; transpose.int($1, 0, 1); mm.default($1, $2)",
     lambda a: np.eye(32)),
    *((f"_linalg_svd.default({x}); $0[0]; $0[1]; $0[2]; unsqueeze.default($2, -2);"
       " mul.Tensor($1, $4); matmul.default($5, $3)", lambda a: a)
      for x in ("a", "tall", "wide", "none", "one", "most", "zero")),
    *((f"_linalg_svd.default({x}, True); $0[0]; transpose.int($1, -1, -2); matmul.default($1, $2)",
       lambda a: np.broadcast_to(np.eye(a.shape[-2]), (*a.shape[:-1], a.shape[-2])))
      for x in ("a", "tall", "wide", "none", "zero", "empty")),
    *((f"linalg_svd.default({x}); $0[2]; transpose.int($1, -1, -2); matmul.default($1, $2)",
       lambda a: np.broadcast_to(np.eye(a.shape[-1]), (*a.shape[:-2], *[a.shape[-1]] * 2)))
      for x in ("a", "tall", "wide", "none", "zero", "empty")),
    ("_linalg_svd.default(most, False, False) -> 0,1,2",
     lambda a: (np.zeros(0), np.linalg.svd(a)[1], np.zeros(0))),
    ("_linalg_eigh.default(huge) -> 0", np.linalg.eigvalsh),
    ("_linalg_eigh.default(tiny); $0[0]; mul.Tensor($1, 1e200)",
     lambda a: np.linalg.eigvalsh(a) * 1e200),
    ("_linalg_svd.default(huge) -> 1", lambda a: np.linalg.svd(a)[1]),
    ("_linalg_svd.default(tiny); $0[1]; mul.Tensor($1, 1e200)",
     lambda a: np.linalg.svd(a)[1] * 1e200),
    ("linalg_slogdet.default(a) -> 0,1", lambda a: tuple(np.linalg.slogdet(a))),
    ("slogdet.default(swap) -> 0,1", lambda a: tuple(np.linalg.slogdet(a))),
    ("logdet.default(a)", lambda a: np.log(np.linalg.det(a))),
    ("logdet.default(p)", lambda a: np.log(np.linalg.det(a))),
    ("linalg_lu_factor.default(a) -> 0,1", lambda a: lu(a)[:2]),
    ("linalg_eigvalsh.default(a, 'U')", lambda a: np.linalg.eigvalsh(symmetric(a, True))),
    ("linalg_svdvals.default(wide)", lambda a: np.linalg.svd(a)[1]),
    ("matrix_exp.default(swap)", exponential),
    ("linalg_pinv.atol_rtol_float(none, rtol=0.5)", lambda a: np.linalg.pinv(a, 0.5)),
    ("linalg_pinv.atol_rtol_float(none, atol=2.5)",
     lambda a: np.linalg.pinv(a, 2.5 / np.linalg.norm(a, 2))),
    ("linalg_pinv.atol_rtol_float(p, hermitian=True)", np.linalg.pinv),
    ("pinverse.default(none, 0.5)", lambda a: np.linalg.pinv(a, 0.5)),
    ("linalg_pinv.atol_rtol_tensor(tall)", np.linalg.pinv),
    ("linalg_pinv.atol_rtol_tensor(wide)", np.linalg.pinv),
    ("linalg_pinv.atol_rtol_tensor(zero)", np.linalg.pinv),
    ("linalg_pinv.atol_rtol_tensor(none, rtol=half)", lambda a, h: np.linalg.pinv(a, h)),
    ("linalg_pinv.atol_rtol_tensor(p, hermitian=True)", np.linalg.pinv),
    ("linalg_inv.default(a)", np.linalg.inv),
    ("linalg_inv.default(swap)", np.linalg.inv),
    ("linalg_inv.default(f)", np.linalg.inv),
    ("linalg_inv.default(most)", np.linalg.inv),
    ("view.default(s_r, [-1, 3, 3]); linalg_inv.default($0)",
     lambda r: np.linalg.inv(r.reshape(5, 3, 3))),
    ("inverse.default(one)", np.linalg.inv),
    ("inverse.default(nowhere)", lambda a: a),
    ("linalg_inv_ex.default(a) -> 0,1", lambda a: (np.linalg.inv(a), np.zeros(2, np.int32))),
    ("linalg_det.default(a)", np.linalg.det),
    ("det.default(swap)", np.linalg.det),
    ("linalg_det.default(none)", lambda a: 0.0),
    ("linalg_solve.default(a, w)", np.linalg.solve),
    ("linalg_solve.default(a, v)", solve),
    ("linalg_solve.default(a, x)", solve),
    ("linalg_solve.default(swap, w)", np.linalg.solve),
    ("linalg_solve.default(swap, u, left=False)",
     lambda a, b: across(np.linalg.solve(a.T, across(b)))),
    ("_linalg_solve_ex.default(a, v) -> 0,1,2,3", lambda a, b: (solve(a, b), *lu(a))),
    ("linalg_cholesky.default(p)", np.linalg.cholesky),
    ("cholesky.default(p, True)", lambda p: across(np.linalg.cholesky(p))),
    ("linalg_cholesky_ex.default(p) -> 0,1",
     lambda p: (np.linalg.cholesky(p), np.zeros(2, np.int32))),
    ("linalg_cholesky_ex.default(bad) -> 1", lambda p: np.int32(2)),
    ("linalg_cholesky_ex.default(late) -> 0,1",
     lambda p: (np.array([[2., 0, 0, 0], [1, 3, 0, 0], [2, 4, -3, 0], [3, 5, 7, 9]]),
                np.int32(3))),
    ("cholesky_solve.default(w, p)", lambda b, p: solve(square_of(p), b)),
    ("cholesky_solve.default(x, p, True)", lambda b, p: solve(square_of(p, True), b)),
    ("cholesky_inverse.default(p)", lambda p: np.linalg.inv(square_of(p))),
    ("linalg_lu_factor_ex.default(a) -> 0,1,2", lu),
    ("linalg_lu_factor_ex.default(tall) -> 0,1,2", lu),
    ("linalg_lu_factor_ex.default(wide) -> 0,1,2", lu),
    ("linalg_lu_factor_ex.default(none) -> 0,1,2", lu),
    ("linalg_lu_factor_ex.default(a, pivot=False) -> 0,1,2", lambda a: lu(a, pivot=False)),
    ("linalg_lu_factor_ex.default(wide, pivot=False) -> 0,1,2", lambda a: lu(a, pivot=False)),
    ("linalg_lu_factor_ex.default(swap, pivot=False) -> 0,1,2", lambda a: lu(a, pivot=False)),
    ("linalg_lu_factor.default(tall, pivot=False) -> 0,1", lambda a: lu(a, pivot=False)[:2]),
    ("linalg_lu.default(a, pivot=False) -> 0,1,2", not_turned),
    ("linalg_lu.default(wide, pivot=False) -> 0,1,2", not_turned),
    ("linalg_lu_factor_ex.default(one) -> 0,1,2", lu),
    ("linalg_lu_factor_ex.default(empty) -> 0,1,2",
     lambda a: (a, np.zeros((2, 0), np.int32), np.zeros(2, np.int32))),
    ("linalg_lu.default(a) -> 0,1,2", unpacked),
    ("linalg_lu.default(tall) -> 0,1,2", unpacked),
    ("linalg_lu.default(wide) -> 0,1,2", unpacked),
]

# lu_unpack and lu_solve take the factors of another call.
FACTORS = {"a": lu(ARRAYS["a"]), "swap": lu(ARRAYS["swap"]), "wide": lu(ARRAYS["wide"])}
for name, (factors, pivots, _) in FACTORS.items():
    ARRAYS[f"lu_{name}"], ARRAYS[f"at_{name}"] = factors, pivots
    CASES.append((f"lu_unpack.default(lu_{name}, at_{name}) -> 0,1,2",
                  lambda _, __, name=name: unpacked(ARRAYS[name])))
CASES.append(("lu_unpack.default(lu_a, at_a, False) -> 0,1", lambda _, __: (
    unpacked(ARRAYS["a"])[0], np.zeros(0))))
for adjoint in (False, True):
    for left, right_hand in ((True, "x"), (False, "u")):
        CASES.append((
            f"linalg_lu_solve.default(lu_swap, at_swap, {right_hand}, left={left}, "
            f"adjoint={adjoint})",
            lambda _, __, b, adjoint=adjoint, left=left: solve_lu(adjoint, left)(
                ARRAYS["swap"], b)))
    for upper in (False, True):
        CASES.append((
            f"linalg_solve_triangular.default(p, x, upper={upper}, unitriangular={adjoint})",
            lambda a, b, upper=upper, unit=adjoint: solve(triangle(a, upper, unit), b)))
        CASES.append((
            f"linalg_solve_triangular.default(q, u, upper={upper}, left=False)",
            lambda a, b, upper=upper: across(np.linalg.solve(
                across(triangle(a, upper, False)), across(b)))))
        CASES.append((
            f"triangular_solve.default(w, p, {upper}, True, {adjoint}) -> 0,1",
            lambda b, a, upper=upper, unit=adjoint: (
                np.linalg.solve(across(triangle(a, upper, unit)), b), a)))
