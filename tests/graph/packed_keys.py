#!/usr/bin/env python3
"""Attention of few rows whose keys and values have a byte an element: the kernel computes them
where it reads them, and no memory has them.  Values against NumPy, of the CPU's plan and the GPU's.

    packed_keys.py [NAME...]
"""
import pathlib
import re
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import check, run_cases  # noqa: E402

ATEN = "torch.ops.aten"


class Case:
    """`form`: how a key is made of bytes x, a scale s of its row and a zero point z."""

    def __init__(self, form="x * s", keys=300, width=32, columns=None, heads=(4, 2), rows=1,
                 mask=False, kept=False):
        self.form, self.keys, self.width, self.columns = form, keys, width, columns or width
        (self.heads, self.shared), self.rows, self.mask, self.kept = heads, rows, mask, kept
        rng = np.random.default_rng(5)
        self.inputs = {"q": rng.normal(size=(2, self.heads, rows, width)).astype(np.float16)}
        for name, n in (("k", width), ("v", self.columns)):
            size = (2, self.shared, keys, n)
            one = (*size[:3], 1)
            self.inputs |= {f"{name}x": rng.integers(-127, 128, size).astype(np.int8),
                            f"{name}s": rng.uniform(0.005, 0.02, one).astype(np.float16),
                            f"{name}z": rng.integers(-3, 4, one).astype(np.int8)}
        self.inputs["length"] = np.array(keys * 2 // 3)

    def params(self):
        kinds = {"float16": "f16", "int8": "i8", "int64": "i64"}
        return {name: f"{kinds[x.dtype.name]}[{', '.join(map(str, x.shape))}]"
                for name, x in self.inputs.items()}

    def lines(self):
        lines = []
        for name in "kv":
            lines.append(f"{name}0 = {ATEN}.to.dtype({name}x, torch.float16)")
            lines.append(f"{name}zero = {ATEN}.to.dtype({name}z, torch.float16)")
            call = {"x * s": f"{ATEN}.mul.Tensor({name}0, {name}s)",
                    "x / s": f"{ATEN}.div.Tensor({name}0, {name}s)",
                    "(x - z) * s": f"{ATEN}.mul.Tensor({name}1, {name}s)",
                    "x": f"{ATEN}.clone.default({name}0)"}
            if self.form == "(x - z) * s":
                lines.append(f"{name}1 = {ATEN}.sub.Tensor({name}0, {name}zero)")
            lines.append(f"{name} = {call[self.form]}")
        mask = "None"
        if self.mask:
            lines += [f"at = {ATEN}.arange.default({self.keys})",
                      f"seen = {ATEN}.lt.Tensor(at, length)",
                      f"m = {ATEN}.view.default(seen, [1, 1, 1, {self.keys}])"]
            mask = "m"
        lines.append(f"y = {ATEN}.scaled_dot_product_attention.default(q, k, v, {mask}, 0.0, "
                     "False, scale = 0.05, enable_gqa = True)")
        return lines

    def wanted(self):
        made = []
        for name in "kv":
            x, s, z = (self.inputs[name + part].astype(np.float64) for part in "xsz")
            made.append({"x * s": x * s, "x / s": x / s, "(x - z) * s": (x - z) * s,
                         "x": x}[self.form])
        k, v = (np.repeat(x, self.heads // self.shared, 1) for x in made)
        scores = self.inputs["q"].astype(np.float64) @ k.swapaxes(2, 3) * 0.05
        if self.mask:
            scores[..., int(self.inputs["length"]):] = -np.inf
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        return [shares / shares.sum(-1, keepdims=True) @ v, *made[:self.kept]]


CASES = {
    "scales": Case(),
    "whole blocks": Case(keys=512, width=64),
    "zero points": Case("(x - z) * s", keys=333),
    "scales that divide": Case("x / s", keys=77, width=16),
    "no scale": Case("x", keys=130),
    "odd widths": Case(keys=100, width=20, columns=40),
    "a mask": Case(mask=True, keys=700),
    "each head its own keys": Case(heads=(2, 2), keys=200),
    "five rows": Case(rows=5, keys=260, heads=(2, 2)),
    "many keys": Case(keys=5000, width=64, heads=(2, 1)),
    "keys that are a result, too": Case(keys=200, kept=True),
    "many rows": Case(rows=90, keys=200),
}


def check_case(plans, name):
    case = CASES[name]
    unpacks = not case.kept and case.rows <= 16
    values = "y, k" if case.kept else "y"
    model = plans.write(case.params(), case.lines(), values)
    inputs, plan = plans.save(case.inputs), plans.plan(model)
    held = re.findall(r'temporary %[kv]\w* "f16', plan.read_text())
    check(bool(held) != unpacks or case.kept, f"{name}: memory of keys or values: {held}")
    for of, source in (("CPU", model), ("GPU", plan)):
        found = plans.values(source, inputs)
        for i, (got, want) in enumerate(zip(found, case.wanted(), strict=True)):
            off = np.abs(got - want).max() / np.abs(want).max()
            check(got.shape == want.shape and off < 4e-3, f"{name} by the {of}'s plan: {i}: {off}")


if __name__ == "__main__":
    sys.exit(run_cases(CASES, check_case))
