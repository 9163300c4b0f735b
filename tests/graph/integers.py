#!/usr/bin/env python3
"""Products of 8-bit integers of ONNX, exact, against NumPy: weights and zero points of the file or
given in each run, with a sign and without, rows, sums and columns of all sizes.

    integers.py [--devices interp,cpu] [NAME...]
"""
import argparse, itertools, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import onnx_text  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
U8, I8 = np.uint8, np.int8
# Sums of words, of bytes that fill none, and columns of a panel, of several, and fewer.
SIZES = [((7, 64), 130), ((1, 70), 64), ((13, 256), 200), ((6, 5), 9), ((2, 3, 36), 65)]
ZEROS = ["none", "middle", "one", "rows", "columns"]


def bytes_of(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def zero_of(rng, kind, x, axis):
    """A zero point, and how it broadcasts to x; `middle` is that of no correction."""
    if kind == "none":
        return None, 0
    if kind == "middle":
        return np.array(128 if x.dtype == U8 else 0, x.dtype), 128 if x.dtype == U8 else 0
    if kind == "one":
        zero = bytes_of(rng, x.dtype)
        return zero, int(zero)
    zero = bytes_of(rng, x.dtype, x.shape[axis])
    return zero, zero.astype(np.int64)[:, None] if axis == 0 else zero.astype(np.int64)


def plain(x):
    return onnx_text.type_of(onnx_text.CODES[x.dtype.str.lstrip("<|")], x.shape)


def run(name, nodes, given, fixed, outputs, want, devices, folder, more=()):
    """`given` are inputs, whose first axis is open, `fixed` are of the file."""
    types = {n: onnx_text.type_of(onnx_text.CODES[x.dtype.str.lstrip("<|")],
                                  ["b", *x.shape[1:]] if n == "a" else x.shape)
             for n, x in given.items()}
    weights = [onnx_text.tensor(n, x.dtype.str.lstrip("<|"), x.shape, x.tobytes())
               for n, x in fixed.items()]
    (folder / "model.onnx").write_bytes(
        onnx_text.model(nodes, types, outputs, initializers=weights, opset=21))
    files = []
    for n, x in given.items():
        np.save(folder / f"{n}.npy", x)
        files.append(folder / f"{n}.npy")
    for device in devices:
        done = subprocess.run([NEREID, "graph", folder / "model.onnx", *files, "--device", device,
                               "--out-dir", folder / "out", *more], capture_output=True, text=True)
        good = done.returncode == 0 and np.array_equal(np.load(folder / "out/output_0.npy"), want)
        check(good, f"{name} on {device}: {done.stderr[-300:]}")


def products(devices, folder):
    rng = np.random.default_rng(17)
    kinds = list(itertools.product((U8, I8), (U8, I8), ZEROS[:4], ZEROS[:3] + ZEROS[4:]))[::3]
    for i, (left, right, az, bz) in enumerate(kinds):
        shape, n = SIZES[i % len(SIZES)]
        if len(shape) > 2 and az == "rows":
            az = "one"
        a, b = bytes_of(rng, left, *shape), bytes_of(rng, right, shape[-1], n)
        zeros = [zero_of(rng, az, a, 0), zero_of(rng, bz, b, 1)]
        want = ((a.astype(np.int64) - zeros[0][1]) @ (b.astype(np.int64) - zeros[1][1]))
        given, fixed = {"a": a}, {}
        (fixed if i % 3 else given)["b"] = b
        for name, at, where in ("p", 0, given), ("q", 1, fixed if i % 2 else given):
            if zeros[at][0] is not None:
                where[name] = zeros[at][0]
        names = ["a", "b"] + [x if x in given or x in fixed else "-" for x in "pq"]
        run(f"{left.__name__} {az} {shape} by {right.__name__} {bz} {n}, {i}",
            [onnx_text.node("MatMulInteger", names, "y")], given, fixed, "y",
            want.astype(np.int32), devices, folder)


def extremes(devices, folder):
    """Sums that i32 just holds, of the least bytes, and those that wrap."""
    for k in 1024, 132104:
        a, b = np.full((2, k), -128, I8), np.full((k, 64), -128, I8)
        want = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
        run(f"{k} of the least bytes", [onnx_text.node("MatMulInteger", "a b", "y")], {"a": a},
            {"b": b}, "y", want, devices[-1:], folder)


GROUPS = {"products": products, "extremes": extremes}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, group in GROUPS.items():
            if not args.names or any(part in name for part in args.names):
                group(args.devices.split(","), pathlib.Path(folder))
    return report()


if __name__ == "__main__":
    sys.exit(main())
