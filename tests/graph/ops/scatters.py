"""Writing at places that data says; of what is written to one place twice, the last counts."""
import numpy as np

rng = np.random.default_rng(3)


def with_nan(shape):
    x = rng.normal(size=shape).astype(np.float32)
    x.flat[::11] = np.nan
    return x


ARRAYS = {
    "x": rng.normal(size=(5, 7)).astype(np.float32),
    "new": rng.normal(size=(6, 7)).astype(np.float32),
    "nans": with_nan((6, 7)),
    "rows": rng.integers(0, 5, (6, 7)),
    "columns": rng.integers(0, 7, (4, 6)),
    "h": rng.normal(size=(5, 7)).astype(np.float16),
    "hsrc": rng.normal(size=(6, 7)).astype(np.float16),
    "q": rng.integers(-9, 9, (5, 7)),
    "qsrc": rng.integers(-9, 9, (6, 7)),
    "u": rng.integers(0, 200, (5, 7)).astype(np.uint8),
    "usrc": rng.integers(0, 20, (6, 7)).astype(np.uint8),
    "d": rng.normal(size=(5, 7)),
    "dsrc": rng.normal(size=(6, 7)),
    "one": np.float32(2.5),
    "cube": rng.normal(size=(4, 5, 6)).astype(np.float32),
    "picks": rng.integers(-5, 5, 3),
    "many": rng.integers(0, 5, 20),
    "slices": rng.normal(size=(4, 20, 6)).astype(np.float32),
    "few": rng.normal(size=(4, 3, 6)).astype(np.float32),
    "i": rng.integers(0, 4, (2, 3)),
    "j": rng.integers(-6, 6, 3),
    "ij": rng.normal(size=(2, 3, 5)).astype(np.float32),
    "apart": rng.normal(size=(2, 3, 5)).astype(np.float32),
    "row": rng.normal(size=6).astype(np.float32),
    "mask": rng.random((4, 5)) < 0.5,
    "full": rng.random((4, 5, 6)) < 0.4,
    "enough": rng.normal(size=130).astype(np.float32),
    "flags": rng.random((5, 7)) < 0.4,
    "fsrc": rng.random((6, 7)) < 0.6,
    "fone": rng.random((1, 7)) < 0.6,
    "frow": rng.integers(0, 5, (1, 7)),
    "edge": rng.normal(size=(5, 4)).astype(np.float32),
    "spots": rng.integers(0, 5, 3),
    "s_x": rng.normal(size=(30, 4)).astype(np.float32),
    "s_rows": rng.integers(0, 30, (50, 4)),
    "s_src": rng.normal(size=(50, 4)).astype(np.float32),
    "big": rng.integers(0, 3000, 5000),
    "zeros": np.zeros(3000, np.float32),
    "ones": np.ones(5000, np.float32),
    # more columns than a program has, and rows to which several are added
    "wide": rng.normal(size=(40, 100)).astype(np.float32),
    "again": rng.integers(0, 40, 300),
    "often": rng.integers(-40, 40, 300).astype(np.int32),
    "added": rng.normal(size=(300, 100)).astype(np.float32),
    "s_wide": rng.normal(size=(3, 11, 17)).astype(np.float32),
    "s_again": rng.integers(0, 11, 80),
    "s_added": rng.normal(size=(3, 80, 17)).astype(np.float32),
    "none": np.zeros((0, 3), np.int64),
    "none_f": np.zeros((2, 0, 3), np.float32),
    "wide_row": rng.random(6) < 0.5,
    "deep": rng.random((2, 1, 5, 1)) < 0.5,
    "class_of": rng.integers(0, 16, (5, 1)),
    "classes": np.ones((5, 16), np.float32),
    "factor": np.array([[1.5], [np.inf], [np.nan], [0], [-3]], np.float32),
    "anywhere": np.array([[-1], [15], [16], [2**32 + 2], [0]]),
}


def along(index, axis):
    """For NumPy: the places that an index along an axis names, in order."""
    places = list(np.meshgrid(*map(np.arange, index.shape), indexing="ij"))
    places[axis] = index
    return [p.ravel() for p in places]


def put(x, places, values):
    y = x.copy()
    for at in zip(*places, np.broadcast_to(values, places[0].shape)):
        y[at[:-1]] = at[-1]
    return y


def scatter(axis):
    return lambda x, index, src: put(x, along(index, axis),
                                     src[tuple(map(slice, index.shape))].ravel())


REDUCE = {"sum": np.add, "prod": np.multiply, "mean": np.add, "amax": np.maximum,
          "amin": np.minimum}


def reduced(axis, how, include=True):
    def of(x, index, src):
        wide = np.float32 if x.dtype == np.float16 else x.dtype
        places = along(index, axis)
        values = src[tuple(map(slice, index.shape))].ravel().astype(wide)
        count = np.zeros(x.shape, np.int64)
        np.add.at(count, tuple(places), 1)
        y = x.astype(wide)
        if not include:
            lo, hi = (-np.inf, np.inf) if y.dtype.kind == "f" else (-99, 99)
            y[count > 0] = {"prod": 1, "amax": lo, "amin": hi}.get(how, 0)
        REDUCE[how].at(y, tuple(places), values)
        if how == "mean":
            y = (np.floor_divide if y.dtype.kind in "iu" else np.divide)(
                y, np.maximum(count + include, 1))
        return y.astype(x.dtype)
    return of


def put_at(index, accumulate=False):
    """x[index] = v, or += v; `index` is of the other operands."""
    def of(x, *operands):
        y, (*places, v) = x.copy(), operands
        if accumulate:
            np.add.at(y, index(*places), v)
        else:
            y[index(*places)] = v
        return y
    return of


def copy(axis, add=0):
    def of(x, index, source):
        y = x.copy()
        at = (slice(None), ) * axis
        for i, k in enumerate(index):
            if add:
                y[at + (k, )] += add * source[at + (i, )]
            else:
                y[at + (k, )] = source[at + (i, )]
        return y
    return of


def masked(x, mask, source):
    x, mask = np.broadcast_arrays(x, mask)
    y = x.copy()
    y[mask] = source.ravel()[:mask.sum()]
    return y


def on_diagonal(x, edge):
    y = x.copy()
    for i in range(4):
        y[i, :, i + 1] = edge[:, i]
    return y


CASES = [
    ("scatter.src(x, 0, rows, new)", scatter(0)),
    ("scatter.src(new, 1, columns, x)", scatter(1)),
    ("scatter.value(x, 0, rows, 1.5)", lambda x, index: put(x, along(index, 0), np.float32(1.5))),
    ("scatter.src(h, 0, rows, hsrc)", scatter(0)),
    ("scatter.src(u, 0, rows, usrc)", scatter(0)),
    ("scatter.src(s_x, 0, s_rows, s_src)", scatter(0)),
    ("scatter_add.default(x, 0, rows, new)", reduced(0, "sum")),
    ("scatter_add.default(h, 0, rows, hsrc)", reduced(0, "sum")),
    ("scatter_add.default(q, 0, rows, qsrc)", reduced(0, "sum")),
    ("scatter_add.default(u, 0, rows, usrc)", reduced(0, "sum")),
    ("scatter_add.default(d, 0, rows, dsrc)", reduced(0, "sum")),
    ("scatter_add.default(flags, 0, rows, fsrc)", reduced(0, "sum")),
    ("scatter_add.default(flags, 0, frow, fone)", reduced(0, "sum")),
    ("scatter_add.default(s_x, 0, s_rows, s_src)", reduced(0, "sum")),
    ("scatter_add.default(zeros, 0, big, ones)",
     lambda zeros, index, ones: np.bincount(index, minlength=3000).astype(np.float32)),
    # the same initial value, written to twice
    ("scatter_add.default(x, 0, rows, new); mul.Tensor(x, 1.0); scatter_add.default($1, 0, rows, "
     "new); sub.Tensor($0, $2)", lambda x, *_: x * 0),
    ("scatter.reduce(x, 0, rows, new, reduce='add')", reduced(0, "sum")),
    ("scatter.value_reduce(x, 0, rows, 2, reduce='multiply')",
     lambda x, index: reduced(0, "prod")(x, index, np.full((6, 7), 2, np.float32))),
]
for how in REDUCE:
    for include in True, False:
        text = f"'{how}', include_self={include}"
        CASES += [
            (f"scatter_reduce.two(x, 0, rows, new, {text})", reduced(0, how, include)),
            (f"scatter_reduce.two(q, 0, rows, qsrc, {text})",
             reduced(0, how, include)),
        ]
CASES += [
    ("scatter_reduce.two(x, 0, rows, nans, 'amax')", reduced(0, "amax")),
    ("scatter_reduce.two(x, 0, rows, nans, 'amin')", reduced(0, "amin")),
    ("scatter_reduce.two(new, 1, columns, x, 'prod')", reduced(1, "prod")),
    ("scatter_reduce.two(d, 0, rows, dsrc, 'amin')", reduced(0, "amin")),
    ("scatter_reduce.two(h, 0, rows, hsrc, 'mean')", reduced(0, "mean")),
    ("index_put.default(cube, [i], one)", put_at(lambda i: (i, ))),
    ("index_put.default(cube, [i, None, j], ij)",
     put_at(lambda i, j: (i, slice(None), j))),
    ("index_put.default(cube, [None, picks], row)",
     put_at(lambda k: (slice(None), k))),
    ("index_put.default(cube, [None, None, j], one)",
     put_at(lambda k: (slice(None), slice(None), k))),
    ("index_put.default(cube, [i, None, j], ij, True)",
     put_at(lambda i, j: (i, slice(None), j), True)),
    ("index_put.default(cube, [i, j], one, True)",
     put_at(lambda i, j: (i, j % 5), True)),
    ("index_put.default(cube, [mask], one)",
     put_at(lambda m: (m, ))),
    ("index_put.default(cube, [mask], row, True)",
     put_at(lambda m: (m, ), True)),
    ("index_put.default(cube, [full], enough)",
     masked),
    ("index_copy.default(cube, 1, spots, few)", copy(1)),
    ("index_copy.default(cube, 1, many, slices)", copy(1)),
    ("index_add.default(cube, 1, many, slices)",
     copy(1, add=1)),
    ("index_add.default(cube, -2, spots, few, alpha=-2)",
     copy(1, add=-2)),
    ("index_add.default(wide, 0, again, added)", copy(0, add=1)),
    ("index_put.default(wide, [often], added, True)", put_at(lambda k: (k, ), True)),
    ("index_add.default(s_wide, 1, s_again, s_added)", copy(1, add=1)),
    ("index_fill.int_Scalar(cube, 2, j, 7)",
     lambda cube, j: put_at(lambda k: (slice(None), slice(None), k))(cube, j, 7)),
    ("masked_scatter.default(cube, full, enough)",
     masked),
    ("masked_scatter.default(cube, full, slices)", masked),
    ("diagonal_scatter.default(cube, edge, 1, 0, 2)", on_diagonal),
    # self and a mask of fewer axes, or of more
    ("masked_scatter.default(cube, wide_row, enough)", masked),
    ("masked_scatter.default(cube, deep, slices)", masked),
    ("masked_scatter.default(one, full, enough)", masked),
    ("clone.default(cube); masked_scatter_.default($0, wide_row, enough)", masked),
]
# Sums of rows in which one element at most is not 0, if the factor of the row is a finite number.
ONE = "full_like.default(classes, 0); scatter.value($0, 1, class_of, -2); "


def sum_of_class(index, factor, axis=1):
    with np.errstate(invalid="ignore"):
        return (np.where(np.arange(16) == index, -2, 0).astype(np.float32) * factor).sum(axis)


CASES += [
    (ONE + "mul.Tensor($1, factor); sum.dim_IntList($2, [1])",
     lambda x, index, factor: sum_of_class(index, factor)),
    (ONE + "mul.Tensor(factor, $1); sum.dim_IntList($2, [-1], True)",
     lambda x, index, factor: sum_of_class(index, factor)[:, None]),
    (ONE + "mul.Tensor($1, factor); sum.dim_IntList($2, [0])",
     lambda x, index, factor: sum_of_class(index, factor, 0)),
    ("arange.default(16); eq.Tensor($0, anywhere); "
     "full_like.default(anywhere, -2, dtype=torch.float32); "
     "full_like.default(anywhere, 0, dtype=torch.float32); where.self($1, $2, $3); "
     "mul.Tensor($4, factor); sum.dim_IntList($5, [1])", sum_of_class),
]
# An index for all columns.
EACH = "unsqueeze.default(again, 1); expand.default($0, [300, 100]); "
CASES += [
    (EACH + "scatter_add.default(wide, 0, $1, added)",
     lambda index, x, src: copy(0, add=1)(x, index, src)),
    *[(EACH + f"scatter_reduce.two(wide, 0, $1, {src}, '{how}', include_self={include})",
       lambda index, x, src, how=how, include=include: reduced(0, how, include)(
           x, np.broadcast_to(index[:, None], src.shape), src))
      for how, include, src in (("amax", True, "added"), ("amin", False, "added"),
                                ("mean", True, "added"), ("sum", False, "added"))],
]
# An index without elements may have any dtype and rank.
for nothing in "none", "none_f":
    CASES += [
        (f"gather.default(x, 1, {nothing})", lambda x, index: np.zeros(index.shape, x.dtype)),
        (f"gather.default(one, 0, {nothing})", lambda x, index: np.zeros(index.shape, x.dtype)),
        (f"scatter_add.default(x, 1, {nothing}, new)", lambda x, *_: x),
        (f"scatter_add.default(one, 0, {nothing}, new)", lambda x, *_: x),
        (f"scatter.src(x, 0, {nothing}, new)", lambda x, *_: x),
        (f"scatter.value(x, 0, {nothing}, 3)", lambda x, _: x),
        (f"scatter.reduce(x, 0, {nothing}, new, reduce='add')", lambda x, *_: x),
        (f"scatter_reduce.two(x, 0, {nothing}, new, 'prod', include_self=False)",
         lambda x, *_: x),
    ]
