#!/usr/bin/env python3
"""Runs the cases of cases.py on devices and compares with NumPy.

    numeric.py [--devices interp,nest,cpu] [NAME...]    only cases whose name contains a NAME

On device cpu the cases are spread over the widths that a CPU may have; device cpu:8 is one of them.
cpu/7 stands for a seventh of the cases.
"""
# tests/run: users' compiler
import argparse, concurrent.futures, os, pathlib, shlex, subprocess, sys, tempfile, zlib
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import widths  # noqa: E402
from cases import CASES, described, narrow

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))


def as_value(value, path):
    """One argument as `nereid run` takes it; arrays are written to `path`."""
    if isinstance(value, described):
        return value.text(as_value(value.array, path))
    if isinstance(value, narrow):
        np.save(path, value.array)
        return f"@{path}:{value.dtype}"
    if isinstance(value, np.ndarray):
        np.save(path, value)
        return f"@{path}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def run_case(case, device, more=(), program=NEREID, **params):
    """Runs a case in a folder of its own.  Returns (command, largest errors by output, output)
    or raises RuntimeError with the program's messages."""
    device, target = widths.place(device, case.name)
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    args, defines, grid, expected = case.make(rng, **{**case.params, **params})
    with tempfile.TemporaryDirectory() as tmp:
        command = [program, "run", f"{case.file}:{case.kernel}", "--grid", grid,
                   "--device", device, *case.options, *more]
        command += ["--target", target] if target else []
        command += [f"{name}={as_value(v, f'{tmp}/{name}.npy')}" for name, v in args.items()]
        command += [word for name, v in defines.items() for word in ("-D", f"{name}={v}")]
        command += [word for name in expected for word in ("--out", f"{name}={tmp}/out-{name}.npy")]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(f"{shlex.join(command)}\nstatus {done.returncode}\n{done.stderr}")
        errors = {name: largest_error(np.load(f"{tmp}/out-{name}.npy"), want)
                  for name, want in expected.items()}
    return command, errors, done.stdout


def largest_error(got, want):
    if got.shape != want.shape:
        return float("inf")
    equal = got == want
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.abs(got - want) / (1 + np.abs(want))
    # The difference of integers of 64 bits may be lost in f64.
    error = np.maximum(error, np.finfo(np.float64).tiny)
    same = equal | (np.isnan(got) & np.isnan(want))
    return float(np.nan_to_num(np.where(same, 0, error), nan=np.inf).max(initial=0))


def check(job):
    case, device = job
    try:
        command, errors, _ = run_case(case, device)
    except (RuntimeError, OSError, ValueError) as problem:
        return f"FAIL {case.name} on {device}\n{problem}"
    bad = [f"  {name}: largest error {e:.3g}, allowed {case.tol:g}\n" for name, e in errors.items()
           if not e <= case.tol]
    return bad and f"FAIL {case.name} on {device}\n{shlex.join(command)}\n" + "".join(bad)


def main(cases, description):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--devices", default="interp,nest,cpu")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    some = [case for case in cases
            if not options.names or any(name in case.name for name in options.names)]
    jobs = []
    for word in options.devices.split(","):
        device, _, part = word.partition("/")
        jobs += [(case, device) for case in some[::int(part or 1)]
                 if not case.devices or device.split(":")[0] in case.devices]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failures = [text for text in pool.map(check, jobs) if text]
    print("".join(f"{text}\n" for text in failures), end="")
    print(f"{len(jobs) - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
