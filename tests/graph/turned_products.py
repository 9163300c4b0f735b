#!/usr/bin/env python3
"""Linear layers whose weight each run is given, by the CPU's plan, which computes them as their
transposes where the left operand is the smaller one, against NumPy: rows, columns and sums of all
sizes, dtypes, and what is added.

    turned_products.py [--devices interp,nest,cpu] [NAME...]      only cases whose name has a NAME
"""
import argparse, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
# Rows, columns and the sum; is the product turned?  A sum of 1,031 has no steps that are worth it.
SIZES = [((64, 96, 256), True), ((17, 100, 40), True), ((67, 200, 330), True),
         ((16, 65, 1500), True), ((33, 64, 34), True), ((15, 64, 64), False),
         ((64, 63, 64), False), ((512, 256, 64), False), ((48, 96, 1031), False)]
TOLERANCE = {"f32": 2e-5, "f64": 1e-13, "bf16": 2e-2}
PANELS_OF_WORDS = 64  # so many rows of bf16 fill a panel on the widest CPU; fewer on others


def text(m, n, k, dtype):
    given = "f64" if dtype == "f64" else "f32"
    lines, x, w, p = [], "x", "w", "p"
    if dtype == "bf16":
        lines = [f"{a}c = torch.ops.aten.clone.default({a}b)" for a in "xw"]
        lines = [f"{a}b = torch.ops.aten.to.dtype({a}, torch.bfloat16)" for a in "xw"] + lines
        x, w, p = "xc", "wc", "q"
    lines += [f"t = torch.ops.aten.t.default({w})", f"p = torch.ops.aten.mm.default({x}, t)",
              "q = torch.ops.aten.to.dtype(p, torch.float32)" if p == "q" else "",
              f"r = torch.ops.aten.add.Tensor({p}, b)", "s = torch.ops.aten.relu.default(r)",
              "out = torch.ops.aten.mul.Tensor(s, y)", "return (out,)"]
    body = "".join(f"    {line}\n" for line in lines if line)
    return (f'def forward(self, x: "{given}[{m}, {k}]", w: "{given}[{n}, {k}]", '
            f'b: "{given}[{n}]", y: "{given}[{m}, {n}]"):\n{body}')


def rounded(x):
    bits = x.view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).view(np.float32)


def run(name, size, turned, dtype, devices, folder):
    m, n, k = size
    rng = np.random.default_rng(m * n + k)
    kind = np.float64 if dtype == "f64" else np.float32
    arrays = [rng.normal(0, 1, s).astype(kind) for s in ((m, k), (n, k), (n,), (m, n))]
    files = [folder / f"{i}.npy" for i in range(len(arrays))]
    for file, a in zip(files, arrays):
        np.save(file, a)
    (folder / "m.py").write_text(text(m, n, k, dtype))
    x, w, b, y = arrays
    if dtype == "bf16":
        x, w = rounded(x), rounded(w)
        turned = turned and (m >= PANELS_OF_WORDS or None)
    want = np.maximum(x.astype(np.float64) @ w.astype(np.float64).T + b, 0) * y
    command = [NEREID, "graph", folder / "m.py", *files]
    plan = subprocess.run([*command[:3], "--device", "cpu", "--emit", "kernels"],
                          capture_output=True, text=True).stdout
    if turned is not None:
        check(("The transpose of a product" in plan) == turned, f"{name}: turned is not {turned}")
    for device in devices:
        done = subprocess.run([*command, "--device", device, "--out-dir", folder / "out"],
                              capture_output=True, text=True)
        if done.returncode:
            check(False, f"{name} on {device}: {done.stderr}")
            continue
        got = np.load(folder / "out/output_0.npy")
        error = np.abs(got - want).max() / np.abs(want).max()
        check(error < TOLERANCE[dtype], f"{name} on {device}: {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,nest,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for dtype in TOLERANCE:
            for size, turned in SIZES:
                name = f"{dtype} {size}"
                if any(n in name for n in args.names or [name]):
                    run(name, size, turned, dtype, args.devices.split(","), pathlib.Path(folder))
    return report()


sys.exit(main())
