#!/usr/bin/env python3
"""Attention whose scores a cap bounds, c * tanh(x / c): on a GPU shares of bf16 are relative to a
number, not to a maximum, and the query is smaller by a power of two, so that warps compute tangents
of small numbers by a polynomial.  The GPU's plan, run on the CPU, against NumPy.

    capped_scores.py [NAME...]
"""
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import check, run_cases  # noqa: E402

ATEN = "torch.ops.aten"


class Case:
    """bounded: no maximum is needed; large: scores are multiplied by that, so that the cap is
    reached; dtype: of the GPU's operands; hidden: a mask, which hides a row from all keys."""

    def __init__(self, bounded, cap=30.0, large=1.0, rows=70, keys=130, dtype="bfloat16",
                 hidden=False, scale=0.25, same=None):
        self.bounded, self.cap, self.hidden, self.scale = bounded, cap, hidden, scale
        self.dtype, self.keys = dtype, keys
        rng = np.random.default_rng(7)
        of = {"q": rows, "k": keys, "v": keys}
        x = {n: rng.normal(size=(2, 2, t, 32)) for n, t in of.items()}
        x["q"] *= large
        if same is not None:  # all keys have one score
            x["q"][...], x["k"][...] = same, large
        # Numbers that all types have.
        self.inputs = {n: (a * 8).round().astype(np.float32) / 8 for n, a in x.items()}
        self.seen = rng.normal(size=(rows, keys)) > 0
        self.seen[rows // 2] = False
        if hidden:
            self.inputs["seen"] = self.seen

    def params(self):
        kinds = {"float32": "f32", "bool": "b8"}
        return {name: f"{kinds[x.dtype.name]}[{', '.join(map(str, x.shape))}]"
                for name, x in self.inputs.items()}

    def lines(self):
        narrow = [f"{n}b = {ATEN}._to_copy.default({n}, dtype = torch.{self.dtype})"
                  for n in "qkv"]
        seen = "seen" if self.hidden else "None"
        return narrow + [
            f"x = torch.ops.nereid.attention_scores.default(qb, kb, scale = {self.scale})",
            f"part = {ATEN}.div.Tensor(x, {self.cap})", f"u = {ATEN}.tanh.default(part)",
            f"y = {ATEN}.mul.Tensor(u, {self.cap})",
            f"r = torch.ops.nereid.flex_attention.default(qb, kb, vb, y, {seen}, None, None, None, "
            f"None, 0, 0, scale = {self.scale})",
            "o = r[0]", "sums = r[1]", f"out = {ATEN}._to_copy.default(o, dtype = torch.float32)"]

    def want(self):
        q, k, v = (self.inputs[n].astype(np.float64) for n in "qkv")
        x = self.cap * np.tanh(q @ k.swapaxes(2, 3) * self.scale / self.cap)
        if self.hidden:
            x = np.where(self.seen, x, -np.inf)
        most = x.max(-1, keepdims=True)
        p = np.exp(x - np.where(most > -np.inf, most, 0))
        total = p.sum(-1, keepdims=True)
        with np.errstate(divide="ignore"):
            sums = np.where(total, most + np.log(total), -np.inf)[..., 0] / np.log(2)
        return p / np.where(total, total, 1) @ v, sums


CASES = {
    "a cap": Case(True),
    "scores at the cap": Case(True, large=40.0),
    "a cap of 50": Case(True, cap=50.0, large=60.0),
    "all at the upper end": Case(True, cap=50.0, large=60.0, same=8.0),
    "all at the lower end": Case(True, cap=50.0, large=60.0, same=-8.0),
    "a small cap": Case(True, cap=1.5),
    "a cap of more than exponents hold": Case(False, cap=80.0, large=60.0),
    "f16, whose exponents are short": Case(False, dtype="float16"),
    "f32, whose tangents are exact": Case(False, dtype="float32"),
    "a mask that hides a row": Case(True, hidden=True),
    "a large scale": Case(True, scale=40.0),
    "few rows of many keys": Case(True, rows=1, keys=3000),
}


def check_case(plans, name):
    case = CASES[name]
    model = plans.write(case.params(), case.lines(), "out, sums")
    inputs, plan = plans.save(case.inputs), plans.plan(model)
    text = plan.read_text()
    check(("highest = tl.max(scores, 1)" in text) != case.bounded, f"{name}: a maximum")
    (got, sums), (want, want_sums) = plans.values(plan, inputs), case.want()
    off = np.linalg.norm(got - want) / np.linalg.norm(want)
    check(got.shape == want.shape and off < 6e-3, f"{name}: off by {off}")
    check(np.allclose(sums, want_sums, 1e-3, 1e-3), f"{name}: sums {sums}, not {want_sums}")


if __name__ == "__main__":
    sys.exit(run_cases(CASES, check_case))
