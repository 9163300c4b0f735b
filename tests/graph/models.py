#!/usr/bin/env python3
"""The models of tests/models: each is printed as PyTorch printed it, reads back, and runs.

    models.py [--devices interp,cpu] [--modes default,...] [--dtypes own,bf16,...] [NAME...]

Only models whose name contains a NAME.  On every device, in every mode and dtype (own: as in the
file) all cases of a model give what PyTorch gave.  On the interpreter, which also finds
accesses out of bounds and reads of what nobody wrote, a model runs op by op as well, its first case
in each dtype, and from its file, as text with the weights of the file, and as a plan that was
printed and read back: all three give the same bytes.
"""
import argparse, concurrent.futures, itertools, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
MODELS = ROOT / "tests/models"
DTYPES = ("fp32", "bf16", "fp16")
# What cannot run yet, and what the program says about it.  Remove an entry when it runs.
NOT_YET = {}


class Failure(Exception):
    pass


def nereid(*args):
    """Standard output and error, and the status, of `nereid graph ARGS`."""
    command = [NEREID, "graph", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        raise Failure(f"status {done.returncode}: {' '.join(command)}\n{done.stderr}")
    return done


def text_of(*args):
    done = nereid(*args)
    if done.returncode:
        raise Failure(done.stderr)
    return done.stdout


def inputs(case):
    return sorted(case.glob("input_*.npy"), key=lambda p: int(p.stem.split("_")[1]))


def cases(model):
    return [model, *sorted(p for p in model.iterdir() if p.is_dir())]


def check_text(model):
    """The graph is printed as PyTorch printed it, from both of its files."""
    expected = (model / "readable.txt").read_text()
    for file in ("model.pt2", "readable.txt"):
        if text_of(model / file, "--emit", "graph") != expected:
            raise Failure(f"--emit graph of {file} is not readable.txt")


def outputs(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def check_same(model, case, device, folder):
    """Text with weights, and a plan read back, give the same bytes as the file."""
    plan = folder / "model.plan"
    plan.write_text(text_of(model / "model.pt2", "--device", device, "--emit", "plan"))
    if text_of(plan, "--emit", "plan") != plan.read_text():
        raise Failure("the plan does not read back as it was printed")
    weights = ["--weights", model / "model.pt2"]
    forms = {"file": [model / "model.pt2"], "text": [model / "readable.txt", *weights],
             "plan": [plan, *weights]}
    for form, args in forms.items():
        text_of(*args, *inputs(case), "--device", device, "--out-dir", folder / form)
        if outputs(folder / form) != outputs(folder / "file"):
            raise Failure(f"outputs of the {form} differ from those of the file")


def compare(model, case, device, mode, dtype):
    """What PyTorch gave for a model in bf16 is no more precise than that."""
    args = [] if dtype == "own" else ["--dtype", dtype]
    if args and '"bf16[' in (model / "readable.txt").read_text():
        args += ["--tol", "2e-2"]
    text_of(model / "model.pt2", *inputs(case), "--device", device, "--mode", mode, "--compare",
            case, *args)


def runs(model, device, args):
    """What is to be run, as (case, mode, dtype)."""
    quick = device == "interp"
    modes = args.modes or ("default,eager" if quick else "default")
    yield from itertools.product(cases(model), modes.split(","), (args.dtypes or "own").split(","))
    if quick and not args.dtypes:
        yield from ((model, "default", dtype) for dtype in DTYPES)


def check_run(model, device, args):
    for case, mode, dtype in runs(model, device, args):
        compare(model, case, device, mode, dtype)
    if device == "interp":
        with tempfile.TemporaryDirectory() as folder:
            check_same(model, model, device, pathlib.Path(folder))


def check(task):
    """The failure, empty if there is none."""
    model, device, args = task
    reason = NOT_YET.get(model.name) if device else None
    try:
        check_run(model, device, args) if device else check_text(model)
    except Failure as failure:
        if reason and reason in str(failure):
            return ""
        return f"FAIL {model.name} {device}: {failure}"
    return f"FAIL {model.name} runs: take it off the list NOT_YET" if reason else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("--modes")
    parser.add_argument("--dtypes")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    chosen = [m for m in sorted(MODELS.iterdir())
              if not args.names or any(n in m.name for n in args.names)]
    tasks = [(m, d, args) for m in chosen for d in ["", *args.devices.split(",")]]
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(check, tasks))
    failures = [text for text in results if text]
    print("".join(text.rstrip() + "\n" for text in failures), end="")
    for name in sorted(NOT_YET.keys() & {m.name for m in chosen}):
        print(f"1 not supported yet: {name}: {NOT_YET[name]}")
    print(f"{len(results) - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


sys.exit(main())
