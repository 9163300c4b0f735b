#!/usr/bin/env python3
"""Operators of graphs against NumPy: what needs loops, memory or templates of its own.

    ops.py [--devices interp,cpu] [NAME...]    only cases whose call contains a NAME

A case is a call, whose operands are named after arrays below, and the same in NumPy.  Several cases
are computed by one graph, whose sizes are symbols too where `s_` names say so.  Every graph runs
fused, and on the interpreter op by op as well.
"""
import argparse, os, pathlib, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "ops"))
import bags, boxes, casts, complexes, composed, composites, counted, counts  # noqa: E402
import expansions, gradients, matrices, pads, pools, products, quantized  # noqa: E402
import quantizing, rows, sampled, scans, scatters, searches, sorts, special  # noqa: E402
import transforms  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
MODULES = [bags, boxes, casts, complexes, composed, composites, counted, counts, expansions,
           gradients, matrices, pads, pools, products, quantized, quantizing, rows, sampled, scans,
           scatters, searches, sorts, special, transforms]
GROUP = 24  # cases of a graph


KINDS = {"float16": "f16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16",
         "int32": "i32", "int64": "i64", "uint8": "u8", "bool": "b8", "complex64": "c64",
         "complex128": "c128"}


def operands_of(call, arrays):
    """The arrays that a call names, each once, in its order."""
    return [n for n in dict.fromkeys(re.findall(r"(?<![.\w'])[a-z]\w*\b(?!=)", call))
            if n in arrays]


def annotation(name, array):
    """The type of a parameter; that of one that is named s_... has symbolic sizes."""
    sizes = [f"{name}_{i}" if name.startswith("s_") else str(n)
             for i, n in enumerate(array.shape)]
    return f'"{KINDS[array.dtype.name]}[{", ".join(sizes)}]"'


LIBRARIES = ("nereid.", "torchao.", "torchvision.", "prims.", "quantized_decomposed.",
             "transformers.")


def op(call):
    """$0[1], an item of a list, or a call."""
    if call.startswith("$"):
        return call
    return f"torch.ops.{call if call.startswith(LIBRARIES) else f'aten.{call}'}"


def statements(number, call):
    """Statements, and the names of results."""
    call, _, items = call.partition(" -> ")
    *before, call = call.split("; ")
    lines = [f"v{number}_{i} = {op(line)}" for i, line in enumerate(before)]
    lines.append(f"r{number} = {op(call)}")
    lines = [re.sub(r"\$(\d+)", rf"v{number}_\1", line) for line in lines]
    if not items:
        return lines, [f"r{number}"]
    names = []
    for path in items.split(","):  # 1, or 0.1 of a list of lists
        name = f"r{number}"
        for i in path.split("."):
            if f"{name}_{i} = " not in "".join(f"{line}\n" for line in lines):
                lines.append(f"{name}_{i} = {name}[{i}]")
            name += f"_{i}"
        names.append(name)
    return lines, names


def graph_text(calls, names, arrays):
    parameters = ", ".join(f"{n}: {annotation(n, arrays[n])}" for n in names)
    lines, results = [], []
    for i, call in enumerate(calls):
        more, outputs = statements(i, call)
        lines += more
        results += outputs
    body = "".join(f"        {line}\n" for line in lines)
    return (f"class G(torch.nn.Module):\n    def forward(self, {parameters}):\n{body}"
            f"        return ({', '.join(results)},)\n")


def run_text(folder, text, arrays, options):
    """The outputs of a graph, whose inputs are the arrays in their order; a string if it fails."""
    path = pathlib.Path(folder, "graph.py")
    path.write_text(text)
    files = []
    for name, array in arrays.items():
        files.append(f"{folder}/{name}.npy")
        np.save(files[-1], array)
    for old in pathlib.Path(folder).glob("output_*"):
        old.unlink()
    done = subprocess.run([NEREID, "graph", path, *files, *options, "--out-dir", folder],
                          capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    count = len(list(pathlib.Path(folder).glob("output_*")))
    return [np.load(f"{folder}/output_{i}.npy") for i in range(count)]


def run(folder, calls, names, arrays, options):
    """The outputs of the calls' graph; a string if it fails."""
    return run_text(folder, graph_text(calls, names, arrays), {n: arrays[n] for n in names},
                    options)


ON_HOSTS = "use_gelu=True)"  # PyTorch's kernels of GPUs have another form of GELU
TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12, "complex64": 1e-5,
             "complex128": 1e-12}


def compare(text, got, want):
    want = np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        check(False, f"{text}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}")
        return
    near = TOLERANCE.get(got.dtype.name)
    size = float(np.sqrt(np.mean(np.abs(want) ** 2))) if "fft_" in text and want.size else 1.0
    same = (np.isclose(got, want, near, near * max(1.0, size), equal_nan=True) if near
            else got == want)  # errors of Fourier transforms are relative to the norm
    bad = np.argwhere(~same)
    first = tuple(bad[0]) if len(bad) else ()
    check(not len(bad), text + (f" at {first}: {got[first]}, not {want[first]}; {len(bad)} wrong"
                                if len(bad) else ""))


def results_of(case, arrays):
    """What NumPy gives: a list."""
    call, numpy = case
    values = numpy(*[arrays[n] for n in operands_of(call, arrays)])
    return list(values) if isinstance(values, tuple) else [values]


def run_cases(folder, group, names, arrays, device, mode):
    """Runs a group of (call, results)."""
    options = ["--device", device, "--mode", mode]
    got = run(folder, [call for call, _ in group], names, arrays, options)
    if isinstance(got, str) and len(group) > 1:  # find the case that fails
        for case in group:
            run_cases(folder, [case], operands_of(case[0], arrays), arrays, device, mode)
        return
    if isinstance(got, str):
        check(False, f"{group[0][0]} ({device}, {mode}): {got}")
        return
    at = 0
    for call, results in group:
        for want in results:
            compare(f"{call} ({device}, {mode})", got[at], want)
            at += 1


def groups_of(cases, arrays):
    """Cases that share operands follow each other, several a graph: a compiler's start costs more
    than most kernels."""
    cases = sorted(cases, key=lambda case: sorted(operands_of(case[0], arrays)))
    for i in range(0, len(cases), GROUP):
        group = cases[i:i + GROUP]
        yield list(dict.fromkeys(n for c, _ in group for n in operands_of(c, arrays))), group


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        quick_compiler(folder)
        for module in MODULES:
            cases = [c for c in module.CASES
                     if not args.names or any(n in c[0] for n in args.names)]
            for names, group in groups_of(cases, module.ARRAYS):
                devices = args.devices.split(",")
                group = [(case[0], results_of(case, module.ARRAYS)) for case in group]
                for device in [d for d in devices if d in getattr(module, "DEVICES", devices)]:
                    here = [c for c in group if device != "cuda" or not c[0].endswith(ON_HOSTS)]
                    for mode in ("default", "eager") if device == "interp" else ("default",):
                        if here:
                            run_cases(folder, here, names, module.ARRAYS, device, mode)
    return report()


if __name__ == "__main__":
    sys.exit(main())
