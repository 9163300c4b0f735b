#!/usr/bin/env python3
"""Models from Python: files, text and modules; inputs by position and name, outputs given and made,
open sizes, numbers, threads, executables as bytes, projects, and what each mistake says."""
import os, pathlib, subprocess, sys, tempfile, threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
NEREID = os.environ.get("NEREID", str(BUILD / "nereid"))
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/support")]
import nereid
import nereid.language as tl
import numpy as np
import onnx_text
from tally import check, report

try:
    import torch
except ImportError:
    torch = None

# 4 x of each row with the weights of W, the number of elements, and nothing.
TEXT = """class GraphModule(torch.nn.Module):
    def forward(self, w: "f32[4, 4]", x: "f32[s0, 4]"):
        sym_size: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
        mul: "Sym(4*s0)" = sym_size * 4
        mm: "f32[s0, 4]" = torch.ops.aten.mm.default(x, w)
        mm_1: "f32[s0, 4]" = torch.ops.aten.mm.default(mm, w)
        return (mm_1, None, mul)
"""
NONZERO = """class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0]"):
        nonzero: "i64[u0, 1]" = torch.ops.aten.nonzero.default(x)
        return nonzero
"""
W = 2 * np.eye(4, dtype="float32")


def rows(n, start=0):
    return np.arange(start, start + 4 * n, dtype="float32").reshape(n, 4)


def raises(what, kind, run, *words):
    try:
        check(False, f"{what}: gave {run()}")
    except kind as error:
        check(all(word in str(error) for word in words), f"{what}: {error!r}")


# ---- text ----


def check_values():
    model = nereid.load(TEXT)
    w, x = model.inputs
    check((w.name, w.dtype, w.shape, w.type) == ("w", "f32", (4, 4), "f32[4, 4]"), f"an input: {w}")
    check(x.shape == ("s0", 4) and not x.is_number, f"an open size: {x}")
    first, none, number = model.outputs
    check(first.name == "mm_1" and first.shape == ("s0", 4), f"an output: {first}")
    check(none is None, f"an output that is None: {none}")
    check(number.is_number and number.shape is None and number.type == "Sym(4*s0)",
          f"a number: {number}")
    check(repr(model) == "<nereid.Model (w: f32[4, 4], x: f32[s0, 4])>", repr(model))
    check("aten.mm.default" in model.graph, "the graph")
    check("@triton.jit" in model.text("kernels"), "its kernels")
    check("mode default" in model.explain(device="cpu"), "an explanation")
    check("time us" in model.explain(W, rows(5)), "an explanation with times")


def check_runs():
    model = nereid.load(TEXT)
    for n in (5, 2, 40):
        x = rows(n)
        got = model.run(W, x)
        check(np.array_equal(got[0], 4 * x) and got[1] is None and got[2] == 4 * n, f"{n} rows")
        check(type(got[2]) is int and got[0].dtype == "float32", "types of outputs")
    x = rows(3)
    for what, got in {"a dict": model.run({"x": x, "w": W}), "by name": model.run(w=W, x=x),
                      "mixed": model.run(W, x=x), "a call": model(W, x)}.items():
        check(np.array_equal(got[0], 4 * x), what)
    out = np.zeros((3, 4), "float32")
    got = model.run(W, x, out=[out, None, None])
    check(got[0] is out and np.array_equal(out, 4 * x) and got[2] == 12, "an output that is given")
    out[:] = 0
    model.run(W, x, out={"mm_1": out})
    check(np.array_equal(out, 4 * x), "an output that is given by name")
    strided = np.ascontiguousarray(x.T).T
    check(np.array_equal(model(W, strided)[0], 4 * x), "a strided input")
    check(np.array_equal(model(W, x[::-1])[0], 4 * x[::-1]), "an input that goes backwards")
    model.set_static("w")
    check(np.array_equal(model(W, x)[0], 4 * x), "a static input")
    info = model.info()
    check(info["kernels"] > 0 and info["launches"] > 0, f"what it takes: {info}")


def check_devices():
    for device in ("cpu", "interp", "nest"):
        for mode in ("default", "eager", "reduce-overhead"):
            model = nereid.load(TEXT.encode(), device=device, mode=mode)
            check(np.array_equal(model(W, rows(3))[0], 4 * rows(3)), f"{device}, mode {mode}")
    model = nereid.load(TEXT, ranges={"x[0]": (2, 8)})
    check(np.array_equal(model(W, rows(8))[0], 4 * rows(8)), "a range")
    raises("past the range", nereid.NereidError, lambda: model(W, rows(9)), "axis 0 is 9")
    half = nereid.load(TEXT, dtype="fp16")
    got = half(W.astype("float16"), rows(3).astype("float16"))[0]
    check(got.dtype == "float16" and np.array_equal(got, 4 * rows(3)), "another dtype")


def check_sizes_of_data():
    model = nereid.load(NONZERO)
    for values in ([0, 3, 0, 0, 1, 2], [0, 0, 0], [1, 1, 1, 1]):
        x = np.array(values, "float32")
        got = model(x)
        check(got.shape == (np.count_nonzero(x), 1) and np.array_equal(got, np.argwhere(x)),
              f"the places of {values}: {got}")


def check_threads():
    model = nereid.load(TEXT)
    wrong = []

    def work(k):
        for i in range(30):
            x = rows(1 + (7 * k + i) % 20, 100 * k)
            if not np.array_equal(model(W, x)[0], 4 * x):
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    check(not wrong, f"threads: {wrong}")


LARGE = """def forward(self, x: "u8[s0, 2]"):
    y = torch.ops.aten.amax.default(x, [0, 1])
    return (y,)
"""


def check_large_inputs():
    """A kernel that reads 2^31 elements where it may be fewer; no page of them is touched."""
    model = nereid.load(LARGE, device="cpu")
    raises("a large input", nereid.NereidError, lambda: model(np.zeros((1100000000, 2), "u1")),
           "x has 2200000000 elements", "--range")


def check_mistakes():
    model = nereid.load(TEXT)
    x = rows(3)
    error = nereid.NereidError
    raises("a dtype", error, lambda: model(W, x.astype("float64")), "x", "f64, not f32")
    raises("a size", error, lambda: model(W, x[:, :3].copy()), "axis 1 is 3, not 4")
    raises("too few", error, lambda: model(W), "takes 2 inputs, not 1")
    raises("no name", TypeError, lambda: model(w=W, y=x), "'y' is no input", "w, x")
    raises("a name twice", TypeError, lambda: model(W, w=W), "'w' is given twice")
    raises("one is missing", TypeError, lambda: model(w=W), "input 'x' is missing")
    raises("no tensor", TypeError, lambda: model(W, "x"), "str")
    raises("a structure alone", TypeError, lambda: model(W, Structure()), "Structure")
    raises("complex numbers", TypeError, lambda: model(W, x.astype("complex64")), "'<c8'")
    raises("big-endian numbers", TypeError, lambda: model(W, x.astype(">f4")), "big-endian")
    packed = np.zeros((3, 4), [("first", "i1"), ("second", "f4")])["second"]
    raises("rows of five bytes", TypeError, lambda: model(W, packed), "no multiples")
    fixed = x.copy()
    fixed.flags.writeable = False
    check(np.array_equal(model(W, fixed)[0], 4 * x), "an array that is not to be written")
    small = np.zeros((2, 4), "float32")
    raises("a small output", error, lambda: model.run(W, x, out=[small, None, None]), "output 0")
    raises("a fixed output", TypeError, lambda: model.run(W, x, out=[fixed, None, None]),
           "read-only")
    raises("outputs", TypeError, lambda: model.run(W, x, out=[None]), "returns 3 values")
    raises("no output", TypeError, lambda: model.run(W, x, out={"y": x}), "'y' is no output")
    raises("no static input", ValueError, lambda: model.set_static("y"), "'y'")
    raises("no stage", ValueError, lambda: model.text("ptx"), "graph, kernels")
    raises("no file", error, lambda: nereid.load("none.onnx"), "none.onnx")
    raises("no model", TypeError, lambda: nereid.load(3), "int is no model")
    raises("no mode", error, lambda: nereid.load(TEXT, mode="fast")(W, x), "unknown mode fast")
    raises("no device", error, lambda: nereid.load(TEXT, device="tpu"), "tpu")
    raises("an operator", error, lambda: nereid.load(TEXT.replace("aten.mm", "aten.mn")), "aten.mn")


# ---- files ----


def check_files():
    folder = ROOT / "tests/models/mlp"
    x, want = np.load(folder / "input_0.npy"), np.load(folder / "output_0.npy")
    model = nereid.load(folder / "model.pt2")
    check(np.allclose(model(x), want, atol=1e-5), "a .pt2 file")
    data = (folder / "model.pt2").read_bytes()
    check(np.allclose(nereid.load(data)(x), want, atol=1e-5), "the bytes of one")
    for embed in (False, True):
        kept = model.bytes("cpu", embed_weights=embed)
        again = nereid.load(kept, device="cpu")
        check(np.array_equal(again(x), model(x)), f"an executable of bytes, embedded {embed}")
        check([v.type for v in again.inputs] == ["f32[32, 256]"], f"its inputs: {again.inputs}")
    raises("another device", nereid.NereidError, lambda: nereid.load(kept, device="interp"),
           "the executable was made for cpu cpu, not for interp")
    raises("damaged bytes", nereid.NereidError, lambda: nereid.load(kept[:-8], device="cpu"),
           "damaged")
    raises("no graph", TypeError, lambda: again.graph, "has no graph")
    raises("a mode", TypeError, lambda: nereid.load(kept, mode="eager"), "mode= is fixed")


def check_build():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "project"
        notes = nereid.build(TEXT.replace("s0", "6").replace("Sym(4*6)", "Sym(24)"), path, "cpu",
                             name="sums")
        check(isinstance(notes, list) and "sums_run" in (path / "sums.h").read_text(), "a project")
        check((path / "Makefile").exists(), "its Makefile")
        raises("a folder in use", nereid.NereidError,
               lambda: nereid.build(TEXT, ROOT / "tests", "cpu"), "tests")
    raises("an option of load()", TypeError, lambda: nereid.build(nereid.load(TEXT), "x", mode="e"),
           "mode= belongs to load()")


def check_build_narrowed():
    """A layer whose length a plan can't leave open is built for the one that a range leaves."""
    rng = np.random.default_rng(0)
    w, r = (rng.standard_normal((1, 9, k)).astype("f4") for k in (2, 3))
    made = onnx_text.model(
        [onnx_text.node("GRU", "x w r", "y", hidden_size=3)], {"x": onnx_text.f32("t", 1, 2)}, "y",
        initializers=[onnx_text.tensor(n, "f4", v.shape, v.tobytes()) for n, v in
                      (("w", w), ("r", r))])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        nereid.build(made, folder / "fixed", "cpu", ranges={"t": (4, 4)})
        (folder / "m.onnx").write_bytes(made)
        x = rng.standard_normal((4, 1, 2)).astype("f4")
        np.save(folder / "x.npy", x)
        for command in (["make", "-s", "-C", "fixed"],
                        ["fixed/model", "x.npy", "--out-dir", "out"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            check(not done.returncode, done.stderr)
        want = nereid.load(made, device="interp")(x)
        got = np.load(folder / "out/output_0.npy")
        check(np.allclose(got, want, 1e-5, 1e-6), f"a length that is one: {got}, not {want}")
        for more in ([], ["--range", "t=4..5"]):
            command = [NEREID, "build", "m.onnx", "-o", "open", "--target", "cpu", *more]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            check(done.returncode == 1 and "a sequence of symbolic length" in done.stderr and
                  "a project has one plan, which can't hold these open sizes: give each one value, "
                  "as with --range s0=16..16" in done.stderr, done.stderr)


def onnx_value(path):
    """The array of a TensorProto with raw bytes: 1 are its sizes, 2 its dtype, 9 the bytes."""
    data, at, found = path.read_bytes(), 0, {1: []}

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        if tag >> 3 == 1:
            found[1] += [value] if isinstance(value, int) else list(value)
        else:
            found[tag >> 3] = value
    return np.frombuffer(found[9], {1: "float32", 7: "int64"}[found[2]]).reshape(found[1])


@nereid.jit
def scale(x, out, n, BY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * BY, mask=i < n)


def check_kernel():
    signature = {"x": "*fp32:16", "out": "*fp32:16", "n": "i32"}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scale"
        options = dict(signature=signature, constants={"BY": 2.5, "BLOCK": 256}, ptx_only=True)
        notes = nereid.build(scale, path, "sm_90a,sm_80", "by", num_warps=2, **options)
        source, header = ((path / f"by.{end}").read_text() for end in "ch")
        check(notes == [] and "by_launch" in header and "by_load" in header, "a kernel's header")
        check("for sm_90a, sm_80" in header and "code_1" in source, "code for two targets")
        raises("no such parameter", TypeError,
               lambda: nereid.build(scale, path, signature={"y": "*fp32"}), "x, out, n, BY, BLOCK")
        raises("a type is missing", nereid.CompilationError,
               lambda: nereid.build(scale, path, signature={"x": "*fp32"}, constants={}), "out")


def check_onnx():
    b = np.arange(12, dtype="float32").reshape(4, 3)
    nodes = [onnx_text.node("MatMul", "x b", "t"), onnx_text.node("Relu", "t", "y")]
    data = bytes(onnx_text.model(nodes, inputs={"x": onnx_text.f32("n", 4)}, outputs="y",
                                 initializers=[onnx_text.tensor("b", "f4", [4, 3], b.tobytes())]))
    model = nereid.load(data)
    check([v.name for v in model.inputs] == ["x"], f"inputs of ONNX: {model.inputs}")
    for n in (3, 7):
        got = model.run({"x": rows(n)})[0]
        check(np.allclose(got, np.maximum(rows(n) @ b, 0)), f"a model of ONNX, {n} rows")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        path.write_bytes(data)
        check(np.allclose(nereid.load(path)(rows(3)), np.maximum(rows(3) @ b, 0)), "its file")
    data = pathlib.Path("/usr/share/libonnx-testdata/data/node")
    names = ("test_matmul_2d", "test_softmax_axis_1", "test_argmax_keepdims_example")
    if not data.exists():
        print("skipped: ONNX's own tests, which libonnx-testdata has")
    for name in names if data.exists() else ():
        folder = data / name
        *values, want = [onnx_value(path)
                         for kind in ("input", "output")
                         for path in sorted((folder / "test_data_set_0").glob(f"{kind}_*.pb"))]
        got = nereid.load(folder / "model.onnx")(*values)
        check(np.allclose(got, want, atol=1e-5), f"{name} of ONNX's tests")


def check_numpy_numbers():
    """A number of NumPy's describes memory of an array that is gone once it is described."""
    node = onnx_text.node
    made = onnx_text.model([node("Range", "a b c", "y"), node("Mul", "y x", "z")],
                           {**{n: onnx_text.type_of(1, []) for n in "abcx"}},
                           {"z": onnx_text.f32("n")}, opset=18)
    model = nereid.load(made, device="interp")
    for a, b, c, x in ((1, 5, 2, 3), (0, 1, 0.25, 1), (5, 1, -1, 0.5), (1, 5, 2, 4)):
        want = np.arange(a, b, c, dtype="f4") * np.float32(x)
        for kind in (np.float32, lambda v: np.array(v, "f4")):
            got = model(*map(kind, (a, b, c, x)))
            check(np.array_equal(got, want), f"numbers of NumPy: {got}, not {want}")
    data = onnx_text.model([onnx_text.node("Range", "a b c", "y")],
                           {n: onnx_text.type_of(1, []) for n in "abc"}, "y", opset=18)
    got = nereid.load(data, device="interp", inputs=[np.float32(v) for v in (2, 8, 3)])(
        np.float32(2), np.float32(8), np.float32(3))
    check(np.array_equal(got, [2, 5]), f"numbers that decide a size: {got}")


def check_windows():
    """Caches of a window have as many rows as it, which only a run tells."""
    i32, f32 = lambda *shape: onnx_text.type_of(6, shape), onnx_text.f32
    made = onnx_text.model(
        [onnx_text.node("GroupQueryAttention", "q k v pk pv last total", "y nk nv",
                        domain="com.microsoft", num_heads=1, kv_num_heads=1, local_window_size=3,
                        sliding_window_cache=1)],
        {"q": f32(1, "s", 8), "k": f32(1, "s", 8), "v": f32(1, "s", 8), "pk": f32(1, 1, "c", 8),
         "pv": f32(1, 1, "c", 8), "last": i32(1), "total": i32()}, "y nk nv",
        imports=["com.microsoft:1"])
    model = nereid.load(made, device="interp")

    def run(rows):
        x, past = rows_of(2), np.zeros((1, 1, rows, 8), "f4")
        return model(x, x, x, past, past, np.array([1], "i4"), np.array(2, "i4"))

    def rows_of(n):
        return np.arange(8 * n, dtype="f4").reshape(1, n, 8)

    y, keys, _ = run(3)
    check(np.allclose(y[0, 0], rows_of(1)[0, 0]), f"a token sees itself: {y}")
    check(np.array_equal(keys[0, 0, :2], rows_of(2)[0]), f"rows of a window: {keys}")
    raises("a cache less than the window", nereid.errors.NereidError, lambda: run(2),
           "the caches have fewer rows than local_window_size")


def check_first_sizes():
    """On CPUs the sizes of the first run have a plan of their own, until a run has others."""
    b = np.arange(12, dtype="float32").reshape(4, 3)
    data = onnx_text.model([onnx_text.node("MatMul", "x b", "t"), onnx_text.node("Exp", "t", "y")],
                           {"x": onnx_text.f32("n", 4)}, "y",
                           [onnx_text.tensor("b", "f4", [4, 3], b.tobytes())])
    model = nereid.load(data, device="cpu")

    def right(n):
        x = rows(n) * np.float32(0.01)
        return np.allclose(model(x), np.exp(x @ b), 1e-5), f"a run of {n} rows"

    def is_open(n):
        return "n = " in model.explain(rows(n))

    raises("another dtype before the first run", nereid.NereidError,
           lambda: model(rows(3).astype("f8")), "f64")
    check(*right(5))
    check(not is_open(5), "the first sizes have a plan")
    raises("another dtype", nereid.NereidError, lambda: model(rows(5).astype("f8")), "f64")
    raises("another rank", nereid.NereidError, lambda: model(rows(5)[0]), "axes")
    check(not is_open(5), "a call that fails has no sizes")
    check(*right(5))
    for n in (7, 5, 1, 0, 5):
        check(*right(n))
    check(is_open(5) and is_open(7), "another size ends that")
    model, found = nereid.load(data, device="cpu"), []
    threads = [threading.Thread(target=lambda n=n: found.extend(right(n) for _ in range(20)))
               for n in (4, 4, 6, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(len(found) == 80 and all(f[0] for f in found), "threads with other sizes at once")
    with_interp = nereid.load(data, device="interp")
    check("n = 3" in with_interp.explain(rows(3)), "interpreters have the open plan at once")


def check_names():
    """Inputs have the names of ONNX's file, which need not be Python's."""
    names = ["input", "bytes", "type", "id", "mask", "images:0", "a/b", "a.b", "a_b", "2", "é"]
    data = onnx_text.model([onnx_text.node("Sum", " ".join(names), "y:0/a")], outputs="y:0/a",
                           inputs={name: onnx_text.f32("n", 4) for name in names})
    given = {name: rows(2) * 2**i for i, name in enumerate(names)}
    want = rows(2) * (2**len(names) - 1)
    model = nereid.load(data, device="cpu")
    check([v.name for v in model.inputs] == names, f"names of ONNX: {model.inputs}")
    for made in (model, nereid.load(model.bytes("cpu"), device="cpu")):
        check(np.array_equal(made.run(given)[0], want), "inputs by the names of the file")
        check([v.name for v in made.outputs] == ["y:0/a"], f"names of outputs: {made.outputs}")
        out = np.zeros((2, 4), "float32")
        made.run(given, out={"y:0/a": out})
        check(np.array_equal(out, want), "an output by the name of the file")
        check(np.array_equal(made(*given.values()), want), "the same by their positions")
    raises("a name of the text", TypeError, lambda: model.run({**given, "input_1": 1}), "no input")
    raises("a missing input", TypeError, lambda: model.run({"input": rows(2)}), "'bytes'")


def check_choices():
    """Bytes are refused, if that is wanted, where records might choose another plan."""
    from nereid import _nereid
    from nereid.runtime import driver

    made, cpu = nereid.load(TEXT, device="cpu").bytes("cpu"), driver.device("cpu")
    before = os.environ.get("NEREID_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NEREID_CACHE_DIR"] = folder
        check(_nereid.Executable.from_bytes(made, cpu, None, True) is not None, "without records")
        pathlib.Path(folder, "records.db").touch()
        check(_nereid.Executable.from_bytes(made, cpu, None) is not None, "with records")
        raises("records that may choose", nereid.NereidError,
               lambda: _nereid.Executable.from_bytes(made, cpu, None, True),
               "this machine may choose another plan than these bytes have: compile the model "
               "again")
    os.environ.pop("NEREID_CACHE_DIR")
    if before is not None:
        os.environ["NEREID_CACHE_DIR"] = before


def check_items():
    node, f32 = onnx_text.node, onnx_text.f32
    nodes = [node("ConcatFromSequence", "x", "a", axis=0), node("OptionalHasElement", "o", "there"),
             node("If", "there", "y",
                  then_branch=onnx_text.graph([node("Mul", "a o", "t")], outputs="t"),
                  else_branch=onnx_text.graph([node("Neg", "a", "u")], outputs="u"))]
    data = onnx_text.model(nodes, outputs="y x o", inputs={
        "x": onnx_text.sequence(f32("n", 4)), "o": onnx_text.optional(f32(4))})
    x, o = [rows(1), rows(3, 5)], rows(1)[0] + 1
    whole = np.concatenate(x)
    for options in ({"items": {"x": 2}}, {"inputs": {"x": x, "o": o}}):
        model = nereid.load(data, device="cpu", **options)
        check([v.name for v in model.inputs] == ["x_0", "x_1", "o"], f"items: {model.inputs}")
        for got in (model(x, o), model({"x": x, "o": o}), model(x=tuple(x), o=o), model(*x, o),
                    nereid.load(model.bytes("cpu"), device="cpu")({"x": x, "o": o})):
            check(np.array_equal(got[0], whole * o), f"a sequence and an optional tensor: {got}")
            check(all(map(np.array_equal, got[1:], (*x, o))), f"a sequence that is returned: {got}")
    for options in ({"items": {"x": 2, "o": None}}, {"inputs": {"x": x, "o": None}}):
        model = nereid.load(data, device="cpu", **options)
        for got in (model(x, None), model(x), model({"x": x, "o": None}), model({"x": x})):
            check(np.array_equal(got[0], -whole) and got[3] is None, f"an absent one: {got}")
    error = nereid.NereidError
    raises("a number that is not stated", error, lambda: nereid.load(data), "x", "items={...}")
    raises("no such sequence", error, lambda: nereid.load(data, items={"x": 2, "z": 1}), "`z`")
    raises("two optional ones", error, lambda: nereid.load(data, items={"x": 2, "o": 2}),
           "1 or none")
    raises("two numbers", TypeError,
           lambda: nereid.load(data, items={"x": 3}, inputs={"x": x}), "'x'")
    raises("items of a text", error, lambda: nereid.load(TEXT, items={"x": 2}), "`x`")
    raises("items of an executable", TypeError,
           lambda: nereid.load(model.bytes("cpu"), items={"x": 2}), "items=")
    raises("too many", TypeError, lambda: model({"x": [*x, o]}), "'x' has 3 items", "for 2")
    raises("too many by position", error, lambda: model([*x, o]), "2 inputs, not 3")
    raises("no such list", TypeError, lambda: model({"x": x, "z": x}), "'z' is no input")


# ---- PyTorch ----


def check_packed_for_cpu():
    """Weights of four bits in PyTorch's layout for CPUs, packed before and in the program."""
    ops = torch.ops.aten

    class Packed(torch.nn.Module):
        def forward(self, x, q, scales):
            if q.dtype == torch.int32:
                q = ops._convert_weight_to_int4pack_for_cpu(q, 1)
            return ops._weight_int4pack_mm_for_cpu(x, q, 32, scales)

    for n, k, dtype in (64, 64, torch.float32), (176, 96, torch.bfloat16), (48, 64, torch.float16):
        q = torch.randint(0, 16, (n, k), dtype=torch.int32)
        packed = ops._convert_weight_to_int4pack_for_cpu(q, 1)
        scales = (torch.rand(k // 32, n, 2) + 0.1).to(dtype)
        x = torch.randn(3, k).to(dtype)
        want = Packed()(x, packed, scales).double()
        for given in packed, q:
            torch._dynamo.reset()
            program = nereid.load(torch.export.export(Packed(), (x, given, scales)))
            for name, call in ("exported", program), ("compiled",
                                                     torch.compile(Packed(), backend="nereid")):
                off = ((call(x, given, scales).double() - want).norm() / want.norm()).item()
                most = 1e-5 if dtype == torch.float32 else 6e-3
                check(off < most, f"packed for CPUs, {name}, {n} by {k}, {given.dtype}: {off}")


def check_torch():
    if torch is None:
        print("skipped: no torch")
        return
    torch.manual_seed(0)
    check_packed_for_cpu()
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
    x, more = torch.randn(5, 16), torch.randn(33, 16)
    size = torch.export.Dim("n", min=2, max=64)
    program = torch.export.export(net, (x,), dynamic_shapes=({0: size},))

    def close(got, given):
        return torch.allclose(got, net(given), atol=1e-5)

    model = nereid.load(program)
    check(isinstance(model(x), torch.Tensor) and close(model(x), x), "an exported program")
    check(close(model(more), more), "another size")
    check(isinstance(model(x.numpy()), np.ndarray), "NumPy's arrays give such")
    check(close(model(torch.nn.Parameter(x)), x), "a tensor with a gradient")
    check(close(model(x.t().contiguous().t()), x), "a strided tensor")
    negated = torch.complex(x, x).conj().imag
    for given in (model, nereid.load(program, device="cpu")):
        check(negated.is_neg() and close(given(negated), negated), "elements negated in memory")
    out = torch.empty(5, 8)
    check(model.run(x, out=[out])[0] is out and close(out, x), "an output that is given")
    check(close(nereid.load(model.bytes("cpu"))(x), x), "a program's executable as bytes")
    check(close(nereid.load(net, inputs=(x,))(x), x), "a module")
    check(close(nereid.load(torch.fx.symbolic_trace(net), inputs=(x,))(x), x), "a traced module")
    raises("a module without inputs", TypeError, lambda: nereid.load(net), "inputs=")
    from torch.fx.experimental.proxy_tensor import make_fx

    traced = make_fx(net, tracing_mode="symbolic", _allow_non_fake_inputs=True)(x)
    lifted = nereid.load(traced)
    check(len(lifted.inputs) == 1 and close(lifted(x), x), "a graph of ATen's operators")
    check(close(lifted(more), more), "another size of it")
    with torch.no_grad():
        net[0].bias += 1
    check(close(lifted(x), x), "its parameters are the module's")
    raises("its parameters stay here", TypeError, lambda: lifted.bytes("cpu"), "export it first")


CONVOLUTION = """class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 9, 9, 32]", w: "f32[48, 32, 3, 3]"):
        y = torch.ops.aten.permute.default(x, [0, 3, 1, 2])
        c = torch.ops.aten.conv2d.default(y, w, None, [1, 1], [1, 1])
        d = torch.ops.aten.permute.default(c, [0, 2, 3, 1])
        return d
"""


def rounded(x):
    """To TF32, halves away from 0."""
    bits = (x.view(np.int32) + 0x1000) & -0x2000
    return np.where(np.isnan(x), x, bits.view(np.float32)).astype(np.float64)


def check_rounded():
    """A GPU's plan of a convolution in TF32 rounds operands before units cut them; NaN stays."""
    model = nereid.load(CONVOLUTION, libraries="none")
    model._options["tf32"] = 3
    plan = model._emit("plan", "cuda")
    check('input_precision="tf32")' in plan and "BI: " in plan, "operands are rounded before")
    draw = np.random.default_rng(1).normal
    x, w = (draw(size=v.shape).astype(np.float32) for v in model.inputs)
    x.flat[[3, 2000]] = np.nan, np.inf
    x.view(np.int32).flat[4000] = 0x7f800001  # NaN, by a bit that units cut
    padded = np.pad(rounded(x), ((0, 0), (1, 1), (1, 1), (0, 0)))
    with np.errstate(invalid="ignore"):
        want = sum(padded[:, i:i + 9, j:j + 9] @ rounded(w)[:, :, i, j].T
                   for i in range(3) for j in range(3))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "conv.plan")
        path.write_text(plan)
        for name, value in (("x", x), ("w", w)):
            np.save(f"{folder}/{name}.npy", value)
        done = subprocess.run([NEREID, "graph", path, f"{folder}/x.npy", f"{folder}/w.npy",
                               "--device", "nest", "--out-dir", folder], capture_output=True,
                              text=True)
        check(done.returncode == 0, f"a plan in TF32: {done.stderr}")
        got = np.load(f"{folder}/output_0.npy")
    check(np.allclose(got, want, rtol=1e-5, atol=1e-5, equal_nan=True), "values in TF32")


class Structure:
    """What has the structure of an array, but no dtype of NumPy's."""

    @property
    def __array_struct__(self):
        return W.__array_struct__


class Bits:
    """16 bits of each element, of a dtype by name, as arrays of the package ml_dtypes are."""

    def __init__(self, bits, name):
        self.__array_interface__ = {**bits.__array_interface__, "typestr": "<V2"}
        self.dtype, self.bits = type("dtype", (), {"name": name}), bits


def check_narrow():
    program = onnx_text.model([onnx_text.node("Cast", "x", "y", to=1)],
                              {"x": onnx_text.type_of(16, ["n"])}, "y")
    x = np.arange(5, dtype="f4") - 2
    model, bits = nereid.load(program), (x.view("u4") >> 16).astype("u2")
    check((model(Bits(bits, "bfloat16")) == x).all(), "bf16 by its dtype's name")
    raises("other elements of two bytes", TypeError, lambda: model(Bits(bits, "complex16")), "V2")
    back = nereid.load(onnx_text.model([onnx_text.node("Cast", "x", "y", to=16)],
                                       {"x": onnx_text.f32("n")}, "y"))
    raises("a result that NumPy has no dtype for", TypeError, lambda: back(x), "ml_dtypes")


def check_lazy():
    """Loading a model needs neither NumPy nor PyTorch."""
    code = (f"import sys, nereid; m = nereid.load({TEXT!r}); m.inputs; "
            "print('numpy' in sys.modules, 'torch' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
    check(done.stdout == "False False\n", f"without NumPy: {done.stdout}{done.stderr}")


for test in (check_values, check_runs, check_devices, check_sizes_of_data, check_threads,
             check_large_inputs, check_mistakes, check_files, check_build, check_build_narrowed,
             check_kernel, check_onnx, check_numpy_numbers, check_windows, check_first_sizes,
             check_names, check_items, check_choices, check_torch, check_rounded, check_narrow,
             check_lazy):
    test()
sys.exit(report())
