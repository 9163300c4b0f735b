#!/usr/bin/env python3
"""Loops that data ends against NumPy: `loops.py [NAME...]`.

Each case is a graph as text, on devices interp and cpu, fused and not, from its plan's text, and
as a C project.  Trip counts of zero are among the inputs, and what is unusual: values that are
exchanged, loops in loops and in conditions, invariants that are written to, indices that are out
of range where no iteration runs.
"""
import os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402
from quick_cc import quick_compiler  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
CASES = []


def case(inputs, *runs):
    """The function's doc is the graph's body; it computes what that returns."""
    def add(function):
        CASES.append((function.__name__, inputs, function, runs))
        return function
    return add


def vector(n, seed=0):
    return np.random.default_rng(seed).normal(size=n).astype(np.float32)


def count(n):
    return np.array(n, np.int64)


@case('x: "f32[9]", n: "i64[]"', [vector(9), count(0)], [vector(9), count(1)],
      [vector(9), count(7)])
def power(x, n):
    """
    zero = torch.ops.aten.full.default([], 0, dtype = torch.int64)
    i = nereid.carried.default(zero, 1)
    y = nereid.carried.default(x, 2)
    lt = torch.ops.aten.lt.Tensor(i, n)
    test = nereid.loop_test.default(lt, 3)
    j = torch.ops.aten.add.Tensor(i, 1)
    half = torch.ops.aten.mul.Tensor(x, 0.5)
    sin = torch.ops.aten.sin.default(y)
    z = torch.ops.aten.add.Tensor(sin, half)
    end = nereid.loop_end.default(test, [i, y], [j, z])
    r = nereid.loop_result.default(y, end)
    out = torch.ops.aten.mul.Tensor(x, 0.5)
    return (r, out)
    """
    y = x
    for _ in range(n):
        y = np.sin(y) + x * np.float32(0.5)
    return y, x * np.float32(0.5)


@case('a: "f32[2, 6]", b: "f32[6, 2]", n: "i64[]"',
      *[[vector((2, 6), 1), vector((6, 2), 2), count(k)] for k in (0, 1, 2, 5)])
def exchange(a, b, n):
    """
    zero = torch.ops.aten.full.default([], 0, dtype = torch.int64)
    i = nereid.carried.default(zero, 1)
    x = nereid.carried.default(a, 2)
    t = torch.ops.aten.permute.default(b, [1, 0])
    y = nereid.carried.default(t, 3)
    k = nereid.carried.default(b, 4)
    lt = torch.ops.aten.lt.Tensor(i, n)
    test = nereid.loop_test.default(lt, 5)
    j = torch.ops.aten.add.Tensor(i, 1)
    end = nereid.loop_end.default(test, [i, x, y, k], [j, y, x, k])
    p = nereid.loop_result.default(x, end)
    q = nereid.loop_result.default(y, end)
    s = nereid.loop_result.default(k, end)
    d = torch.ops.aten.sub.Tensor(p, q)
    return (p, d, s)
    """
    x, y = a, b.T
    for _ in range(n):
        x, y = y, x
    return x, x - y, b


@case('x: "f32[5]", n: "i64[]"', *[[vector(5, 3), count(k)] for k in (0, 1, 4)])
def nested(x, n):
    """
    zero = torch.ops.aten.full.default([], 0, dtype = torch.int64)
    i = nereid.carried.default(zero, 1)
    y = nereid.carried.default(x, 2)
    lt = torch.ops.aten.lt.Tensor(i, n)
    test = nereid.loop_test.default(lt, 3)
    cos = torch.ops.aten.cos.default(x)
    j = nereid.carried.default(zero, 4)
    z = nereid.carried.default(y, 5)
    lt2 = torch.ops.aten.le.Tensor(j, i)
    test2 = nereid.loop_test.default(lt2, 6)
    j2 = torch.ops.aten.add.Tensor(j, 1)
    z1 = torch.ops.aten.mul.Tensor(z, 0.5)
    z2 = torch.ops.aten.add.Tensor(z1, cos)
    end2 = nereid.loop_end.default(test2, [j, z], [j2, z2])
    inner = nereid.loop_result.default(z, end2)
    i2 = torch.ops.aten.add.Tensor(i, 1)
    y2 = torch.ops.aten.sub.Tensor(inner, y)
    end = nereid.loop_end.default(test, [i, y], [i2, y2])
    r = nereid.loop_result.default(y, end)
    return (r,)
    """
    y = x
    for i in range(n):
        z = y
        for _ in range(i + 1):
            z = z * np.float32(0.5) + np.cos(x)
        y = z - y
    return y,


@case('x: "f32[6]", n: "i64[]"', *[[vector(6, 4), count(k)] for k in (0, 3)])
def in_condition(x, n):
    """
    zero = torch.ops.aten.full.default([], 0, dtype = torch.int64)
    i = nereid.carried.default(zero, 1)
    y = nereid.carried.default(x, 2)
    j = nereid.carried.default(zero, 3)
    lt0 = torch.ops.aten.lt.Tensor(j, i)
    test0 = nereid.loop_test.default(lt0, 4)
    j2 = torch.ops.aten.add.Tensor(j, 2)
    end0 = nereid.loop_end.default(test0, [j], [j2])
    even = nereid.loop_result.default(j, end0)
    lt = torch.ops.aten.lt.Tensor(even, n)
    test = nereid.loop_test.default(lt, 5)
    y2 = torch.ops.aten.mul.Tensor(y, even)
    y3 = torch.ops.aten.add.Tensor(y2, x)
    i2 = torch.ops.aten.add.Tensor(i, 1)
    end = nereid.loop_end.default(test, [i, y], [i2, y3])
    a = nereid.loop_result.default(y, end)
    b = nereid.loop_result.default(i, end)
    return (a, b)
    """
    i, y = 0, x
    while (even := (i + 1) // 2 * 2) < n:
        y, i = y * even + x, i + 1
    return y, count(i)


@case('x: "f32[4, 3]", w: "f32[4, 3]", n: "i64[]"',
      *[[vector((4, 3), 5), vector((4, 3), 6), count(k)] for k in (0, 2, 3)])
def written(x, w, n):
    """
    zero = torch.ops.aten.full.default([], 0, dtype = torch.int64)
    v = torch.ops.aten.exp.default(w)
    i = nereid.carried.default(zero, 1)
    y = nereid.carried.default(x, 2)
    lt = torch.ops.aten.lt.Tensor(i, n)
    test = nereid.loop_test.default(lt, 3)
    row = torch.ops.aten.unsqueeze.default(i, 0)
    rows = torch.ops.aten.index_select.default(y, 0, row)
    put = torch.ops.aten.index_put.default(v, [row], rows, True)
    y2 = torch.ops.aten.add.Tensor(put, y)
    i2 = torch.ops.aten.add.Tensor(i, 1)
    end = nereid.loop_end.default(test, [i, y], [i2, y2])
    r = nereid.loop_result.default(y, end)
    first = torch.ops.aten.select.int(x, 0, 0)
    at = torch.ops.aten.index_put.default(r, [zero], first, True)
    return (r, at, v)
    """
    v = np.exp(w)
    y = x
    for i in range(n):
        put = v.copy()
        put[i] += y[i]
        y = put + y
    at = y.copy()
    at[0] += x[0]
    return y, at, v


@case('x: "f32[4]", k: "i64[2]", n: "i64[]"',
      [vector(4, 7), np.array([9, -9]), count(0)], [vector(4, 7), np.array([1, -1]), count(2)],
      [vector(4, 7), np.array([1, 4]), count(2), "index 4 at [1] of k is out of range"])
def indices(x, k, n):
    """
    zero = torch.ops.aten.full.default([], 0, dtype = torch.int64)
    sum0 = torch.ops.aten.full.default([2], 0.0)
    i = nereid.carried.default(zero, 1)
    s = nereid.carried.default(sum0, 2)
    lt = torch.ops.aten.lt.Tensor(i, n)
    test = nereid.loop_test.default(lt, 3)
    at = torch.ops.aten.index.Tensor(x, [k])
    s2 = torch.ops.aten.add.Tensor(s, at)
    i2 = torch.ops.aten.add.Tensor(i, 1)
    end = nereid.loop_end.default(test, [i, s], [i2, s2])
    r = nereid.loop_result.default(s, end)
    return (r,)
    """
    return np.zeros(2, np.float32) if n == 0 else x[k] * np.float32(n),


@case('x: "f32[s0, 4]", w: "f32[4, 4]"', [vector((3, 4), 8), vector((4, 4), 9)],
      [vector((1, 4), 8), vector((4, 4), 9)])
def open_size(x, w):
    """
    one = torch.ops.aten.full.default([], 0.0)
    y = nereid.carried.default(x, 1)
    e = nereid.carried.default(one, 2)
    lt = torch.ops.aten.lt.Scalar(e, 50.0)
    test = nereid.loop_test.default(lt, 3)
    mm = torch.ops.aten.mm.default(y, w)
    z = torch.ops.aten.add.Tensor(mm, y)
    a = torch.ops.aten.abs.default(z)
    m = torch.ops.aten.amax.default(a, [0, 1])
    end = nereid.loop_end.default(test, [y, e], [z, m])
    r = nereid.loop_result.default(y, end)
    return (r,)
    """
    y, e = x, 0.0
    while e < 50.0:
        y = y @ w + y
        e = np.abs(y).max()
    return y,


@case('x: "f32[4, 8]", w: "f32[16, 8]", v: "f32[8, 8]", n: "i64[]"',
      *[[vector((4, 8), 13), vector((16, 8), 14) * np.float32(0.1),
         vector((8, 8), 15) * np.float32(0.1), count(k)] for k in (0, 1, 4)])
def joined(x, w, v, n):
    """
    zero = torch.ops.aten.full.default([], 0, dtype = torch.int64)
    i = nereid.carried.default(zero, 1)
    y = nereid.carried.default(x, 2)
    lt = torch.ops.aten.lt.Tensor(i, n)
    test = nereid.loop_test.default(lt, 3)
    fixed = torch.ops.aten.mm.default(x, v)
    mine = torch.ops.aten.mm.default(y, v)
    cat = torch.ops.aten.cat.default([fixed, mine], 1)
    mm = torch.ops.aten.mm.default(cat, w)
    sum_1 = torch.ops.aten.sum.dim_IntList(cat, [1], True)
    t = torch.ops.aten.add.Tensor(mm, sum_1)
    i2 = torch.ops.aten.add.Tensor(i, 1)
    end = nereid.loop_end.default(test, [i, y], [i2, t])
    r = nereid.loop_result.default(y, end)
    last = torch.ops.aten.mm.default(r, v)
    first = torch.ops.aten.mm.default(x, v)
    return (last, first)
    """
    y = x
    for _ in range(n):
        both = np.concatenate([x @ v, y @ v], 1)
        y = both @ w + both.sum(1, keepdims=True)
    return y @ v, x @ v


@case('x: "f32[1, 8, 6, 6]", w: "f32[8, 8, 3, 3]", n: "i64[]"',
      *[[vector((1, 8, 6, 6), 11), vector((8, 8, 3, 3), 12) * np.float32(0.1), count(k)]
        for k in (0, 3)])
def images(x, w, n):
    """
    zero = torch.ops.aten.full.default([], 0, dtype = torch.int64)
    c0 = torch.ops.aten.conv2d.default(x, w, None, [1, 1], [1, 1])
    i = nereid.carried.default(zero, 1)
    y = nereid.carried.default(c0, 2)
    lt = torch.ops.aten.lt.Tensor(i, n)
    test = nereid.loop_test.default(lt, 3)
    c = torch.ops.aten.conv2d.default(y, w, None, [1, 1], [1, 1])
    t = torch.ops.aten.tanh.default(c)
    i2 = torch.ops.aten.add.Tensor(i, 1)
    end = nereid.loop_end.default(test, [i, y], [i2, t])
    r = nereid.loop_result.default(y, end)
    c1 = torch.ops.aten.conv2d.default(r, w, None, [1, 1], [1, 1])
    return (r, c1)
    """
    def conv(x):
        p = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
        return sum(np.einsum("bchw,oc->bohw", p[:, :, i:i + 6, j:j + 6], w[:, :, i, j])
                   for i in range(3) for j in range(3))
    y = conv(x)
    for _ in range(n):
        y = np.tanh(conv(y))
    return y, conv(y)


def text_of(inputs, function):
    body = "\n".join("    " + line for line in function.__doc__.strip("\n ").splitlines())
    return f"class M(torch.nn.Module):\n    def forward(self, {inputs}):\n        {body.strip()}\n"


def run(*command, cwd=None):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd)


def compared(done, expected, folder, message):
    if message:
        return None if message in done.stderr else f"no message: {done.stderr}"
    if done.returncode:
        return done.stderr
    for i, want in enumerate(expected):
        got = np.load(folder / f"output_{i}.npy")
        if got.shape != np.shape(want) or not np.allclose(got, want, rtol=2e-5, atol=1e-5):
            return f"output {i} is {got}, not {want}"
    return None


class Case:
    def __init__(self, folder, inputs, function):
        self.folder, self.function = folder, function
        self.graph, self.plan = folder / "graph.py", folder / "graph.plan"
        self.graph.write_text(text_of(inputs, function))
        self.plan.write_text(run(NEREID, "graph", self.graph, "--emit", "plan", "--device",
                                 "cpu").stdout)
        self.project = folder / "project"

    def failure(self, command, inputs, out):
        message = inputs[-1] if isinstance(inputs[-1], str) else None
        arrays = [x for x in inputs if not isinstance(x, str)]
        paths = []
        for i, x in enumerate(arrays):
            paths.append(self.folder / f"in{i}.npy")
            np.save(paths[-1], x)
        with np.errstate(all="ignore"):
            expected = () if message else self.function(*arrays)
        return compared(run(*command, *paths, *out, self.folder), expected, self.folder, message)

    def build(self):
        done = run(NEREID, "build", self.graph, "-o", self.project, "--target", "cpu")
        if not done.returncode:
            done = run("make", "-s", cwd=self.project)
        return done.stderr if done.returncode else None

    def commands(self):
        for device in ("interp", "cpu"):
            for mode in ("default", "eager"):
                yield f"{device} {mode}", [NEREID, "graph", self.graph, "--device", device,
                                           "--mode", mode], ["--out-dir"]
        yield "plan", [NEREID, "graph", self.plan, "--device", "cpu"], ["--out-dir"]
        yield "project", [self.project / "model"], ["--out-dir"]


def check(what, problem):
    tally.check(problem is None, f"{what}: {problem}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder)
        for name, inputs, function, runs in CASES:
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            path = pathlib.Path(folder) / name
            path.mkdir()
            made = Case(path, inputs, function)
            check(f"{name}: build", made.build())
            for what, command, out in made.commands():
                for i, values in enumerate(runs):
                    check(f"{name} {i}: {what}", made.failure(command, values, out))
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
