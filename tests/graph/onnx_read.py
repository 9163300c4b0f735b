#!/usr/bin/env python3
"""Models of ONNX's, made from text, are read as they should be.

onnx_read/NAME.model is an expression that makes a model (tests/support/onnx_text.py), or a tuple of
that, its inputs' arrays and options of the command; beside it is what `nereid graph NAME.onnx
INPUTS OPTIONS --emit graph` then prints, NAME.graph, or its error, NAME.err.
--update writes these files.
"""
import os, pathlib, subprocess, sys, tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import onnx_text  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))


def run(case, folder):
    """The suffix of the file that has the result, and the result."""
    model = eval(case.read_text(), {**vars(onnx_text), "array": numpy.array})
    model, *given = model if isinstance(model, tuple) else (model,)
    inputs = [data for data in given if not isinstance(data, str)]
    options = [text for text in given if isinstance(text, str)]
    (folder / "model.onnx").write_bytes(model)
    files = [f"input_{i}.npy" for i in range(len(inputs))]
    for file, data in zip(files, inputs):
        numpy.save(folder / file, data)
    done = subprocess.run([NEREID, "graph", "model.onnx", *files, *options, "--emit", "graph"],
                          text=True, capture_output=True, cwd=folder, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        return ".err", f"status {done.returncode}\n{done.stderr}"
    return (".err", done.stderr) if done.returncode else (".graph", done.stdout)


def main():
    update = sys.argv[1:] == ["--update"]
    passed = failed = 0
    for case in sorted((ROOT / "tests/graph/onnx_read").glob("*.model")):
        with tempfile.TemporaryDirectory() as folder:
            suffix, text = run(case, pathlib.Path(folder))
        expected = case.with_suffix(suffix)
        if update:
            for other in (".err", ".graph"):
                case.with_suffix(other).unlink(missing_ok=True)
            expected.write_text(text)
        ok = expected.exists() and expected.read_text() == text
        passed, failed = passed + ok, failed + (not ok)
        if not ok:
            print(f"FAIL {case.name}: {suffix} is now\n{text}")
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


sys.exit(main())
