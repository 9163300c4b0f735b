#!/usr/bin/env python3
"""Graphs that write to parts of their inputs, against NumPy, whose views are views of memory.

    reinplace.py [--devices interp,cpu] [--count N] [SEED...]    only these, printed

Graph i is a function of i alone: views of a tensor, views of these, writes through any of them
(copy_, fill_, add_, index_copy_, index_add_, index_fill_, index_put_, with indices that repeat and
with masks, masked_fill_, masked_scatter_), and reads, of which some are written elsewhere, before
and after.  All results are exact.
"""
import argparse, os, pathlib, random, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
DTYPES = {"f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "u8": np.uint8}
WIDE = {np.float16: np.float32, np.uint8: np.int32}  # the dtypes of sums


class Program:
    """Statements as text, each computed by NumPy as it is added."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.lines, self.inputs, self.values, self.outputs = [], {}, {}, []
        self.views = []  # names of what writes go through
        for i in range(self.rng.randint(1, 2)):
            shape = tuple(self.rng.randint(1, 6) for _ in range(self.rng.randint(1, 4)))
            if self.rng.random() < 0.2:
                shape = shape[:2] + (20,)  # which a CPU takes as columns
            self.views.append(self.input("c", self.data(shape, self.rng.choice(list(DTYPES)))))
        self.tensors = list(self.views)

    def data(self, shape, dtype):
        return self.numpy.integers(0, 9, shape).astype(DTYPES[dtype])

    def input(self, stem, x):
        name = f"{stem}{len(self.inputs)}"
        self.inputs[name] = x.copy()
        self.values[name] = x
        return name

    def add(self, stem, call, value):
        name = f"{stem}{len(self.lines)}"
        self.lines.append(f"{name} = torch.ops.aten.{call}")
        self.values[name] = value
        return name

    # ---- views, reads ----

    def view(self):
        name = self.rng.choice(self.views)
        x = self.values[name]
        kind = self.rng.choice(["slice", "slice", "select", "transpose", "view", "unsqueeze"])
        axis = self.rng.randrange(max(x.ndim, 1))
        if kind == "unsqueeze" and x.ndim < 5:
            made = self.add("v", f"unsqueeze.default({name}, {axis})", np.expand_dims(x, axis))
        elif kind == "view" and x.flags.c_contiguous and x.ndim:
            shape = [x.size // x.shape[-1], x.shape[-1]]
            made = self.add("v", f"view.default({name}, {shape})", x.reshape(shape))
        elif kind == "transpose" and x.ndim > 1:
            other = self.rng.randrange(x.ndim)
            made = self.add("v", f"transpose.int({name}, {axis}, {other})", x.swapaxes(axis, other))
        elif kind == "select" and x.ndim:
            i = self.rng.randrange(-x.shape[axis], x.shape[axis])
            made = self.add("v", f"select.int({name}, {axis}, {i})",
                            x[(slice(None),) * axis + (i, ...)])
        elif x.ndim:
            start = self.rng.randrange(x.shape[axis])
            end, step = self.rng.randint(start + 1, x.shape[axis]), self.rng.choice([1, 1, 2])
            made = self.add("v", f"slice.Tensor({name}, {axis}, {start}, {end}, {step})",
                            x[(slice(None),) * axis + (slice(start, end, step),)])
        else:
            return name
        self.views.append(made)
        return made

    def read(self):
        name = self.rng.choice(self.views)
        x = self.values[name]
        made = self.add("r", f"mul.Tensor({name}, 2)", x * x.dtype.type(2))
        self.outputs.append(made)

    # ---- writes ----

    def source(self, shape, like):
        """A tensor of that shape: an input, or what is in some view of it at this moment."""
        fits = [n for n in self.views + self.outputs
                if self.values[n].shape == tuple(shape) and self.values[n].dtype == like.dtype]
        if fits and self.rng.random() < 0.5:
            return self.rng.choice(fits)
        return self.input("s", self.numpy.integers(0, 9, shape).astype(like.dtype))

    def indices(self, size, shape, negative):
        few = self.rng.random() < 0.5  # so that they repeat
        low = -size if negative else 0
        return self.input("i", self.numpy.integers(low, min(size, 2) if few else size, shape))

    def call(self, op, *args):
        self.lines.append(f"w{len(self.lines)} = torch.ops.aten.{op}({', '.join(map(str, args))})")

    def index_slices(self, name, x):
        axis = self.rng.randrange(x.ndim)
        op = self.rng.choice(["copy", "copy", "add", "fill"])
        shape = list(x.shape)
        shape[axis] = self.rng.choice([1, 1, 2, 3, 9, 9, 300])
        index = self.indices(x.shape[axis], shape[axis], op == "fill")
        key = (slice(None),) * axis
        if op == "fill":
            x[key + (self.values[index],)] = 4
            return self.call("index_fill_.int_Scalar", name, axis, index, 4)
        source = self.source(shape, x)
        new = self.values[source].copy()
        wide = x.astype(WIDE.get(x.dtype.type, x.dtype))
        for i, at in enumerate(self.values[index]):
            old = wide[key + (at,)] if op == "add" else 0
            wide[key + (at,)] = new[key + (i,)] + old
        x[...] = wide
        return self.call(f"index_{op}_.default", name, axis, index, source)

    def index_put(self, name, x):
        axes = [a for a in range(x.ndim) if self.rng.random() < 0.5] or [0]
        shape = [self.rng.randint(1, 3) for _ in range(self.rng.randint(1, 2))]
        if self.rng.random() < 0.1:
            shape[0] = 260
        index = [self.indices(x.shape[a], shape, True) if a in axes else None
                 for a in range(axes[-1] + 1)]
        key = tuple(slice(None) if i is None else self.values[i] for i in index)
        value = self.source(x[key].shape, x)
        accumulate = self.rng.random() < 0.4
        # Elements are written in row-major order: the last of those that repeat stays.
        new = np.broadcast_to(self.values[value], x[key].shape).copy()
        number = np.arange(x.size).reshape(x.shape)[key].ravel()
        wide = x.astype(WIDE.get(x.dtype.type, x.dtype))
        for place, v in zip(number, new.ravel()):
            at = np.unravel_index(place, x.shape)
            wide[at] = wide[at] + v if accumulate else v
        x[...] = wide
        text = ", ".join(str(i) for i in index)
        self.call("index_put_.default", name, f"[{text}]", value, accumulate)

    def masked(self, name, x):
        op = self.rng.choice(["put", "put", "fill", "scatter"])
        first = self.rng.randrange(x.ndim) if op == "put" else 0
        last = self.rng.randint(first + 1, x.ndim) if op == "put" else x.ndim
        mask = self.input("m", self.numpy.random(x.shape[first:last]) < self.rng.random())
        key = (slice(None),) * first + (self.values[mask],)
        if op == "fill":
            x[key] = 5
            return self.call("masked_fill_.Scalar", name, mask, 5)
        number = int(self.values[mask].sum())
        if op == "scatter":
            source = self.source((number + self.rng.randint(0, 2),), x)
            x[key] = self.values[source][:number].copy()
            return self.call("masked_scatter_.default", name, mask, source)
        accumulate = self.rng.random() < 0.4
        count = self.rng.choice([1, number])
        source = self.source(x.shape[:first] + (count,) + x.shape[last:], x)
        new = self.values[source].copy()
        x[key] = x[key] + new if accumulate else new
        none = "None, " * first
        return self.call("index_put_.default", name, f"[{none}{mask}]", source, accumulate)

    def write(self):
        name = self.rng.choice(self.views)
        x = self.values[name]
        kind = self.rng.choice(["copy", "copy", "fill", "add", "slices", "put", "masked"])
        if kind == "slices" and x.ndim:
            self.index_slices(name, x)
        elif kind == "masked" and x.ndim:
            self.masked(name, x)
        elif kind == "put" and x.ndim:
            self.index_put(name, x)
        elif kind == "fill":
            x[...] = 3
            self.lines.append(f"w{len(self.lines)} = torch.ops.aten.fill_.Scalar({name}, 3)")
        elif kind == "add":
            x[...] = x + x.dtype.type(1)
            self.lines.append(f"w{len(self.lines)} = torch.ops.aten.add_.Tensor({name}, 1)")
        else:
            source = self.source(x.shape, x)
            x[...] = self.values[source].copy()
            call = f"torch.ops.aten.copy_.default({name}, {source})"
            self.lines.append(f"w{len(self.lines)} = {call}")

    def finish(self):
        for name in self.tensors:  # as they are in the end, and as views of what was written
            self.outputs.append(self.add("end", f"neg.default({name})"
                                         if self.values[name].dtype != np.uint8 else
                                         f"clone.default({name})",
                                         -self.values[name] if self.values[name].dtype != np.uint8
                                         else self.values[name].copy()))
        if self.rng.random() < 0.3:
            self.outputs.append(self.rng.choice(self.views))

    def text(self):
        types = {np.dtype(v): k for k, v in DTYPES.items()} | {np.dtype(bool): "b8"}
        params = ", ".join(f'{n}: "{types[x.dtype]}[{", ".join(map(str, x.shape))}]"'
                           for n, x in self.inputs.items())
        body = "\n        ".join(self.lines)
        returned = ", ".join(self.outputs) + ","
        return (f"class M(torch.nn.Module):\n    def forward(self, {params}):\n        {body}\n"
                f"        return ({returned})\n")


def program(seed):
    p = Program(seed)
    for _ in range(p.rng.randint(3, 14)):
        p.rng.choice([p.view, p.view, p.write, p.write, p.read])()
    p.finish()
    return p


def run(folder, device, p):
    model = pathlib.Path(folder, "m.py")
    model.write_text(p.text())
    files = [pathlib.Path(folder, f"{n}.npy") for n in p.inputs]
    for file, x in zip(files, p.inputs.values()):
        np.save(file, x)
    command = [NEREID, "graph", model, *files, "--device", device, "--out-dir", folder]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        # Strides are no part of a graph: what may be a view or a copy of a view is refused.
        refused = "may be a view or a copy" in done.stderr
        return "" if refused else done.stderr
    for i, name in enumerate(p.outputs):
        got = np.load(pathlib.Path(folder, f"output_{i}.npy"))
        want = p.values[name]
        if not np.array_equal(got.reshape(-1), np.ascontiguousarray(want).reshape(-1)):
            return f"output {i} ({name}):\n{got}\nis not\n{want}"
    return ""


def plan(text, folder):
    model = pathlib.Path(folder, "m.py")
    model.write_text(text)
    command = [NEREID, "graph", model, "--emit", "plan"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def copies(text, folder):
    """How many updates are copies of whole tensors."""
    return len(re.findall("^update ", plan(text, folder), re.M))


# Updates of a part of x, an f16[4096, 64].
PARTS = [
    "index_copy_.default(x, 0, i, rows)",
    "index_add_.default(x, 0, i, rows)",
    "index_fill_.int_Scalar(x, 1, i, 2)",
    "index_put_.default(x, [i], rows)",
    "index_put_.default(x, [i], rows, True)",
    "index_put_.default(x, [i, i], row, True)",
    "index_put_.default(x, [m], one)",
    "index_put_.default(x, [None, n], one)",
    "masked_fill_.Scalar(x, mn, 2)",
]


def whole_copy(call, folder):
    """What is copied in a model that updates a part: nothing of the tensor's size may be."""
    text = plan('''class M(torch.nn.Module):
    def forward(self, x: "f16[4096, 64]", i: "i64[3]", rows: "f16[3, 64]", row: "f16[3]",
                one: "f16[]", m: "b8[4096]", n: "b8[64]", mn: "b8[4096, 64]"):
        y = torch.ops.aten.''' + call + '''
        return (one,)
''', folder)
    return re.findall(r'^(?:update|temporary.*"\w+\[4096, 64\]").*', text, re.M)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("seeds", nargs="*", type=int)
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder)
        for call in PARTS:
            copied = whole_copy(call, folder)
            passed += not copied
            failed += bool(copied)
            if copied:
                print(f"FAIL {call}: {copied}", flush=True)
        for device in args.devices.split(","):
            count = args.count if device != "cpu" else args.count // 6
            for seed in args.seeds or range(count):
                p = program(seed)
                if args.seeds:
                    print(p.text(), copies(p.text(), folder), "updates are copies")
                problem = run(folder, device, p)
                passed += not problem
                failed += bool(problem)
                if problem:
                    print(f"FAIL {seed} on {device}: {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
