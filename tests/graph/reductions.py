#!/usr/bin/env python3
"""Reductions as a GPU makes them, in parts, also of sizes that are open or have no good divisors,
and masks whose elements are counted in parts: the GPU's plans, run on the CPU, against the CPU's
own.

    reductions.py [NAME...]
"""
import pathlib, sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import run_cases  # noqa: E402
from tally import check  # noqa: E402

ATEN = "torch.ops.aten."
VARIANCE = [f"m = {ATEN}mean.dim(x, [0], True)", f"d = {ATEN}sub.Tensor(x, m)",
            f"q = {ATEN}mul.Tensor(d, d)", f"y = {ATEN}sum.dim_IntList(q, [0])"]
CHOSEN = [f"m = {ATEN}gt.Scalar(x, 0)", f"c = {ATEN}index.Tensor(x, [m])"]


def reduce_by(name, axes):
    return [f"y = {ATEN}{name}(x, {axes})"]


# name: x's type, its sizes in runs, lines, kernels.
CASES = {
    "open": ("f32[s0]", [(1,), (4095,), (4096,), (70001,)], reduce_by("sum.dim_IntList", [0]), 2),
    "pointwise": ("f32[s0, s1]", [(1, 1), (300, 231)],
                  [f"e = {ATEN}exp.default(x)", f"y = {ATEN}amin.default(e, [0, 1])"], 2),
    "largest": ("f32[s0, 9]", [(1, 9), (8001, 9)],
                [f"e = {ATEN}neg.default(x)", f"y = {ATEN}amax.default(e, [0, 1])"], 2),
    "columns": ("f32[s0, 96]", [(1, 96), (127, 96), (2100, 96)],
                reduce_by("sum.dim_IntList", [0]), 2),
    "tokens": ("f32[s0, 512, 96]", [(1, 512, 96), (5, 512, 96)],
               reduce_by("sum.dim_IntList", [0, 1]), 2),
    "samples": ("f32[s0, 64, 1024]", [(1, 64, 1024), (3, 64, 1024)],
                reduce_by("sum.dim_IntList", [1, 2]), 2),
    "scores": ("f32[s0, 16, s0]", [(3, 16, 3), (70, 16, 70)], reduce_by("amax.default", [2]), 1),
    "variance": ("f32[s0, 96]", [(1, 96), (2100, 96)], VARIANCE, 5),
    "integers": ("i32[s0]", [(1,), (70001,)], reduce_by("amax.default", [0]), 2),
    "prime": ("f32[1000003]", [(1000003,)], reduce_by("sum.dim_IntList", [0]), 2),
    "primes": ("f32[997, 1009]", [(997, 1009)], reduce_by("sum.dim_IntList", [0, 1]), 2),
    "rows": ("f32[8191, 96]", [(8191, 96)], reduce_by("amax.default", [0]), 2),
    # extreme and index in one number: one reading of long rows; ties, NaN, zeros of both signs
    "index of the largest": ("f32[3, 70001]", [(3, 70001)], [
        f"r = {ATEN}round.default(x)", f"y = {ATEN}argmax.default(r, 1)"], 2),
    "index of the least": ("f32[70001, 3]", [(70001, 3)], [
        f"r = {ATEN}round.default(x)", f"y = {ATEN}argmin.default(r, 0, True)"], 2),
    "index of NaN": ("f32[70001]", [(70001,)], [
        f"r = {ATEN}sub.Tensor(x, 2)", f"s = {ATEN}sqrt.default(r)",
        f"y = {ATEN}argmin.default(s, 0)"], 2),
    "index of NaN above": ("f32[70001]", [(70001,)], [
        f"r = {ATEN}sub.Tensor(2, x)", f"s = {ATEN}sqrt.default(r)",
        f"y = {ATEN}argmax.default(s, 0)"], 2),
    "index of zeros": ("f32[70001]", [(70001,)], [
        f"r = {ATEN}relu.default(x)", f"s = {ATEN}neg.default(r)",
        f"t = {ATEN}mul.Tensor(s, x)", f"y = {ATEN}argmax.default(t, 0)"], 2),
    "index of integers": ("i32[70001]", [(70001,)], [f"y = {ATEN}argmin.default(x, 0)"], 2),
    "index of bytes": ("i32[70001]", [(70001,)], [
        f"b = {ATEN}to.dtype(x, torch.uint8)", f"y = {ATEN}argmax.default(b, 0)"], 2),
    "largest and index": ("f32[2, 70001]", [(2, 70001)], [
        f"m = {ATEN}max.dim(x, 1)", "v = m[0]", "i = m[1]", f"y = {ATEN}add.Tensor(v, i)"], 3),
    # a kernel for totals and scans of parts, one for the totals' scan, one for their sum
    "scan of columns": ("f32[5003, 32]", [(5003, 32)],
                        [f"c = {ATEN}cumsum.default(x, 0)", f"y = {ATEN}neg.default(c)"], 3),
    "scan of middle": ("f32[2, 4096, 16]", [(2, 4096, 16)],
                       [f"y = {ATEN}cumsum.default(x, 1)"], 3),
    "scan of a row": ("f32[262144]", [(262144,)], [f"y = {ATEN}cumsum.default(x, 0)"], 3),
    "scan of integers": ("i32[100003]", [(100003,)], [f"y = {ATEN}cumsum.default(x, 0)"], 3),
    "scan of products": ("f32[4096, 40]", [(4096, 40)], [
        f"e = {ATEN}mul.Tensor(x, 0.001)", f"f = {ATEN}add.Tensor(e, 1)",
        f"y = {ATEN}cumprod.default(f, 0)"], 3),
    "scan of an open axis": ("f32[s0, 32]", [(1, 32), (64, 32), (70001, 32)],
                             [f"y = {ATEN}cumsum.default(x, 0)"], 1),
    # rows by an index each, which is sorted by one kernel; sums of rows of one index
    "gathered": ("f32[4000, 40]", [(4000, 40)], [
        f"k = {ATEN}select.int(x, 1, 0)", f"o = {ATEN}argsort.default(k)",
        f"c = {ATEN}index.Tensor(x, [o])", f"y = {ATEN}relu.default(c)"], 2),
    "added": ("f32[300, 40]", [(300, 40)], [
        f"k = {ATEN}select.int(x, 1, 0)", f"o = {ATEN}argsort.default(k)",
        f"t = {ATEN}floor_divide.Scalar(o, 3)", f"z = {ATEN}full.default([100, 40], 0.5)",
        f"a = {ATEN}index_add.default(z, 0, t, x)", f"y = {ATEN}relu.default(a)"], 4),
    "added to rows": ("f32[300, 40]", [(300, 40)], [
        f"k = {ATEN}select.int(x, 1, 0)", f"o = {ATEN}argsort.default(k)",
        f"t = {ATEN}floor_divide.Scalar(o, 3)", f"z = {ATEN}full.default([100, 40], 0.5)",
        f"i = {ATEN}view.default(t, [300, 1])", f"e = {ATEN}expand.default(i, [-1, 40])",
        f"y = {ATEN}scatter_add.default(z, 0, e, x)"], 4),
    # a cast before the sum is part of it
    "added wider": ("f16[300, 40]", [(300, 40)], [
        f"k = {ATEN}select.int(x, 1, 0)", f"o = {ATEN}argsort.default(k)",
        f"t = {ATEN}floor_divide.Scalar(o, 3)", f"z = {ATEN}full.default([100, 40], 0.5)",
        f"w = {ATEN}to.dtype(x, torch.float32)",
        f"a = {ATEN}index_add.default(z, 0, t, w)", f"y = {ATEN}relu.default(a)"], 4),
    # numbers of the elements; values; a sum of them
    "chosen": ("f32[1000]", [(1000,)], [*CHOSEN, f"y = {ATEN}mul.Tensor(c, 2)"], 2),
    "chosen_long": ("f32[s0]", [(1,), (1024,), (70001,)],
                    [*CHOSEN, f"y = {ATEN}mul.Tensor(c, 2)"], 4),
    "chosen_twice": ("f32[70001]", [(70001,)],
                     [*CHOSEN, f"n = {ATEN}lt.Scalar(c, 1)", f"y = {ATEN}index.Tensor(c, [n])"], 8),
    "chosen_whole": ("f32[100000]", [(100000,)], [*CHOSEN, f"y = {ATEN}mul.Tensor(c, 2)"], 4),
    "chosen_sum": ("f32[200000]", [(200000,)],
                   [*CHOSEN, f"y = {ATEN}sum.dim_IntList(c, [0])"], 6),
}


def draw(kind, size):
    x = np.random.default_rng(sum(size)).normal(size=size)
    if kind.startswith("i32"):
        return (x * 1000).astype(np.int32)
    return x.astype(np.float16 if kind.startswith("f16") else np.float32)


def check_case(plans, name):
    kind, sizes, lines, kernels = CASES[name]
    model = plans.write({"x": kind}, lines, "y,")
    plan = plans.plan(model)
    steps = plan.read_text().count("\nstep ")
    check(steps == kernels, f"{name}: {steps} kernels, not {kernels}")
    for size in sizes:
        plans.compare(f"{name} of {size}", model, plan, plans.save({"x": draw(kind, size)}), 1,
                      1e-4, 1e-2)


if __name__ == "__main__":
    sys.exit(run_cases(CASES, check_case))
