#!/usr/bin/env python3
"""`nereid tune` with the decorators that public files have (tune_decorators/): all configurations
that they give run, and agree, and the best one is right.

    tune_decorators.py [--device cpu|cuda]
"""
import argparse, json, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
FILE = ROOT / "tests/runtime/tune_decorators/kernels.py"
N, ROWS = 1000, 7
rng = np.random.default_rng(1)


def floats(*shape, dtype=np.float32):
    return rng.integers(-8, 9, shape).astype(dtype)


x, columns, halves = floats(N), floats(ROWS, N), floats(N, dtype=np.float16)
y, ints = floats(N), rng.integers(0, 16, N).astype(np.int32)
nothing = np.full(N, np.nan, np.float32)
VALUES = "BLOCK=64", "BLOCK=128", "BLOCK=256"
# kernel: its arrays, numbers and grid; the array that it writes; what it becomes; configurations
CASES = {
    "split": ({"x": columns, "y": nothing}, {"n": N, "rows": ROWS}, "cdiv(n, BLOCK),SPLIT", "y",
              columns.sum(0), [f"BLOCK={b} SPLIT={s}" for b in (32, 64) for s in (1, 2, 4)]),
    "decay": ({"x": x, "y": y}, {"n": N}, "cdiv(n, BLOCK)", "y", y * 8 + x, VALUES),
    "census": ({"x": ints, "count": np.zeros(16, np.int32)}, {"n": N}, "cdiv(n, BLOCK)", "count",
               np.bincount(ints, minlength=16), VALUES),
    "row": ({"x": columns, "y": nothing[:ROWS]}, {"n": N}, str(ROWS), "y", columns.sum(1), [""]),
    "pruned": ({"x": halves, "y": halves * 0}, {"n": N}, "cdiv(n, BLOCK)", "y", halves / 2,
               ["BLOCK=256", "BLOCK=512"]),
    "neighbours": ({"x": x, "y": nothing}, {"n": N}, "cdiv(n, BLOCK)", "y",
                   np.convolve(x, np.ones(3), "same"), VALUES),
}


def run(tmp, *args):
    env = dict(os.environ, NEREID_CACHE_DIR=str(tmp / "cache"))
    return subprocess.run([NEREID, *map(str, args)], text=True, capture_output=True, env=env)


def constexprs(config):
    return " ".join(f"{k}={v}" for k, v in config.items() if not k.startswith("num_"))


def test(tmp, device, name, arrays, numbers, grid, out, expected, configs):
    args = [f"{FILE}:{name}", "--grid", grid, "--device", device]
    for arg, value in arrays.items():
        np.save(tmp / f"{name}.{arg}.npy", value)
        args.append(f"{arg}=@{tmp}/{name}.{arg}.npy")
    args += [f"{arg}={value}" for arg, value in numbers.items()]
    r = run(tmp, "tune", *args, "--json", "-")
    check(r.returncode == 0 and not r.stderr, f"{name}: status {r.returncode}: {r.stderr}")
    if r.returncode:
        return
    tuning = json.loads(r.stdout)
    got = {constexprs(c["config"]) for c in tuning["candidates"]}
    check(got == set(configs), f"{name}: configurations {got}")
    warps = {c["config"].get("num_warps") for c in tuning["candidates"]}
    check(warps == ({None} if device == "cpu" else {2, 4}), f"{name}: num_warps {warps}")
    bad = [c for c in tuning["candidates"] if c["status"] != "ok"]
    check(not bad, f"{name}: {bad}")
    # What was found is what `run` takes.
    r = run(tmp, "run", *args, "--out", f"{out}={tmp}/out.npy")
    check(r.returncode == 0 and not r.stderr, f"{name}: run: status {r.returncode}: {r.stderr}")
    if name != "split":  # whose hook no launch runs
        check(np.array_equal(np.load(tmp / "out.npy"), expected), f"{name}: another result")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES.items():
            test(pathlib.Path(folder), device, name, *case)
    return report()


sys.exit(main())
