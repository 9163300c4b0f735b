#!/usr/bin/env python3
"""ONNX's own test data: each case gives what ONNX expects, on the CPU, or where --device says.

    onnx_data.py [-v] [--update] [--device D] [--package] [NAME...]

NAMEs select cases whose FOLDER/NAME contains one.  --package takes the cases of operators that the
installed package onnx has, of the newest opset.

The data is Debian's libonnx-testdata.  A case is a model, inputs, and expected outputs as
TensorProtos, sequences of them, or optional ones.  Models of the same operator sets run as one
model, GROUP at once, whose graph has the nodes of all; one that then fails to run, that has
sequences, optional values, functions or several sets of data, or that is on the list runs alone.
Cases with strings, or that draw random numbers,
are skipped, each kind with its reason.  onnx_data/failures.txt lists the cases that do not work
yet: one that works is to be taken off the list, as --update does.
"""
import argparse, collections, concurrent.futures
import os, pathlib, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from onnx_join import fields, find, joined, varint  # noqa: E402
from quick_cc import quick_compiler  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
FOLDERS = ["node", "simple", "pytorch-converted", "pytorch-operator"]
FAILURES = ROOT / "tests/conformance/onnx_data/failures.txt"
RTOL, ATOL = 1e-3, 1e-7
WIDER = {"attention.*bf16": (1e-2, 1e-3), "attention.*fp16": (2e-3, 1e-3),  # a rounding of theirs
         "dft_inverse": (1e-3, 1e-5)}  # zeros
TIMEOUT = 300  # seconds
GROUP = 16  # cases of a model

# What is not tested: pieces of cases' names, and why.
SKIPPED = [
    (r"node/test_(adagrad|adam|momentum|nesterov)|gradient_of", "preview training"),
    (r"test_bernoulli|test_training_dropout(_default)?(_mask)?$", "random draws"),
]


class Failure(Exception):
    pass




# ---- tensors of protobuf ----

DTYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2",
          11: "f8", 12: "u4", 13: "u8", 16: "bf16"}
# Dtypes that are bytes in arrays, and the bits of an element in files.
FORMS = {18: ("u1", 8), 20: ("u1", 8), 21: ("u1", 4), 22: ("i1", 4), 23: ("u1", 4), 24: ("u1", 8),
         25: ("u1", 2), 26: ("i1", 2)}
# Fields with elements of their own, and what they hold.
TYPED = {4: "f4", 5: "int32", 7: "int64", 10: "f8", 11: "uint64"}


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def varints(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield signed(value)


def unpacked(raw, dtype, bits, dims):
    """The first element of a byte is in its lowest bits."""
    data = np.frombuffer(raw, "u1")[:, None] >> np.arange(0, 8, bits) & ((1 << bits) - 1)
    data = data.reshape(-1)[:int(np.prod(dims, dtype=int))].astype("u1")
    if dtype == "i1":
        sign = np.uint8(1 << (bits - 1))
        data = (data ^ sign) - sign
    return data.view(dtype).reshape(dims)


def tensor(data):
    """An array of a TensorProto; bfloat16 as float32."""
    dims, kind, raw, items = [], 0, None, []
    for number, value in fields(data):
        if number == 1:
            dims += [value] if isinstance(value, int) else varints(value)
        elif number == 2:
            kind = value
        elif number == 9:
            raw = value
        elif number in (4, 10):
            items += list(np.frombuffer(value, TYPED[number]))
        elif number in TYPED:
            items += [signed(value)] if isinstance(value, int) else varints(value)
    if kind in FORMS:
        raw = bytes(i & 255 for i in items) if raw is None else raw
        return unpacked(raw, *FORMS[kind], dims)
    if kind not in DTYPES:
        raise Failure(f"a tensor of type {kind}")
    dtype = DTYPES[kind]
    if dtype == "bf16":
        bits = np.frombuffer(raw, "u2") if raw is not None else np.array(items, "u2")
        return (bits.astype("u4") << 16).view("f4").reshape(dims)
    if raw is not None:
        return np.frombuffer(raw, dtype).reshape(dims)
    if dtype == "f2":
        return np.array(items, "u2").view("f2").reshape(dims)
    if dtype in ("u4", "u8"):
        return np.array([i % (1 << 64) for i in items], "u8").astype(dtype).reshape(dims)
    return np.array(items).astype(dtype).reshape(dims)


def value_of(data, kind):
    """An array, the list of a sequence, or None: an optional value that is absent."""
    number, inner = next(fields(kind))
    if number == 9:
        given = find(data, 3) + find(data, 5)
        return value_of(given[0], find(inner, 1)[0]) if given else None
    return [tensor(item) for item in find(data, 3)] if number == 4 else tensor(data)


def values(case, data, what):
    """(name, value) of a data set; bfloat16, which NumPy lacks and the data has as uint16, is
    float32."""
    model = (case / "model.onnx").read_bytes()
    infos = find(model, 7, {"input": 11, "output": 12}[what])
    files = sorted(data.glob(f"{what}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    for info, file in zip(infos, files):
        value = value_of(file.read_bytes(), find(info, 2)[0])
        if 16 in find(info, 2, 1, 1) and value.dtype == "u2":
            value = (value.astype("u4") << 16).view("f4")
        yield find(info, 1)[0].decode(), value


def flat(found):
    return [item for _, value in found for item in (value if isinstance(value, list) else [value])]


# ---- many models as one ----

def kind_of(case):
    """Models of the same kind can be one; None for those that stay alone."""
    model, sets = (case / "model.onnx").read_bytes(), list(case.glob("test_data_set_*"))
    types = find(model, 7, 11, 2) + find(model, 7, 12, 2)
    if any(number != 1 for kind in types for number, _ in fields(kind)) or find(model, 25):
        return None
    given = {*find(model, 7, 11, 1)} - {*find(model, 7, 5, 8)}
    if len(sets) != 1 or len(list(sets[0].glob("input_*"))) != len(given) or find(model, 7, 15):
        return None
    return tuple(find(model, 1)), tuple(sorted(find(model, 8)))


def groups_of(cases, alone):
    """Lists of cases, of which those in `alone` share none."""
    by_kind = collections.defaultdict(list)
    for case in cases:
        by_kind[case not in alone and kind_of(case) or case].append(case)
    return [some[i:i + GROUP] for some in by_kind.values() for i in range(0, len(some), GROUP)]


# ---- running ----

def same(actual, expected, case):
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype}, expected {expected.dtype}"
    if expected.dtype.kind == "f":
        a, e = actual.astype("f8"), expected.astype("f8")
        rtol, atol = next((t for p, t in WIDER.items() if re.search(p, case.name)), (RTOL, ATOL))
        if not np.allclose(a, e, rtol=rtol, atol=atol, equal_nan=True):
            finite = np.isfinite(a) & np.isfinite(e)
            return f"the largest difference is {np.max(np.abs(a - e), where=finite, initial=0):.3g}"
    elif not np.array_equal(actual, expected):
        return "integers differ"
    return ""


def nereid(model, given, folder, device):
    """The folder of the outputs; `given` are names and values."""
    command = [NEREID, "graph", model, "--device", device, "--out-dir", folder / "out"]
    for name, value in given:
        if value is None or isinstance(value, list):
            command += ["--items", f"{name}={'none' if value is None else len(value)}"]
    for i, array in enumerate(item for item in flat(given) if item is not None):
        np.save(folder / f"input_{i}.npy", array)
        command.insert(3 + i, folder / f"input_{i}.npy")
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Failure(f"over {TIMEOUT} seconds")
    if done.returncode:
        raise Failure(done.stderr.strip() or f"status {done.returncode}")
    return folder / "out"


def compare(out, first, case, data):
    """Outputs from number `first` on with those that the case expects."""
    for i, expected in enumerate(flat(values(case, data, "output"))):
        path = out / f"output_{first + i}.npy"
        if expected is None and path.exists():
            raise Failure(f"output {i} should be absent")
        difference = same(np.load(path), expected, case) if expected is not None else ""
        if difference:
            raise Failure(f"output {i}: {difference}")
def check_alone(case, device):
    """What is wrong with a case, empty if it passes."""
    try:
        for data in sorted(case.glob("test_data_set_*")):
            with tempfile.TemporaryDirectory() as folder:
                given = list(values(case, data, "input"))
                compare(nereid(case / "model.onnx", given, pathlib.Path(folder), device), 0, case,
                        data)
    except Failure as failure:
        return str(failure)
    return ""


def check(cases, device):
    """What is wrong with each of the cases."""
    if len(cases) == 1:
        return [check_alone(cases[0], device)]
    data = [next(case.glob("test_data_set_*")) for case in cases]
    wrong, first = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        models = [(case / "model.onnx").read_bytes() for case in cases]
        (folder / "model.onnx").write_bytes(joined(models))
        given = [pair for case, d in zip(cases, data) for pair in values(case, d, "input")]
        try:
            out = nereid(folder / "model.onnx", given, folder, device)
        except Failure as failure:
            alone = [check_alone(case, device) for case in cases]
            return alone if any(alone) else [f"one model of {len(cases)}: {failure}"] * len(cases)
        for case, d, model in zip(cases, data, models):
            try:
                compare(out, first, case, d)
                wrong.append("")
            except Failure as failure:
                wrong.append(f"{failure} (one model of {len(cases)})")
            first += len(find(model, 7, 12))
    return wrong


def dtypes_of(case):
    """The dtypes of inputs and outputs, also in sequences and optional ones."""
    model = (case / "model.onnx").read_bytes()
    kinds = find(model, 7, 11, 2) + find(model, 7, 12, 2)
    while kinds:
        for number, inner in fields(kinds.pop()):
            if number == 1:
                yield from (v for n, v in fields(inner) if n == 1)
            elif number in (4, 9):
                kinds += find(inner, 1)


def skip_reason(name, case):
    dtypes = {*dtypes_of(case)}
    if 8 in dtypes:
        return "strings"
    if not dtypes <= {*DTYPES, *FORMS}:
        return "dtypes that NumPy's files lack"
    return next((why for pattern, why in SKIPPED if re.search(pattern, name)), None)


def expected_failures():
    lines = FAILURES.read_text().splitlines() if FAILURES.exists() else []
    pairs = (line.split(None, 1) for line in lines if line and not line.startswith("#"))
    return {name: why for name, why in pairs}


def take_off(names):
    lines = FAILURES.read_text().splitlines(keepends=True)
    FAILURES.write_text("".join(line for line in lines if line.split()[0] not in names))


def table(rows):
    print(f"{'':20}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for folder, counts in rows.items():
        print(f"{folder:20}{counts['passed']:8}{counts['failed']:8}{counts['skipped']:8}")


def write_package_cases(folder):
    """The cases of operators of the installed package, as Debian's data has them."""
    import onnx.backend.test.case.node as cases
    from onnx import TensorProto, numpy_helper

    def proto(x, kind):
        if isinstance(x, TensorProto):
            return x
        if kind.HasField("sequence_type"):
            return numpy_helper.from_list(x)
        return (numpy_helper.from_optional(x) if kind.HasField("optional_type") else
                numpy_helper.from_array(np.asarray(x)))

    for case in cases.collect_testcases(None):
        for i, data in enumerate(case.data_sets):
            path = folder / case.name / f"test_data_set_{i}"
            path.mkdir(parents=True)
            (path.parent / "model.onnx").write_bytes(case.model.SerializeToString())
            infos = case.model.graph.input, case.model.graph.output
            for what, items, info in zip(("input", "output"), data, infos):
                for k, (x, v) in enumerate(zip(items, info)):
                    (path / f"{what}_{k}.pb").write_bytes(proto(x, v.type).SerializeToString())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true", help="all failures, also expected ones")
    parser.add_argument("--update", action="store_true", help="takes cases that work off the list")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--package", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if not args.package and not args.data.is_dir():
        print(f"1 skipped: no {args.data}\n0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if args.package:
            args.data = pathlib.Path(folder)
            write_package_cases(args.data / "node")
        return run(args)


def run(args):
    cases = [case for folder in FOLDERS for case in sorted((args.data / folder).glob("test_*"))]
    named = {f"{case.parent.name}/{case.name}": case for case in cases}
    chosen = {n: c for n, c in named.items() if not args.names or any(a in n for a in args.names)}
    reasons = {name: skip_reason(name, case) for name, case in chosen.items()}
    tasks = [name for name in chosen if not reasons[name]]
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder, "-O0")
        names = {chosen[name]: name for name in tasks}
        groups = groups_of(names, {chosen[n] for n in expected_failures() if n in chosen})
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            done = pool.map(lambda cases: check(cases, args.device), groups)
            results = {names[case]: text for cases, texts in zip(groups, done)
                       for case, text in zip(cases, texts)}
    if args.update:
        take_off({name for name in results if not results[name]})
    return report(chosen, reasons, results, args)


def report(chosen, reasons, results, args):
    expected = expected_failures()
    rows = collections.defaultdict(collections.Counter)
    wrong = 0
    for name in chosen:
        status = "skipped" if reasons[name] else "failed" if results[name] else "passed"
        rows[name.split("/")[0]][status] += 1
        text = results.get(name, "")
        if status == "passed" and name in expected and args.data == DATA:
            print(f"FAIL {name} passes: take it off {FAILURES.name}")
            wrong += 1
        elif status == "failed" and (args.v or name not in expected):
            print(f"FAIL {name}: {text}")
        wrong += status == "failed" and name not in expected
    table(rows)
    for why, n in collections.Counter(filter(None, reasons.values())).items():
        print(f"{n} skipped: {why}")
    print(f"{len(results) - wrong} passed, {wrong} failed")
    return bool(wrong)


sys.exit(main())
