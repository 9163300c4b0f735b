#!/usr/bin/env python3
"""Gradients of queries, keys and values that are joined to the rows of a matrix, which kernels
write.  Values of the GPU's plan, run on the CPU, against those of the CPU's in mode eager and not.

    attention_slices.py [NAME...]
"""
import pathlib
import re
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import check, run_cases  # noqa: E402

OPERATOR = "torch.ops.nereid.scaled_dot_product_attention_backward.default"
B, T, H, D = 2, 70, 3, 16
C = H * D


def aten(call):
    return f"torch.ops.aten.{call}"


def stacked(order="[1, 3, 0, 2, 4]"):
    """As a model with one linear layer for all three joins them: by batches, then turned."""
    return [f"c = {aten('cat.default([b0, b1, b2])')}",
            f"v = {aten(f'view.default(c, [3, {B}, {H}, {T}, {D}])')}",
            f"p = {aten(f'permute.default(v, {order})')}",
            f"n = {aten('clone.default(p, memory_format=torch.contiguous_format)')}",
            f"m = {aten(f'view.default(n, [{B * T}, {3 * C}])')}"]


def scattered():
    """As a model that reads queries, keys and values by their numbers joins them: each is a part of
    a tensor of zeros."""
    shape, lines = f"[3, {B}, {H}, {T}, {D}]", []
    lines.append(f"f = {aten(f'full.default({shape}, 0, dtype=torch.float16)')}")
    for i in (2, 0, 1):
        lines.append(f"t{i} = {aten(f'select_scatter.default(f, b{i}, 0, {i})')}")
    return lines + [f"u = {aten('add.Tensor(t2, t0)')}", f"c = {aten('add.Tensor(u, t1)')}",
                    f"p = {aten('permute.default(c, [1, 3, 0, 2, 4])')}",
                    f"n = {aten('clone.default(p, memory_format=torch.contiguous_format)')}",
                    f"m = {aten(f'view.default(n, [{B * T}, {3 * C}])')}"]


def columns():
    """As a model that splits columns joins them: each turned, then by columns."""
    lines = []
    for i in range(3):
        lines += [f"p{i} = {aten(f'permute.default(b{i}, [0, 2, 1, 3])')}",
                  f"r{i} = {aten(f'clone.default(p{i}, memory_format=torch.contiguous_format)')}",
                  f"v{i} = {aten(f'view.default(r{i}, [{B}, {T}, {C}])')}"]
    return lines + [f"c = {aten('cat.default([v0, v1, v2], 2)')}",
                    f"m = {aten(f'view.default(c, [{B * T}, {3 * C}])')}"]


def both():
    """A gradient that something else reads, too, stays a tensor of its own."""
    return stacked() + [f"more = {aten('sin.default(b1)')}"]


def parts():
    """Heads in two parts, whose gradients are joined and stored with the heads of a row beside each
    other, as those of long rows are."""
    lines = []
    for i, (first, end) in enumerate(((0, 2), (2, H))):
        lines += [f"{n}{i} = {aten(f'slice.Tensor({n}, 1, {first}, {end})')}" for n in "gqkwol"]
        given = f"g{i}, q{i}, k{i}, w{i}, None, o{i}, l{i}, None, 0.0"
        lines += [f"a{i} = {OPERATOR}({given}, [True, True, True, False], False)",
                  *(f"a{i}_{k} = a{i}[{k}]" for k in range(3))]
    for k, name in enumerate(("m", "s", "dx")):
        lines += [f"c{k} = {aten(f'cat.default([a0_{k}, a1_{k}], 1)')}",
                  f"{name} = {aten(f'permute.default(c{k}, [0, 2, 1, 3])')}"]
    return lines


class Case:
    def __init__(self, lines, causal=False, slices=True, more=(), writers=2, copied=False):
        self.more, self.writers = more, writers * slices
        self.copied = copied or not slices
        self.lines = [
            f"x5 = {aten(f'view.default(x, [{B}, {T}, 3, {H}, {D}])')}",
            f"xp = {aten('permute.default(x5, [2, 0, 3, 1, 4])')}",
            *(f"{n} = {aten(f'select.int(xp, 0, {i})')}" for i, n in enumerate(("q", "k", "w")))]
        if writers > 2:
            self.lines += lines
        else:
            self.lines += [
                f"b = {OPERATOR}(g, q, k, w, None, o, l, None, 0.0, [True, True, True, False], "
                f"{causal})",
                *(f"b{i} = b[{i}]" for i in range(3)), *lines,
                f"s = {aten('sum.dim_IntList(m, [0])')}",
                f"dx = {aten('mm.default(m, z)')}"]
        rng = np.random.default_rng(1)
        shapes = {"x": (B, T, 3 * C), "g": (B, H, T, D), "o": (B, H, T, D), "z": (3 * C, 8)}
        self.inputs = {n: rng.normal(size=s).astype(np.float16) for n, s in shapes.items()}
        self.inputs["l"] = np.full((B, H, T), 6, np.float32)


CASES = {
    "stacked": Case(stacked()),
    "scattered": Case(scattered()),
    "causal": Case(stacked(), causal=True),
    "columns": Case(columns()),
    "another-order": Case(stacked("[3, 1, 0, 2, 4]"), copied=True),
    "parts": Case(parts(), writers=4),
    "read-twice": Case(both(), slices=False, more=("more",)),
}


def writers_of(text):
    """Steps of a plan, and those of them that compute gradients and write slices."""
    steps = re.findall(r"^step k\d+_(\w+)(.*)", text, re.M)
    return ([name for name, _ in steps],
            [name for name, rest in steps if "attention_grad" in name and "insert_slice" in rest])


def check_case(plans, name):
    case = CASES[name]
    kinds = {"float16": "f16", "float32": "f32"}
    params = {n: f"{kinds[str(x.dtype)]}[{', '.join(map(str, x.shape))}]"
              for n, x in case.inputs.items()}
    model = plans.write(params, case.lines, ", ".join(("m", "s", "dx", *case.more)))
    plan = plans.plan(model)
    steps, writers = writers_of(plan.read_text())
    copy = r"dense|cat|^insert_slice" + "|clone" * (case.writers > 2)
    copies = [s for s in steps if re.search(copy, s)]
    check(len(writers) == case.writers, f"{name}: {steps}")
    check(case.copied or not copies, f"{name}: copies {copies}")
    files = plans.save(case.inputs)
    plans.compare(name, model, plan, files, 3 + len(case.more), 2e-2, 2e-2)
    eager = plans.folder / "eager.txt"
    text = plans.graph(model, "--device", "cpu", "--mode", "eager", "--emit", "plan", "-o", eager)
    check(not writers_of(eager.read_text())[1], f"{name}: {text}")
    plans.compare(f"{name}, eager", eager, plan, files, 3 + len(case.more), 2e-2, 2e-2)
    own = writers_of(plans.graph(model, "--device", "cpu", "--emit", "plan"))[1]
    # A kernel makes all gradients: it adds up those of queries in memory, and they are copied then.
    check(len(own) == case.writers // 2, f"{name}: on a CPU {own}")


if __name__ == "__main__":
    sys.exit(run_cases(CASES, check_case))
