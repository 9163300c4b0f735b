#!/usr/bin/env python3
"""Products whose right operand each run is given, by the CPU's plan, which copies it into panels,
against NumPy: its rows or its columns next to each other in memory, rows, columns and sums of all
sizes, also deep ones, whose panels are larger than a GPU's shared memory, and what is given as a
part of a larger array.  Sums of bytes are exact.

    given_panels.py [--devices interp,nest,cpu] [NAME...]      only cases whose name has a NAME
"""
import argparse, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
# Rows, columns and the sum.
BYTES = [(64, 128, 64), (17, 100, 72), (1, 64, 256), (33, 200, 260), (70, 65, 36), (6, 64, 63)]
HALVES = [(64, 128, 64), (33, 100, 72), (40, 200, 130)]
DEEP = [("f32", (520, 64, 1024)), ("f64", (520, 40, 1024)), ("bf16", (64, 64, 2048)),
        ("i8", (18, 64, 4096))]
TOLERANCE = {"i8": 0, "bf16": 1e-2, "f32": 2e-5, "f64": 1e-13}
TORCH = {"i8": "_int_mm", "bf16": "mm", "f32": "mm", "f64": "mm"}


def text(m, n, k, dtype, columns, part):
    """`columns`: the right operand's are next to each other; `part`: both begin within a row."""
    given = {"bf16": "f32"}.get(dtype, dtype)
    more = 8 if part else 0
    right = f"{n}, {k + more}" if columns else f"{k}, {n + more}"
    lines = [f"a = torch.ops.aten.slice.Tensor(x, 1, {more // 2}, {more // 2 + k})",
             f"b = torch.ops.aten.slice.Tensor(y, 1, {more // 2}, "
             f"{more // 2 + (k if columns else n)})"]
    if dtype == "bf16":  # in memory, from which the slices are taken
        lines = [f"{v}h = torch.ops.aten.clone.default({v}g)" for v in "xy"] + \
                [line.replace("(x,", "(xh,").replace("(y,", "(yh,") for line in lines]
        lines = [f"{v}g = torch.ops.aten.to.dtype({v}, torch.bfloat16)" for v in "xy"] + lines
    b = "b"
    if columns:
        lines.append("t = torch.ops.aten.t.default(b)")
        b = "t"
    lines.append(f"p = torch.ops.aten.{TORCH[dtype]}.default(a, {b})")
    lines.append("out = torch.ops.aten.to.dtype(p, torch.float32)" if dtype == "bf16"
                 else "out = torch.ops.aten.neg.default(p)")
    lines.append("return (out,)")
    body = "".join(f"    {line}\n" for line in lines)
    return (f'def forward(self, x: "{given}[{m}, {k + more}]", y: "{given}[{right}]"):\n{body}',
            ((m, k + more), tuple(int(i) for i in right.split(", "))), more // 2)


def rounded(x):
    bits = x.view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).view(np.float32)


def run(dtype, size, columns, part, devices, folder):
    m, n, k = size
    name = f"{dtype} {size}{' columns' if columns else ''}{' part' if part else ''}"
    rng = np.random.default_rng(m * n + k)
    source, shapes, at = text(m, n, k, dtype, columns, part)
    if dtype == "i8":
        x, y = (rng.integers(-128, 128, s).astype(np.int8) for s in shapes)
    else:
        x, y = (rng.normal(0, 1, s).astype("f8" if dtype == "f64" else "f4") for s in shapes)
    for file, a in (("x", x), ("y", y)):
        np.save(folder / f"{file}.npy", a)
    (folder / "m.py").write_text(source)
    if dtype == "bf16":
        x, y = rounded(x), rounded(y)
    wide = np.int64 if dtype == "i8" else np.float64
    right = y[:, at:at + k].T if columns else y[:, at:at + n]
    want = x[:, at:at + k].astype(wide) @ right.astype(wide)
    want = want if dtype == "bf16" else -want
    command = [NEREID, "graph", folder / "m.py", folder / "x.npy", folder / "y.npy"]
    for device in devices:
        done = subprocess.run([*command, "--device", device, "--out-dir", folder / "out"],
                              capture_output=True, text=True)
        if done.returncode:
            check(False, f"{name} on {device}: {done.stderr}")
            continue
        got = np.load(folder / "out/output_0.npy")
        error = np.abs(got - want).max() / np.abs(want).max()
        check(got.shape == want.shape and error <= TOLERANCE[dtype], f"{name} on {device}: {error}")


def cases():
    for columns in (False, True):
        for part in (False, True):
            yield from (("i8", size, columns, part) for size in BYTES)
            yield from (("bf16", size, columns, part) for size in HALVES)
        yield from ((dtype, size, columns, False) for dtype, size in DEEP)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,nest,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases():
            if any(n in case[0] for n in args.names or [case[0]]):
                run(*case, args.devices.split(","), pathlib.Path(folder))
    return report()


sys.exit(main())
