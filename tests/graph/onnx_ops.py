#!/usr/bin/env python3
"""Operators of ONNX that its test data (onnx_data.py) does not have, or not in this form, against
NumPy.

    onnx_ops.py [--devices interp,cpu] [NAME...]    only operators whose name contains a NAME
    onnx_ops.py --record      writes onnx_ops/*.txt, where onnxruntime is installed

A case of tests/graph/onnx_ops/*.py is an operator, the opset, its inputs, its attributes, and the
outputs that it should give, or a function of the inputs that gives them.  Several cases of an opset
run as one model; where that fails to run, each of them runs alone.
"""
import argparse, collections, inspect, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import onnx_join, onnx_text  # noqa: E402
from ops import compare, quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
sys.path.insert(0, str(ROOT / "tests/graph/onnx_ops"))
import contrib, control, decoding, detectors, edges, elements, float8, ml, narrow  # noqa: E402
import recurrent, runtime_values, states, transformers, windows  # noqa: E402

MODULES = [contrib, control, decoding, detectors, edges, elements, float8, ml, narrow, recurrent,
           states, transformers, windows]
RECORDED = [contrib, decoding, edges, ml]
GROUP = 12  # cases of a model


def type_of(array):
    """The type of an input; a case's array may say which dtype of ONNX its bytes are."""
    code = getattr(array, "onnx_dtype", None)
    return onnx_text.type_of(
        code or onnx_text.CODES[array.dtype.str.lstrip("<|").replace("b1", "?")], array.shape)


def model(name, opset, inputs, attributes, count):
    """The operator alone: NAME, DOMAIN NAME, or DOMAIN:VERSION NAME; what is None is left out."""
    *domain, name = name.split()
    names = ["-" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(count)]
    node = onnx_text.node(name, names, outputs, domain="".join(domain).split(":")[0],
                          **attributes)
    types = {n: type_of(x) for n, x in zip(names, inputs) if x is not None}
    return onnx_text.model([node], types, outputs, opset=opset, imports=domain)


def wanted_of(case):
    """The outputs that a case expects."""
    _, _, inputs, _, expected = case
    if inspect.isfunction(expected):
        expected = expected(*[x for x in inputs if x is not None])
    return expected if isinstance(expected, tuple) else (expected,)


def run(cases, device, folder):
    wanted = [wanted_of(case) for case in cases]
    models = [model(*case[:4], len(want)) for case, want in zip(cases, wanted)]
    arrays = [x for case in cases for x in case[2] if x is not None]
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (folder / "m.onnx").write_bytes(onnx_join.joined(models) if len(cases) > 1 else models[0])
    files = [folder / f"x{i}.npy" for i in range(len(arrays))]
    for file, x in zip(files, arrays):
        np.save(file, x)
    done = subprocess.run([NEREID, "graph", folder / "m.onnx", *files, "--device", device,
                           "--out-dir", folder], capture_output=True, text=True)
    if done.returncode and len(cases) > 1:
        for case in cases:
            run([case], device, folder)
        return
    number = 0
    for (name, opset, _, attributes, _), wants in zip(cases, wanted):
        for want in wants:
            text = f"{name}-{opset} {attributes} ({device})"
            if done.returncode:
                check(False, f"{text} {done.stderr.strip()}")
            else:
                compare(text, np.load(folder / f"output_{number}.npy"), want)
            number += 1


def groups_of(cases):
    """Those of one opset and domain follow each other, several a model."""
    by_kind = collections.defaultdict(list)
    for case in cases:
        by_kind[case[1], *case[0].split()[:-1]].append(case)
    for some in by_kind.values():
        yield from (some[i:i + GROUP] for i in range(0, len(some), GROUP))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.record:
        for module in RECORDED:
            runtime_values.write(module, model)
        return 0
    for module in RECORDED:
        module.CASES += runtime_values.read(module)
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        quick_compiler(folder)
        cases = [c for m in MODULES for c in m.CASES
                 if not args.names or any(n in c[0] for n in args.names)]
        for group in groups_of(cases):
            for device in args.devices.split(","):
                run(group, device, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
