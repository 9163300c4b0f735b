#!/usr/bin/env python3
"""Operators of ONNX that its test data (onnx_data.py) does not have, or not in this form, against
NumPy.

    onnx_ops.py [--devices interp,cpu] [NAME...]    only operators whose name contains a NAME

A case of tests/graph/onnx_ops/*.py is an operator, the opset, its inputs, its attributes, and the
outputs that it should give, or a function of the inputs that gives them.
"""
import argparse, inspect, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import onnx_text  # noqa: E402
from ops import compare, quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
sys.path.insert(0, str(ROOT / "tests/graph/onnx_ops"))
import control, detectors, elements, float8, narrow, recurrent  # noqa: E402
import states, transformers, windows  # noqa: E402

MODULES = [control, detectors, elements, float8, narrow, recurrent, states, transformers,
           windows]


def type_of(array):
    return onnx_text.type_of(onnx_text.CODES[array.dtype.str.lstrip("<|").replace("b1", "?")],
                             array.shape)


def model(name, opset, inputs, attributes, count):
    """The operator alone, "DOMAIN NAME" or NAME; what is None is left out."""
    *domain, name = name.split()
    names = ["-" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(count)]
    node = onnx_text.node(name, names, outputs, domain="".join(domain), **attributes)
    types = {n: type_of(x) for n, x in zip(names, inputs) if x is not None}
    return onnx_text.model([node], types, outputs, opset=opset, imports=domain)


def wanted_of(case):
    """The outputs that a case expects."""
    _, _, inputs, _, expected = case
    if inspect.isfunction(expected):
        expected = expected(*[x for x in inputs if x is not None])
    return expected if isinstance(expected, tuple) else (expected,)


def run(case, device, folder):
    name, opset, inputs, attributes, _ = case
    wanted = wanted_of(case)
    text = f"{name}-{opset} {attributes} ({device})"
    pathlib.Path(folder, "m.onnx").write_bytes(model(name, opset, inputs, attributes, len(wanted)))
    files = [f"{folder}/x{i}.npy" for i, x in enumerate(inputs) if x is not None]
    for file, x in zip(files, [x for x in inputs if x is not None]):
        np.save(file, x)
    done = subprocess.run([NEREID, "graph", f"{folder}/m.onnx", *files, "--device", device,
                           "--out-dir", folder], capture_output=True, text=True)
    for i, want in enumerate(wanted):
        if done.returncode:
            check(False, f"{text} {done.stderr.strip()}")
        else:
            compare(text, np.load(f"{folder}/output_{i}.npy"), want)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        quick_compiler(folder)
        for case in [c for m in MODULES for c in m.CASES]:
            if args.names and not any(n in case[0] for n in args.names):
                continue
            for device in args.devices.split(","):
                run(case, device, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
