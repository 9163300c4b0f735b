#!/usr/bin/env python3
"""Random ONNX models with open sizes, against ONNX Runtime.

    random_models.py [--seed N] [--count N] [--device cpu] [--opset N] [--keep DIR] [-v]
    random_models.py --record     writes random_models/recorded.txt

A model is 2 to 9 operators of 70 makers over inputs whose sizes are open; it runs with several sets
of sizes by one executable.  Where onnxruntime is installed it says what is right: a model that it
runs must not be refused, and gives the same.  Otherwise the models of recorded.txt run, which holds
what ONNX Runtime gave: shapes, and two sums of each output.  Operators with steps (comparisons,
roundings, indices of extremes) take values alone that every order of additions gives.
"""
import argparse, collections, os, pathlib, random, re, sys, tempfile, zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
sys.path += [str(ROOT / "tests/support"), str(ROOT / "tests/graph/random_models"),
             str(BUILD / "python")]
import makers  # noqa: E402
from tally import check, report  # noqa: E402

import nereid  # noqa: E402

RECORDED = ROOT / "tests/graph/random_models/recorded.txt"
SIZES = [1, 1, 2, 3, 4, 5, 7]
RUNS = 3


def draw_inputs(model, rng):
    # ONNX Runtime 1.32 aborts where a layer goes back along no steps, and loops without turns keep
    # values of another rank there; means of nothing are open.
    never = {"LSTM", "GRU", "RNN", "Loop", "ReduceMean", "InstanceNormalization",
             "GlobalAveragePool",
             "GlobalMaxPool", "ReduceMax"}
    choice = SIZES if {*model.ops} & never or rng.random() < 0.8 else [*SIZES, 0]
    sizes = {s: rng.choice(choice) for s in makers.SYMBOLS}
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    given = {}
    for name, (dtype, dims) in model.inputs.items():
        shape = [sizes.get(d, d) for d in dims]
        small = numbers.integers(0, 2, shape) if dtype == "?" else numbers.integers(-8, 9, shape)
        given[name] = (small * 0.5).astype(dtype) if dtype == "f4" else small.astype(dtype)
    return sizes, given


def fault_of(got, wanted):
    """Where two arrays differ, empty if they don't."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got.dtype}{got.shape}, not {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind != "f":
        return "" if np.array_equal(got, wanted) else f"{got.tolist()}, not {wanted.tolist()}"
    finite = np.abs(wanted[np.isfinite(wanted)].astype("f8"))
    limit = 2e-4 * (1 + (finite.max() if finite.size else 0))
    near = np.isclose(got, wanted, 1e-3, limit, equal_nan=True)
    return "" if near.all() else f"{got[~near][:4]}, not {wanted[~near][:4]}"


# ---- ONNX Runtime ----

def runtime():
    try:
        import onnxruntime
    except ImportError:
        return None
    return onnxruntime


def session_of(ort, path):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # Gather of a Range that counts down is empty after 1.32's optimizations.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:
        return None  # it takes no such model


def answers(session, given):
    """None: an error."""
    try:
        return session.run(None, given)
    except Exception:
        return None


# ---- records ----

def summed(array):
    """Shape, and the sums of all elements and of weighted ones."""
    flat = np.nan_to_num(array.astype("f8").ravel(), nan=0.125, posinf=1e3, neginf=-1e3)
    weights = np.cos(np.arange(flat.size))
    return array.dtype.str, list(array.shape), float(flat.sum()), float(flat @ weights)


def recorded_fault(got, line):
    dtype, shape, total, weighted = summed(got)
    if [dtype, shape] != line[:2]:
        return f"{dtype}{shape}, not {line[0]}{line[1]}"
    size = float(np.abs(np.nan_to_num(got.astype("f8"), posinf=1e3, neginf=-1e3)).sum())
    near = np.allclose([total, weighted], line[2:], 0, 1e-3 * (1 + size))
    return "" if near else f"sums {total}, {weighted}, not {line[2]}, {line[3]}"


# ---- runs ----

def load(path, device):
    try:
        return nereid.load(str(path), device=device), ""
    except nereid.NereidError as error:
        return None, str(error)


def run(model, given):
    try:
        return [np.asarray(y) for y in model.run(given)], ""
    except nereid.NereidError as error:
        return None, str(error)


def joins_nothing(fault):
    """Is an input without elements joined to others of other sizes, along an axis that it has?
    ONNX Runtime 1.32 gives memory there that it has not written."""
    sizes = re.search(r"_cat (?:takes .* to be equal; for these inputs they are (\d+) and (\d+)"
                      r"|= aten.cat.default: \w*(\[.*\]) and \w*(\[.*\]) differ)", fault)
    return sizes and any(re.search(r"(?<!\d)0(?!\d)", s) for s in sizes.groups() if s)


class Case:
    """A model, its file, and its runs."""

    def __init__(self, seed, args, folder):
        rng = random.Random(seed)
        self.seed, self.args = seed, args
        self.model = makers.Model(rng, args.opset)
        self.path = (args.keep or pathlib.Path(folder)) / f"{seed}.onnx"
        self.path.write_bytes(self.model.onnx())
        self.runs = [draw_inputs(self.model, rng) for _ in range(RUNS)]

    def compare(self, wanted, differs):
        """`wanted`: of each run the outputs, or None where nothing is asked."""
        model, error = load(self.path, self.args.device)
        ops = " ".join(self.model.ops)
        for i, ((sizes, given), want) in enumerate(zip(self.runs, wanted)):
            if want is None:
                continue
            got, fault = run(model, given) if model else (None, error)
            if got and len(got) != len(want):
                fault = f"{len(got)} outputs, not {len(want)}"
            elif got:
                faults = (differs(g, w) for g, w in zip(got, want))
                fault = next((f"output {k}: {f}" for k, f in enumerate(faults) if f), "")
            if not got and joins_nothing(fault):
                continue
            used = {s: n for s, n in sizes.items() if s in self.model.symbols()}
            check(not fault, f"seed {self.seed} run {i} {used} [{ops}]: {fault}")


def against_runtime(seeds, args, folder, ort):
    refused = collections.Counter()
    for seed in seeds:
        case = Case(seed, args, folder)
        session = session_of(ort, case.path)
        wanted = session and [answers(session, given) for _, given in case.runs]
        if wanted:
            case.compare(wanted, fault_of)
        refused[not wanted] += 1
        if args.v:
            print(f"seed {seed}", flush=True)
        if not args.keep:
            case.path.unlink()
    print(f"{refused[False]} models, and {refused[True]} that ONNX Runtime does not take")


def crc(path):
    return zlib.crc32(path.read_bytes())


def against_records(args, folder):
    for line in RECORDED.read_text().splitlines():
        seed, code, wanted = eval(line, {"inf": float("inf")})
        case = Case(seed, args, folder)
        if crc(case.path) != code:
            check(False, f"seed {seed} makes another model than recorded: record it again")
            continue
        case.compare(wanted, recorded_fault)


def record(seeds, args, folder, ort):
    lines = []
    for seed in seeds:
        case = Case(seed, args, folder)
        session = session_of(ort, case.path)
        found = session and [answers(session, given) for _, given in case.runs]
        if found and any(f is not None for f in found):
            rows = [f and [list(summed(y)) for y in f] for f in found]
            lines.append(repr([seed, crc(case.path), rows]))
    RECORDED.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--device", default="interp")
    parser.add_argument("--opset", type=int, default=18)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("-v", action="store_true", help="print each seed that has been tried")
    args = parser.parse_args()
    seeds, ort = range(args.seed, args.seed + args.count), runtime()
    with tempfile.TemporaryDirectory() as folder:
        if args.record:
            record(seeds, args, folder, ort)
        elif ort:
            against_runtime(seeds, args, folder, ort)
        else:
            against_records(args, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
