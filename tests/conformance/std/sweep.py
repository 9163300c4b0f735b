#!/usr/bin/env python3
"""The largest errors of elementary functions of f32 on a device, over all of f32: every STEP-th bit
pattern, from -NaN to NaN.  Not part of `make check`; docs/language.md has the results.

    sweep.py [--device cpu] [--step 61] [NAME...]
"""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import functions  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build" / "nereid"))
CHUNK = 2**22

KERNEL = """import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def kernel(out_ptr, start, STEP: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * 256 + tl.arange(0, 256)
    bits = ((start + i) * STEP).to(tl.uint32)
    x = bits.to(tl.float32, bitcast=True)
    tl.store(out_ptr + i, {call})
"""


def erf(x):
    return np.array([math.erf(v) for v in x.astype(np.float64)])


def of(f):
    """f of f32, computed in f64."""
    return lambda x: f(x.astype(np.float64))


# name: (call, reference)
SWEEPS = {f"tl.{n}": (f"tl.{n}(x)", of(f)) for n, f in
          {"exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin,
           "cos": np.cos, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "sqrt_rn": np.sqrt,
           "erf": erf}.items()}
SWEEPS["3 / x"] = "3.0 / x", of(lambda x: 3 / x)
SWEEPS["x / 3"] = "x / 3.0", of(lambda x: x / 3)
SWEEPS["div_rn"] = "tl.div_rn(3.0, x)", of(lambda x: 3 / x)
SWEEPS |= {f"libdevice.{n}": (f"libdevice.{n}(x)", of(f)) for n, f in
           {"exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin,
            "cos": np.cos, "tanh": np.tanh, "fast_expf": np.exp, "fast_logf": np.log,
            "fast_tanhf": np.tanh}.items()}


def chunks(path, device, step):
    """Operands and results; what does not fill a block is left out."""
    with tempfile.TemporaryDirectory() as tmp:
        for start in range(0, (2**32 - 1) // step - 255, CHUNK):
            n = min(CHUNK, (2**32 - 1) // step - start) // 256 * 256
            command = [NEREID, "run", path, "--device", device, "--grid", str(n // 256), "-D",
                       f"STEP={step}", f"start={start}", f"out_ptr=empty:f32[{n}]", "--out",
                       f"out_ptr={tmp}/out.npy"]
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
            bits = (np.arange(start, start + n, dtype=np.uint64) * np.uint64(step))
            yield bits.astype(np.uint32).view(np.float32), np.load(f"{tmp}/out.npy")


def sweep(name, device, step):
    call, f = SWEEPS[name]
    worst = (-1.0, 0.0, 0.0, 0.0)
    with tempfile.TemporaryDirectory() as tmp, np.errstate(all="ignore"):
        path = pathlib.Path(tmp, "k.py")
        path.write_text(KERNEL.format(call=call))
        for x, got in chunks(str(path), device, step):
            want = f(x)
            errors = functions.ulps(got, want.astype(functions.LD))
            i = int(np.argmax(errors))
            worst = max(worst, (errors[i], x[i], got[i], want[i]), key=lambda w: w[0])
    print(f"{name:20} {worst[0]:8.3f} ulp at {worst[1]!r}: got {worst[2]!r}, want {worst[3]!r}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--step", type=int, default=61)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for name in SWEEPS:
        if not options.names or name in options.names: sweep(name, options.device, options.step)


if __name__ == "__main__":
    main()
