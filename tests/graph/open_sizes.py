#!/usr/bin/env python3
"""Sizes that a model of ONNX's leaves open, where a run has 0, 1 or equal ones, against NumPy.

    open_sizes.py [--devices interp,cpu] [NAME...]

A case is a model and runs of it: inputs, and the outputs that are due, or None where the operator
takes no such sizes.  A project of `nereid build` gives the same, or says which sizes it was not
made for: never another value.
"""
import argparse, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import onnx_text as o  # noqa: E402
from ops import compare, quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))


def x(*shape):
    return np.arange(np.prod(shape, dtype=int), dtype="f4").reshape(shape) + 1


def one(op, inputs="x", opset=17, initializers=(), more=(), **attributes):
    """A model with one output of an operator, after the nodes `more`."""
    nodes = [*more, o.node(op, inputs, "z", **attributes)]
    types = {"x": o.f32("n", 4), "y": o.f32("m", 4)}
    names = [n for n in "xy" if any(n.encode() in node for node in nodes)]
    return o.model(nodes, {n: types[n] for n in names}, "z", initializers, opset)


SHAPE = o.node("Shape", "y", "s")
IS_ONE = [o.node("Shape", "x", "s"), o.node("Gather", "s zero", "d"),
          o.node("Equal", "d one", "q")]
NUMBERS = [o.tensor("zero", "i8", [], bytes(8)), o.tensor("one", "i8", [], b"\1" + bytes(7)),
           o.ints("axis", 0)]
BRANCHES = {"then_branch": o.graph([o.node("Squeeze", "x axis", "a")], outputs="a"),
            "else_branch": o.graph([o.node("Identity", "x", "b")], outputs="b")}

# name, model, runs: inputs, the output or None; "sizes": a plan for open sizes cannot hold it
CASES = [
    ("squeeze_axes", one("Squeeze", "x axis", initializers=NUMBERS[2:]),
     [((x(1, 4),), x(4)), ((x(3, 4),), None), ((x(0, 4),), None)]),
    ("squeeze", one("Squeeze"),
     [((x(3, 4),), x(3, 4)), ((x(1, 4),), x(4)), ((x(0, 4),), x(0, 4))]),
    ("expand", one("Expand", "x s", more=[SHAPE]),
     [((x(3, 4), x(3, 4)), x(3, 4)), ((x(1, 4), x(3, 4)), x(1, 4).repeat(3, 0)),
      ((x(3, 4), x(1, 4)), x(3, 4)), ((x(1, 4), x(0, 4)), x(0, 4)),
      ((x(2, 4), x(3, 4)), None)]),
    ("add", one("Add", "x y"),
     [((x(3, 4), x(3, 4)), 2 * x(3, 4)), ((x(1, 4), x(3, 4)), x(1, 4) + x(3, 4)),
      ((x(2, 4), x(3, 4)), None)]),
    ("branch", one("If", "q", more=IS_ONE, initializers=NUMBERS, **BRANCHES),
     [((x(1, 4),), x(4)), ((x(3, 4),), x(3, 4)), ((x(0, 4),), x(0, 4))]),
    ("reshape", one("Reshape", "x to", initializers=[o.ints("to", -1, 3)]),
     [((x(3, 4),), x(4, 3)), ((x(1, 4),), None), ((x(0, 4),), x(0, 3))]),
    ("reshape_of_0", one("Reshape", "x s", more=[SHAPE]),
     [((x(2, 4), x(2, 4)), x(2, 4)), ((x(2, 4), x(0, 4)), x(2, 4))]),
]


def nereid(folder, inputs, *command):
    files = [f"{folder}/x{i}.npy" for i in range(len(inputs))]
    for file, data in zip(files, inputs):
        np.save(file, data)
    return subprocess.run([*command, *files, "--out-dir", folder], capture_output=True, text=True)


def run(name, inputs, wanted, folder, may_refuse, *command):
    output = pathlib.Path(folder, "output_0.npy")
    output.unlink(missing_ok=True)
    done = nereid(folder, inputs, *command)
    text = f"{name} {[i.shape for i in inputs]}"
    refused = done.returncode in (1, 2) and "error" in done.stderr
    if wanted is None or (may_refuse and refused):
        check(refused, f"{text} status {done.returncode} {done.stderr}")
    elif done.returncode:
        check(False, f"{text} {done.stderr.strip()}")
    else:
        got = np.load(output)
        check(got.shape == wanted.shape, f"{text} shape {got.shape}, not {wanted.shape}")
        compare(text, got, wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder)
        for name, model, runs in CASES:
            if args.names and name not in args.names:
                continue
            path = pathlib.Path(folder, "m.onnx")
            path.write_bytes(model)
            for inputs, wanted in runs:
                for device in args.devices.split(","):
                    run(f"{name} ({device})", inputs, wanted, folder, True, NEREID, "graph", path,
                        "--device", device)
    return report()


if __name__ == "__main__":
    sys.exit(main())
