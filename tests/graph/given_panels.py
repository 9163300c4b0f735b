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
# Rows, columns and the sum; before these matrices of a batch.
BYTES = [(64, 128, 64), (17, 100, 72), (1, 64, 256), (33, 200, 260), (70, 65, 36), (6, 64, 63)]
HALVES = [(64, 128, 64), (33, 100, 72), (40, 200, 130), (3, 35, 70, 66), (2, 64, 64, 32)]
DEEP = [("f32", (520, 64, 1024)), ("f64", (520, 40, 1024)), ("bf16", (64, 64, 2048)),
        ("i8", (18, 64, 4096)), ("f16", (40, 72, 1024)), ("i8", (37, 66, 4100)),
        ("f32", (67, 600, 520))]
BATCHES = [("f32", (4, 64, 64, 64)), ("f32", (3, 37, 100, 70)), ("f64", (5, 33, 17, 48)),
           ("f64", (1, 64, 64, 64)), ("f16", (2, 40, 48, 50)), ("f16", (33, 24, 40))]
# A program copies its columns, or reads them where they are; the left operand's rows may be apart.
NEAR = [("f32", (200, 100, 130)), ("f32", (2, 90, 16, 197)), ("f64", (100, 33, 60)),
        ("bf16", (300, 100, 130)), ("bf16", (2, 90, 24, 198)), ("bf16", (5, 17, 80, 48)),
        ("i8", (300, 100, 132)), ("i8", (129, 24, 1024)), ("bf16", (3, 70, 64, 197)),
        ("bf16", (90, 35, 99)), ("i8", (40, 48, 131)), ("i8", (200, 33, 66))]
# The right operand is no tensor in memory, but computed by each program.
COMPUTED = [("c64", (2, 40, 64, 33)), ("c64", (300, 32, 20)), ("c128", (3, 50, 16, 24)),
            ("c64", (20, 24, 64)), ("c128", (17, 48, 100)), ("f16", (2, 70, 100, 66))]
TOLERANCE = {"i8": 0, "bf16": 1e-2, "f16": 1e-3, "f32": 2e-5, "f64": 1e-13,
             "c64": 2e-5, "c128": 1e-13}
GIVEN = {"bf16": "f32", "f16": "f32"}  # dtypes of arrays that are files
DTYPES = {"bf16": "torch.bfloat16", "f16": "torch.float16"}


def text(size, dtype, columns, part):
    """`columns`: the right operand's are next to each other; `part`: both begin within a row."""
    *batch, m, n, k = size
    given, more, axis = GIVEN.get(dtype, dtype), 8 if part else 0, len(batch) + 1
    shapes = [[*batch, m, k + more], [*batch, *((n, k + more) if columns else (k, n + more))]]
    at, sources, lines = more // 2, ["x", "y"], []
    if dtype in DTYPES:  # in memory, from which the slices are taken
        for v in "xy":
            lines += [f"{v}g = torch.ops.aten.to.dtype({v}, {DTYPES[dtype]})",
                      f"{v}h = torch.ops.aten.clone.default({v}g)"]
        sources = ["xh", "yh"]
    for to, v, length in (("a", sources[0], k), ("b", sources[1], k if columns else n)):
        lines.append(f"{to} = torch.ops.aten.slice.Tensor({v}, {axis}, {at}, {at + length})")
    if columns:
        lines.append(f"t = torch.ops.aten.transpose.int(b, {axis - 1}, {axis})")
    op = "_int_mm" if dtype == "i8" else "bmm" if batch else "mm"
    lines.append(f"p = torch.ops.aten.{op}.default(a, {'t' if columns else 'b'})")
    if dtype in DTYPES:
        lines.append("p = torch.ops.aten.to.dtype(p, torch.float32)")
    lines += ["out = torch.ops.aten.neg.default(p)", "return (out,)"]
    lines = [line.replace("p = torch.ops.aten.to", "q = torch.ops.aten.to") for line in lines]
    if dtype in DTYPES:
        lines[-2] = "out = torch.ops.aten.neg.default(q)"
    body = "".join(f"    {line}\n" for line in lines)
    x, y = (f'"{given}[{", ".join(map(str, shape))}]"' for shape in shapes)
    return f"def forward(self, x: {x}, y: {y}):\n{body}", shapes, at


def rounded(x):
    bits = x.view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).view(np.float32)


def run(dtype, size, columns, part, devices, folder):
    *_, m, n, k = size
    name = f"{dtype} {size}{' columns' if columns else ''}{' part' if part else ''}"
    rng = np.random.default_rng(m * n + k)
    source, shapes, at = text(size, dtype, columns, part)
    if dtype == "i8":
        x, y = (rng.integers(-128, 128, s).astype(np.int8) for s in shapes)
    elif dtype[0] == "c":
        x, y = (rng.normal(0, 1, s) + 1j * rng.normal(0, 1, s) for s in shapes)
        x, y = (v.astype("c8" if dtype == "c64" else "c16") for v in (x, y))
    else:
        x, y = (rng.normal(0, 1, s).astype("f8" if dtype == "f64" else "f4") for s in shapes)
    for file, a in (("x", x), ("y", y)):
        np.save(folder / f"{file}.npy", a)
    (folder / "m.py").write_text(source)
    if dtype == "bf16":
        x, y = rounded(x), rounded(y)
    if dtype == "f16":
        x, y = x.astype(np.float16), y.astype(np.float16)
    wide = np.int64 if dtype == "i8" else np.complex128 if dtype[0] == "c" else np.float64
    right = y[..., at:at + k].swapaxes(-1, -2) if columns else y[..., at:at + n]
    want = -(x[..., at:at + k].astype(wide) @ right.astype(wide))
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


def copies_words(folder):
    """Pairs that memory has next to each other go to panels as words, also where columns are
    fewer than a panel's."""
    (folder / "m.py").write_text("""def forward(self, x: "bf16[9000, 72]", y: "bf16[100, 72]"):
    t = torch.ops.aten.t.default(y)
    p = torch.ops.aten.mm.default(x, t)
    return (p,)
""")
    done = subprocess.run([NEREID, "graph", folder / "m.py", "--device", "cpu", "--emit", "plan"],
                          capture_output=True, text=True)
    whole = "xindex < 100), other=0" in done.stdout and "<< 16" not in done.stdout
    check(whole, done.stdout + done.stderr)


def cases():
    for columns in (False, True):
        for part in (False, True):
            yield from (("i8", size, columns, part) for size in BYTES)
            yield from (("bf16", size, columns, part) for size in HALVES)
        yield from ((dtype, size, columns, False) for dtype, size in DEEP + BATCHES)
        yield from ((dtype, size, columns, True) for dtype, size in NEAR)
        yield from ((dtype, size, columns, False) for dtype, size in COMPUTED)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,nest,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copies_words(pathlib.Path(folder))
        for case in cases():
            if any(n in case[0] for n in args.names or [case[0]]):
                run(*case, args.devices.split(","), pathlib.Path(folder))
    return report()


sys.exit(main())
