#!/usr/bin/env python3
"""Attention to whose scores a table of rows and keys is added: on a GPU keys are in the order in
which a thread's scores are neighbors in the table, and programs of all batches that share a table
run together.  The GPU's plan, run on the CPU, against NumPy.

    tabled_scores.py [NAME...]
"""
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import check, run_cases  # noqa: E402

ATEN = "torch.ops.aten"
HEADS, COLUMNS, SCALE = 2, 64, 0.125


class Case:
    """ordered: keys are; table: its dtype; masked: a table of truth values, too; causal: rows see
    no later keys; distances: the table is one of distances; together: batches are, which have
    tables of their own if `apart`."""

    def __init__(self, ordered, rows=128, keys=256, table="bfloat16", masked=False, causal=False,
                 distances=False, by_mask=False, batches=1, apart=False, together=False):
        self.ordered, self.rows, self.keys, self.table = ordered, rows, keys, table
        self.causal, self.distances, self.by_mask = causal, distances, by_mask
        self.together = together
        rng = np.random.default_rng(9)
        sizes = {"q": rows, "k": keys, "v": keys}
        x = {n: rng.normal(size=(batches, HEADS, t, COLUMNS)) for n, t in sizes.items()}
        size = (batches,) * apart + (HEADS, rows, keys)
        x["t"] = rng.normal(size=(rows + keys,) if distances else size) * 3
        # Numbers that all types have.
        self.inputs = {n: (a * 8).round().astype(np.float32) / 8 for n, a in x.items()}
        self.seen = rng.normal(size=(rows, keys)) > -1 if masked else None
        if masked:
            self.inputs["seen"] = self.seen

    def params(self):
        kinds = {"float32": "f32", "bool": "b8"}
        return {name: f"{kinds[x.dtype.name]}[{', '.join(map(str, x.shape))}]"
                for name, x in self.inputs.items()}

    def lines(self):
        cast = f"{ATEN}._to_copy.default"
        lines = [f"{n}b = {cast}({n}, dtype = torch.bfloat16)" for n in "qkv"]
        lines += [f"tb = {cast}(t, dtype = torch.{self.table})"]
        seen = "seen" if self.seen is not None else "None"
        if self.by_mask:
            return lines + [
                f"tm = {cast}(tb, dtype = torch.bfloat16)",
                f"o = {ATEN}.scaled_dot_product_attention.default(qb, kb, vb, tm, 0.0, False, "
                f"scale = {SCALE})", f"out = {cast}(o, dtype = torch.float32)"]
        added = ["y = " + f"{ATEN}.add.Tensor(x, tb)"]
        rows = [f"m = {ATEN}.arange.start_step(0, {self.rows}, 1, dtype = torch.int32)",
                f"m1 = {ATEN}.unsqueeze.default(m, 1)",
                f"n = {ATEN}.arange.start_step(0, {self.keys}, 1, dtype = torch.int32)"]
        if self.distances:
            added = rows + [f"far = {ATEN}.sub.Tensor(n, m1)",
                            f"at = {ATEN}.add.Tensor(far, {self.rows})",
                            f"d = {ATEN}.index.Tensor(tb, [at])", f"y = {ATEN}.add.Tensor(x, d)"]
        if self.causal:
            added += rows + [f"seen = {ATEN}.le.Tensor(n, m1)"]
            seen = "seen"
        return lines + [
            f"x = torch.ops.nereid.attention_scores.default(qb, kb, scale = {SCALE})", *added,
            f"r = torch.ops.nereid.flex_attention.default(qb, kb, vb, y, {seen}, None, None, None, "
            f"None, 0, 0, scale = {SCALE})",
            "o = r[0]", f"out = {cast}(o, dtype = torch.float32)"]

    def want(self):
        q, k, v, t = (self.inputs[n].astype(np.float64) for n in "qkvt")
        m, n = np.arange(self.rows)[:, None], np.arange(self.keys)
        x = q @ k.swapaxes(2, 3) * SCALE + (t[n - m + self.rows] if self.distances else t)
        if self.seen is not None:
            x = np.where(self.seen, x, -np.inf)
        if self.causal:
            x = np.where(n <= m, x, -np.inf)
        p = np.exp(x - x.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) @ v


CASES = {
    "bf16": Case(True),
    "f32": Case(True, table="float32"),
    "a mask of numbers": Case(True, by_mask=True),
    "masked": Case(True, masked=True),
    "causal": Case(True, causal=True),
    "blocks that do not divide the keys": Case(False, keys=250),
    "a few rows": Case(False, rows=16),
    "distances": Case(False, distances=True),
    "three batches": Case(True, batches=3, together=True),
    "three batches of a mask": Case(True, batches=3, together=True, by_mask=True),
    "three batches, causal": Case(True, batches=3, together=True, causal=True),
    "keys in no order, two batches": Case(False, keys=250, batches=2, together=True),
    "tables of each batch": Case(True, batches=3, apart=True),
    "distances of batches": Case(False, batches=2, distances=True),
}


def check_case(plans, name):
    case = CASES[name]
    model = plans.write(case.params(), case.lines(), "out")
    inputs, plan = plans.save(case.inputs), plans.plan(model)
    check(("order = tl.arange" in plan.read_text()) == case.ordered, f"{name}: the order of keys")
    check(("place = tl.program_id(0) //" in plan.read_text()) == case.together,
          f"{name}: programs of batches")
    (got,), want = plans.values(plan, inputs), case.want()
    off = np.linalg.norm(got - want) / np.linalg.norm(want)
    check(got.shape == want.shape and off < 6e-3, f"{name}: off by {off}")


if __name__ == "__main__":
    sys.exit(run_cases(CASES, check_case))
