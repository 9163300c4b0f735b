#!/usr/bin/env python3
"""Passes keep what a graph computes: each graph of passes/rewrite is run as it is, which rewrites
it, and each of passes/horizontal_fusion as it is expected after that pass, and computed by NumPy
from its text, op by op.

    rewrites.py [--devices interp,cpu] [NAME...]      only graphs whose name has a NAME
"""
import argparse, math, os, pathlib, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
DTYPES = {"f32": np.float32, "f16": np.float16, "b8": np.bool_}


def softmax(x, dim, *_):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def permute(x, dims):
    return np.transpose(x, dims)


OPS = {
    "add": lambda x, y, alpha=1: x + alpha * y, "sub": np.subtract, "mul": np.multiply,
    "div": np.divide, "pow": np.power, "neg": np.negative, "exp": np.exp, "tanh": np.tanh,
    "erf": np.vectorize(math.erf), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": np.reciprocal,
    "mean": lambda x, d, k: x.mean(tuple(d), keepdims=k),
    "sum": lambda x, d, k: x.sum(tuple(d), keepdims=k),
    "max": lambda x, d, k: (x.max(d, keepdims=k), None),
    "amax": lambda x, d, k: x.max(tuple(d), keepdims=k),
    "matmul": np.matmul, "bmm": np.matmul, "transpose": np.swapaxes, "permute": permute,
    "softmax": softmax, "_softmax": softmax, "to": lambda x, dtype: x,
    "linear": lambda x, w, b=0: x @ w.T + b,
    "where": np.where, "masked_fill": lambda x, m, v: np.where(m, v, x),
}


class Op:
    """torch.ops.aten.NAME.OVERLOAD"""

    def __init__(self, f):
        self.f = f

    def __getattr__(self, overload):
        return self.f


class Torch:
    float32, float16 = "float32", "float16"

    def __getattr__(self, name):
        return Op(OPS[name]) if name in OPS else self


def inputs(text):
    rng = np.random.default_rng(1)
    for name, dtype, shape in re.findall(r'(\w+): "(\w+)\[([\d, ]*)\]"', text):
        size = [int(n) for n in shape.split(",")]
        x = rng.random(size) < 0.4 if dtype == "b8" else rng.normal(0, 1, size)
        if dtype == "b8":
            x[..., 0] = name != "unseen"  # each row sees something
        yield name, x.astype(DTYPES[dtype])


def expected(text, values):
    """In f64."""
    env = {"torch": Torch(), "inf": math.inf}
    exec(text, env)
    wide = [x if x.dtype == bool else x.astype(np.float64) for x in values]
    return env["forward"](None, *wide)


def problem(path, devices):
    text = path.read_text()
    values = dict(inputs(re.search("def .*", text)[0]))
    runs = path if path.parent.name == "rewrite" else path.with_suffix(".expected")
    want = expected(text, values.values())
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, x in values.items():
            files.append(pathlib.Path(folder, f"{name}.npy"))
            np.save(files[-1], x)
        for device in devices:
            command = [NEREID, "graph", runs, *files, "--device", device, "--out-dir", folder]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            if done.returncode:
                return f"{device}: {done.stderr}"
            for i, y in enumerate(want):
                got = np.load(pathlib.Path(folder, f"output_{i}.npy"))
                tolerance = 3e-3 if got.dtype == np.float16 else 2e-6
                error = np.linalg.norm(got.astype(np.float64) - y) / np.linalg.norm(y)
                if not error < tolerance:
                    return f"{device}: output {i} has an error of {error:.3g} of the norm"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    passed = failed = 0
    graphs = ROOT / "tests/graph/passes"
    rewritten, merged = graphs.glob("rewrite/*.py"), list(graphs.glob("horizontal_fusion/*.py"))
    assert merged, "the goldens of pass horizontal_fusion are elsewhere"
    for path in sorted([*rewritten, *merged]):
        if args.names and not any(n in path.stem for n in args.names):
            continue
        text = problem(path, args.devices.split(","))
        passed += not text
        failed += bool(text)
        if text:
            print(f"FAIL {path.name}: {text}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
