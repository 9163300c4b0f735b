#!/usr/bin/env python3
"""Gradients of attention in one pass, as Hopper computes those of narrow heads: the kernel of keys
adds the query's gradient to memory, in the order of its fragments.  The GPU's plan run on the CPU,
and a program of its kernel as compiled for sm_90a under `--device nest`, against NumPy.

    added_gradients.py [NAME...]
"""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import NEREID, check, run_cases  # noqa: E402

TOLERANCE, KEYS = 4e-3, 128  # of a program


class Case:
    def __init__(self, adds, rows=2048, heads=2, shared=1, columns=64, causal=False,
                 dtype="float16", nest=False):
        self.adds, self.rows, self.heads, self.shared = adds, rows, heads, shared
        self.columns, self.causal, self.dtype, self.nest = columns, causal, dtype, nest
        rng = np.random.default_rng(rows + columns)
        own = {"q": heads, "g": heads, "k": heads // shared, "v": heads // shared}
        x = {n: rng.normal(size=(1, h, rows, columns)).astype(np.float16) for n, h in own.items()}
        wide = {n: np.repeat(a.astype(float), heads // a.shape[1], 1) for n, a in x.items()}
        self.scale = columns**-0.5
        s = wide["q"] @ wide["k"].swapaxes(2, 3) * self.scale
        if causal:
            s = np.where(np.tri(rows, dtype=bool), s, -np.inf)
        most = s.max(3, keepdims=True)
        e = np.exp(s - most)
        p = e / e.sum(3, keepdims=True)
        x["o"] = (p @ wide["v"]).astype(np.float16)
        x["l"] = (most + np.log(e.sum(3, keepdims=True)))[..., 0].astype(np.float32)
        dp = wide["g"] @ wide["v"].swapaxes(2, 3)
        self.delta = (p * dp).sum(3)
        self.ds = p * (dp - self.delta[..., None])
        self.wide, self.inputs = wide, {n: a.astype(np.float32) for n, a in x.items()}
        of_key = lambda a: a.reshape(1, -1, shared, rows, columns).sum(2)  # noqa: E731
        self.want = [self.ds @ wide["k"] * self.scale,
                     of_key(self.ds.swapaxes(2, 3) @ wide["q"]) * self.scale,
                     of_key(p.swapaxes(2, 3) @ wide["g"])]

    def params(self):
        return {n: f"f32[{', '.join(map(str, a.shape))}]" for n, a in self.inputs.items()}

    def lines(self):
        cast = "torch.ops.aten._to_copy.default"
        names = [n for n in self.inputs if n != "l"]
        lines = [f"{n}h = {cast}({n}, dtype = torch.{self.dtype})" for n in names]
        lines += ["seed = torch.ops.aten.full.default([], 0, dtype = torch.int64)",
                  "b = torch.ops.aten._scaled_dot_product_flash_attention_backward.default(gh, qh, "
                  f"kh, vh, oh, l, None, None, {self.rows}, {self.rows}, 0.0, {self.causal}, seed, "
                  "seed)"]
        for i in range(3):
            lines += [f"b{i} = b[{i}]", f"r{i} = {cast}(b{i}, dtype = torch.float32)"]
        return lines


def in_order(added):
    """What a kernel has added to memory, [rows, columns]."""
    rows, columns = added.shape
    x = added.reshape(rows // 16, columns // 8, 8, 4, 2, 2)
    return x.transpose(0, 4, 2, 1, 3, 5).reshape(rows, columns)


def off(got, want):
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def run_first_program(plans, name, case, text):
    """Program 0, which has the first keys of head 0."""
    source = plans.folder / "kernels.py"
    source.write_text(text.split("\nsource\n", 1)[1])
    step = re.search(r"step (\w*grad_added\w*)\((.*)\) grid .* warps (\d+) stages (\d+)", text)
    of = dict(re.findall(r"(\w+) = (?:steady )?%(\w+)", step[2]))
    half = {n: a.astype(np.float16) for n, a in case.inputs.items() if n != "l"}
    known = {f"{n}h": a for n, a in half.items()} | {"l": case.inputs["l"]}
    command = [NEREID, "run", f"{source}:{step[1]}", "--device", "nest", "--target", "sm_90a",
               "--grid", "1", "--num-warps", step[3], "--num-stages", step[4]]
    outs = {}
    for parameter, value in of.items():
        path = plans.folder / f"{parameter}.npy"
        if parameter.startswith("in") and not parameter.startswith("inout"):
            array = known.get(value, case.delta.astype(np.float32))
            np.save(path, array)
            command.append(f"{parameter}=@{path}")
            continue
        added = parameter.startswith("inout")
        shape = f"[1,{case.heads},{case.rows},{case.columns}]"
        command += [f"{parameter}={'zeros:f32' if added else 'empty:f16'}{shape}",
                    "--out", f"{parameter}={path}"]
        outs["added" if added else parameter] = path
    command += [f"-D{c}={n}" for c, n in re.findall(r"(\w+): (\d+)", step[2])]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    check(not done.returncode, f"{name}: {done.stderr}")
    if done.returncode:
        return
    got = in_order(np.load(outs["added"])[0, 0])
    want = case.ds[0, 0][:, :KEYS] @ case.wide["k"][0, 0][:KEYS]
    check(off(got, want) < TOLERANCE, f"{name}: the query's is off by {off(got, want)}")



CASES = {
    "whole rows": Case(True, nest=True),
    "shared heads": Case(True, heads=2, shared=2, nest=True),
    "causal": Case(True, causal=True, nest=True),
    "tiles that do not divide the rows": Case(False, rows=2080),
    "few rows": Case(False, rows=256),
    "wide heads": Case(False, rows=256, columns=128),
    "f32": Case(False, rows=256, dtype="float32"),
}


def check_case(plans, name):
    case = CASES[name]
    model = plans.write(case.params(), case.lines(), "r0, r1, r2")
    inputs, plan = plans.save(case.inputs), plans.plan(model)
    text = plan.read_text()
    check(("atomic_add" in text) == case.adds, f"{name}: one pass")
    for i, (got, want) in enumerate(zip(plans.values(plan, inputs), case.want)):
        check(got.shape == want.shape and off(got, want) < TOLERANCE,
              f"{name}: gradient {i} is off by {off(got, want)}")
    if case.nest:
        run_first_program(plans, name, case, text)


if __name__ == "__main__":
    sys.exit(run_cases(CASES, check_case))
