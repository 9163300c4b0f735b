"""What tests/replay compiles: each graph, model and kernel of the tests, by a name.

An input is (name, kind, words): the path of a graph or model, or the arguments of
`nereid compile` for a kernel, each with the folder from which they count.
"""
import collections, pathlib, re, shlex, sys, warnings, zlib

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[1]
ONNX_DATA = pathlib.Path("/usr/share/libonnx-testdata/data")  # Debian's libonnx-testdata
Input = collections.namedtuple("Input", "name kind words folder")

sys.path += [str(TESTS / room) for room in ("support", "graph", "conformance")]
import cases  # noqa: E402
import onnx_ops  # noqa: E402
import onnx_text  # noqa: E402
import ops  # noqa: E402
import references  # noqa: E402

TYPES = {"f2": "fp16", "f4": "fp32", "f8": "fp64", "b1": "i1", "c8": "fp32",
         **{f"{kind}{size}": f"{kind}{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)}}
# Types of `nereid run`'s arrays, as signatures write them.
WRITTEN = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "b8": "i1"}


# ---- graphs ----

def graphs(folder):
    """The graphs that graph/ops, graph/onnx_ops and graph/onnx_read make, as files in `folder`."""
    for module in ops.MODULES:
        for i, (names, group) in enumerate(ops.groups_of(module.CASES, module.ARRAYS)):
            path = folder / f"{module.__name__}-{i}.py"
            path.write_text(ops.graph_text([call for call, _ in group], names, module.ARRAYS))
            yield Input(f"graph/ops/{module.__name__}/{i}", "graph", [str(path)], folder)
    for module in onnx_ops.MODULES:
        for i, case in enumerate(module.CASES):
            name, opset, arrays, attributes, _ = case
            path = folder / f"{module.__name__}-{i}.onnx"
            count = len(onnx_ops.wanted_of(case))
            path.write_bytes(onnx_ops.model(name, opset, arrays, attributes, count))
            yield Input(f"graph/onnx_ops/{module.__name__}/{i}", "graph", [str(path)], folder)
    for case in sorted((TESTS / "graph/onnx_read").glob("*.model")):
        model = eval(case.read_text(), {**vars(onnx_text), "array": np.array})
        path = folder / f"read-{case.stem}.onnx"
        path.write_bytes(model[0] if isinstance(model, tuple) else model)
        yield Input(f"graph/onnx_read/{case.stem}", "graph", [str(path)], folder)


def graph_files():
    for pattern in ("graph/passes/*/*.py", "graph/commands/*.py", "models/*/model.pt2",
                    "fuzz/graph_text/*", "fuzz/pt2/*", "fuzz/onnx/*"):
        for path in sorted(TESTS.glob(pattern)):
            yield Input(str(path.relative_to(TESTS)), "graph", [str(path)], TESTS)
    for path in sorted(ONNX_DATA.glob("*/*/model.onnx")):
        yield Input(f"onnx_data/{path.parts[-3]}/{path.parts[-2]}", "graph", [str(path)], TESTS)


# ---- kernels ----

def golden_kernels():
    """Kernels of golden tests with the arguments that these have."""
    for pattern in ("codegen/**/*", "lower/**/*", "sema/**/*", "conformance/regressions/*"):
        for path in sorted(TESTS.glob(pattern)):
            words = None
            if path.suffix == ".args":
                words = shlex.split(path.read_text(), comments=True)
            elif path.suffix in (".py", ".tile"):
                comments = re.match(r"(?:(?:#|//|;).*\n)*", path.read_text(errors="replace"))[0]
                found = " ".join(re.findall(r"(?m)^\W+nereid:(.*)$", comments))
                if found or path.suffix == ".tile":
                    words = [path.name, *shlex.split(found)]
            if words and "--run-passes" not in words:
                yield Input(str(path.relative_to(TESTS)), "kernel", words, path.parent)


def signature(value, others):
    """The type of an argument of a case; `others` are all of them by name."""
    if value is None:
        return "none"
    if isinstance(value, cases.described):
        dtype = signature(value.array, others).lstrip("*").partition(":")[0]
        return f"tensordesc<{dtype}[{','.join(map(str, value.block))}]>"
    if isinstance(value, cases.narrow):
        return f"*{value.dtype}:16"
    if isinstance(value, np.ndarray):
        return f"*{TYPES[value.dtype.str[1:]]}:16"
    if isinstance(value, str):
        if value.startswith("&"):
            return signature(others[re.match(r"&(\w+)", value)[1]], others).partition(":")[0]
        _, _, dtype = value.partition(":")
        dtype = dtype.partition("[")[0]
        return f"*{WRITTEN.get(dtype, dtype)}:16" if "[" in value else WRITTEN.get(dtype, dtype)
    if isinstance(value, (bool, np.bool_)):
        return "i1"
    if isinstance(value, float):
        return "fp32"
    bits = "i32" if -2**31 <= value < 2**31 else "i64"
    return bits + (":1" if value == 1 else ":16" if value % 16 == 0 else "")


def cases_kernels():
    """The kernels of numeric.py and kernels.py, for the types and sizes of their arguments."""
    for case in cases.CASES + references.load_all():
        rng = np.random.default_rng(zlib.crc32(case.name.encode()))
        args, defines, _, _ = case.make(rng, **case.params)
        words = [f"{case.file}:{case.kernel}", *case.options]
        for name, value in args.items():
            words += ["--sig", f"{name}={signature(value, args)}"]
        for name, value in defines.items():
            words += ["-D", f"{name}={value}"]
        yield Input(f"conformance/{pathlib.Path(case.file).stem}/{case.name}", "kernel", words,
                    TESTS)


def inputs(folder, names):
    """All inputs whose name contains one of `names`; `folder` takes the files that they need."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in (lambda: graphs(folder), graph_files, golden_kernels, cases_kernels):
            for found in make():
                if not names or any(name in found.name for name in names):
                    yield found
