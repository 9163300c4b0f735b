#!/usr/bin/env python3
"""Elements that are selected by a search by bits: the first of rows, one of a rank, medians.  The
CPU runs plans for GPUs, against its own plans; these select, too, and are compared with a sort.

    selections.py [NAME...]
"""
import pathlib, sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import run_cases  # noqa: E402
from tally import check  # noqa: E402

ATEN = "torch.ops.aten."


def pair(call):
    return [f"r = {ATEN}{call}", "v = r[0]", "i = r[1]"]


# name: x's type, its size, what its elements are, lines.
CASES = {
    "first": ("f32[3, 6000]", "normal", pair("topk.default(x, 2000)")),
    "least": ("f32[3, 6000]", "normal", pair("topk.default(x, 1500, 1, False)")),
    "first of ties": ("f32[3, 6000]", "few", pair("topk.default(x, 2500)")),
    "first of NaN": ("f32[2, 5000]", "odd", pair("topk.default(x, 2500)")),
    "least of NaN": ("f32[2, 5000]", "odd", pair("topk.default(x, 2400, 1, False)")),
    "first of equals": ("f32[2, 5000]", "one", pair("topk.default(x, 700)")),
    "first of f16": ("f16[2, 9000]", "odd", pair("topk.default(x, 4000)")),
    "first of i32": ("i32[2, 5000]", "ends", pair("topk.default(x, 2000)")),
    "least of i32": ("i32[2, 5000]", "ends", pair("topk.default(x, 2000, 1, False)")),
    "first of an axis": ("f32[4100, 2]", "few", pair("topk.default(x, 1100, 0)")),
    "first of a vector": ("f32[8191]", "normal", pair("topk.default(x, 4000)")),
    "widest": ("f32[1, 32768]", "normal", pair("topk.default(x, 4000)")),
    "rank of no rows": ("f32[0, 2000]", "few", pair("kthvalue.default(x, 1000)")),
    "first of no rows": ("f32[0, 6000]", "few", pair("topk.default(x, 2000)")),
    "rank": ("f32[3, 2000]", "few", pair("kthvalue.default(x, 1000)")),
    "next to last rank": ("f32[3, 2000]", "normal", pair("kthvalue.default(x, 1999)")),
    "last rank": ("f32[3, 2000]", "odd", pair("kthvalue.default(x, 2000)")),
    "rank of bytes": ("i32[3, 2000]", "bytes", [
        f"b = {ATEN}to.dtype(x, torch.uint8)", *pair("kthvalue.default(b, 777)")]),
    "rank of i64": ("i64[3, 2000]", "ends", pair("kthvalue.default(x, 777)")),
    "rank of an axis": ("f32[2, 1100, 3]", "few", pair("kthvalue.default(x, 700, 1, True)")),
    "median": ("f32[3, 2001]", "few", pair("median.dim(x, 1)")),
    "median of NaN": ("f32[5, 2000]", "odd", pair("median.dim(x, 1)")),
    "median but NaN": ("f32[5, 2000]", "odd", pair("nanmedian.dim(x, 1)")),
    "median of integers": ("i32[5, 2000]", "ends", pair("median.dim(x, 1)")),
    "median of all": ("f32[40, 60]", "few", [f"v = {ATEN}median.default(x)",
                                             f"i = {ATEN}neg.default(x)"]),
}

# name: x's type, what its elements are, the axis, how many, the largest or the least.
FIRST = {
    "by host": ("f32[3, 300]", "normal", 1, 10, True),
    "by host, least": ("f32[3, 300]", "few", 1, 140, False),
    "by host, of a short row": ("f32[40, 13]", "few", 1, 4, True),
    "by host, of an axis": ("f32[70, 5]", "odd", 0, 30, True),
    "by host, of f16": ("f16[5, 1000]", "odd", 1, 90, True),
    "by host, of i32": ("i32[5, 500]", "ends", 1, 60, False),
    "by host, half of a row": ("f32[3, 64]", "few", 1, 32, True),
    "by host, most of a row": ("f32[3, 64]", "few", 1, 33, True),
    "by groups": ("f32[2, 4100]", "normal", 1, 3, True),
    "by groups, ties": ("f32[2, 4100]", "few", 1, 40, True),
    "by groups, equals": ("f32[2, 4111]", "one", 1, 9, False),
    "by groups, NaN": ("f32[3, 20001]", "odd", 1, 50, True),
    "by groups, least of NaN": ("f32[3, 20001]", "odd", 1, 50, False),
    "by groups, ends": ("i32[2, 40001]", "ends", 1, 100, True),
    "by groups, least of ends": ("i32[2, 40001]", "ends", 1, 100, False),
    "by groups, of more than a program holds": ("f32[1, 600011]", "few", 1, 5, True),
    "one": ("f32[4, 300]", "odd", 1, 1, True),
    "one, least": ("f32[4, 3000]", "odd", 1, 1, False),
    "one of ties": ("f16[300, 7]", "few", 0, 1, True),
    "one of i64": ("i64[3, 50]", "ends", 1, 1, True),
}


def draw(kind, what):
    dtype = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i64": np.int64}[kind[:3]]
    size = [int(n) for n in kind[4:-1].split(",")]
    rng = np.random.default_rng(sum(size))
    if what == "ends":
        ends = np.iinfo(np.int32)
        x = rng.integers(ends.min, ends.max, size, np.int64, True)
        x[rng.random(size) < .2] = ends.max
        x[rng.random(size) < .2] = ends.min
        return x.astype(dtype)
    if what == "bytes":
        return rng.integers(0, 256, size).astype(dtype)
    x = rng.normal(size=size) * (2 if what == "few" else 100)
    if what in ("few", "one"):
        x = np.round(x) if what == "few" else np.ones(size)
    if what == "odd":  # the last row has no NaN, the first one nothing else
        for value in (np.nan, np.inf, -np.inf, 0.0, -0.0):
            x[rng.random(size) < .1] = value
        x[0] = np.nan
        x[-1] = np.where(np.isnan(x[-1]), 3, x[-1])
    return x.astype(dtype)


def check_case(plans, name):
    kind, what, lines = CASES[name]
    model = plans.write({"x": kind}, lines, "v, i")
    plan = plans.plan(model)
    selects = "select_bounds(" in plan.read_text()
    sorts = kind[:3] == "i64" or "[0," in kind  # halves of 64 bits; nothing
    check(selects != sorts, f"{name}: selects {selects}")
    inputs = plans.save({"x": draw(kind, what)})
    want, got = plans.values(model, inputs), plans.values(plan, inputs)
    check(len(want) == len(got) == 2, f"{name}: {len(got)} values")
    for i, (a, b) in enumerate(zip(want, got)):
        check(a.shape == b.shape and a.dtype == b.dtype and
              np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), f"{name}: value {i} differs")


def check_first(plans, name):
    kind, what, axis, k, largest = FIRST[name]
    inputs, sides = plans.save({"x": draw(kind, what)}), []
    for lines in (pair(f"topk.default(x, {k}, {axis}, {largest})"),
                  [f"r = {ATEN}sort.stable(x, stable=True, dim={axis}, descending={largest})",
                   "s = r[0]", f"v = {ATEN}slice.Tensor(s, {axis}, 0, {k})",
                   "t = r[1]", f"i = {ATEN}slice.Tensor(t, {axis}, 0, {k})"]):
        sides.append(plans.values(plans.write({"x": kind}, lines, "v, i"), inputs))
    for i, (a, b) in enumerate(zip(*sides, strict=True)):
        check(a.shape == b.shape and a.dtype == b.dtype and
              np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), f"{name}: value {i} differs")


def check_any(plans, name):
    (check_first if name in FIRST else check_case)(plans, name)


sys.exit(run_cases([*CASES, *FIRST], check_any))
