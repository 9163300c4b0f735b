#!/usr/bin/env python3
"""Concatenations of few and many tensors against NumPy.

    concat.py [--devices interp,nest,cpu] [--count N] [SEED...]      only these, printed

Graph i is a function of i alone: pieces of several shapes and dtypes, some of them empty, some
computed (element by element, by sums, by products), some used again, some concatenations
themselves, along any axis, also of a size that is open.  All results are exact.
"""
import argparse, os, pathlib, random, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402
from quick_cc import quick_compiler  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
DTYPES = {"f32": np.float32, "f16": np.float16, "i64": np.int64, "u8": np.uint8, "b8": np.bool_}
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}
HEAD = "class M(torch.nn.Module):\n    def forward(self, "


def nereid(*args):
    return subprocess.run([NEREID, "graph", *map(str, args)], capture_output=True, text=True)


class Program:
    """Statements as text, each computed by NumPy as it is added."""

    def __init__(self, seed):
        self.rng, self.numpy = random.Random(seed), np.random.default_rng(seed)
        self.lines, self.params, self.values, self.outputs = [], {}, {}, []
        self.dtype = self.rng.choice(list(DTYPES.values()))
        self.shape = [self.rng.randint(1, 4) for _ in range(self.rng.randint(1, 3))]
        self.axis = self.rng.randrange(len(self.shape))
        self.open = self.rng.random() < 0.3  # is the first input's size along the axis open?
        self.sizes = [self.rng.randint(1, 3) for _ in range(3)] + [0] * (self.rng.random() < 0.2)
        self.pieces = [self.input(open=self.open)]

    def input(self, open=False):
        shape = list(self.shape)
        shape[self.axis] = self.rng.choice([3] if open else self.sizes)
        x = self.numpy.integers(0, 2 if self.dtype == np.bool_ else 4, shape).astype(self.dtype)
        name = f"x{len(self.params)}"
        text = [str(n) for n in shape]
        if open:
            text[self.axis] = "s0"
        self.params[name] = f'{NAMES[x.dtype]}[{", ".join(text)}]'
        self.values[name] = x
        return name

    def add(self, call, value):
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = torch.ops.aten.{call}")
        self.values[name] = value
        return name

    def computed(self, name):
        x = self.values[name]
        rank, open = x.ndim, name == "x0" and self.open
        kind = self.rng.choice(["max", "sum", "mm", "slice", "permute"])
        if kind == "sum" and not open and x.dtype == np.float32 and x.size:
            whole = self.add(f"mul.Tensor({name}, 2)", x * x.dtype.type(2))
            wide = self.add(f"unsqueeze.default({whole}, 0)", self.values[whole][None])
            both = self.add(f"expand.default({wide}, [3, {', '.join(map(str, x.shape))}])",
                            np.broadcast_to(self.values[wide], (3, *x.shape)))
            return self.add(f"sum.dim_IntList({both}, [0])", self.values[both].sum(0))
        if kind == "mm" and not open and rank == 2 and x.dtype == np.float32 and x.size:
            square = self.numpy.integers(-1, 2, (x.shape[1],) * 2).astype(np.float32)
            by = f"x{len(self.params)}"
            self.params[by] = f"f32[{x.shape[1]}, {x.shape[1]}]"
            self.values[by] = square
            return self.add(f"mm.default({name}, {by})", x @ square)
        if kind == "slice" and not open and x.shape[self.axis] > 1:
            part = x[(slice(None),) * self.axis + (slice(1, None),)]
            return self.add(f"slice.Tensor({name}, {self.axis}, 1, {x.shape[self.axis]})", part)
        if kind == "permute" and rank > 1 and x.shape[0] == x.shape[1] and not open:
            return self.add(f"transpose.int({name}, 0, 1)", x.swapaxes(0, 1))
        return self.add(f"maximum.default({name}, {name})", x)

    def cat(self, count):
        names = [self.rng.choice(self.pieces) if self.rng.random() < 0.3 else
                 self.input() if self.rng.random() < 0.5 else
                 self.computed(self.rng.choice(self.pieces)) for _ in range(count)]
        axis = self.axis - len(self.shape) * (self.rng.random() < 0.3)
        made = self.add(f"cat.default([{', '.join(names)}], {axis})",
                        np.concatenate([self.values[n] for n in names], self.axis))
        self.pieces += [n for n in names if n not in self.pieces][:5]
        return made

    def text(self):
        params = ", ".join(f'{n}: "{t}"' for n, t in self.params.items())
        body = "\n        ".join(self.lines)
        return f"{HEAD}{params}):\n        {body}\n        return ({', '.join(self.outputs)},)\n"


def program(seed):
    p = Program(seed)
    first = p.cat(p.rng.choice([2, 15, 17, 40, 70]))
    second = p.cat(p.rng.choice([3, 17, 20]))
    both = p.add(f"cat.default([{', '.join([first, second] * 10)}], {p.axis})",
                 np.concatenate([p.values[first], p.values[second]] * 10, p.axis))
    p.outputs = [p.add(f"maximum.default({n}, {n})", p.values[n]) for n in (first, both)]
    p.outputs += p.rng.sample([second, first, both, second], p.rng.randint(0, 4))
    return p


def problem(folder, device, p):
    model = pathlib.Path(folder, "m.py")
    model.write_text(p.text())
    files = [pathlib.Path(folder, f"{n}.npy") for n in p.params]
    for file, name in zip(files, p.params):
        np.save(file, p.values[name])
    done = nereid(model, *files, "--device", device, "--out-dir", folder)
    if done.returncode:
        return done.stderr
    for i, name in enumerate(p.outputs):
        got = np.load(pathlib.Path(folder, f"output_{i}.npy"))
        if not np.array_equal(got, p.values[name]):
            return f"output {i} ({name}):\n{got}\nis not\n{p.values[name]}"
    return ""


def check_weights(folder):
    """Weights alone are put together once; with a piece that varies, in each run."""
    model = ROOT / "tests/models/mlp"
    file = pathlib.Path(folder, "weights.py")
    for pieces in (["w"] * 20, ["w"] * 20 + ["u"]):
        file.write_text(f"""class M(torch.nn.Module):
    def forward(self, p_0_weight: "f32[512, 256]", input: "f32[32, 256]"):
        w = torch.ops.aten.view.default(p_0_weight, [-1])
        u = torch.ops.aten.view.default(input, [-1])
        c = torch.ops.aten.cat.default([{', '.join(pieces)}])
        d = torch.ops.aten.neg.default(c)
        k = torch.ops.aten.clone.default(p_0_weight)
        return (d, k)
""")
        weights = ["--weights", model / "model.pt2"]
        plan = nereid(file, *weights, "--emit", "plan").stdout
        once = "\nonce k" in plan
        tally.check(once == ("u" not in pieces), f"{once}: put together once")
        x = model / "input_0.npy"
        done = nereid(file, x, *weights, "--device", "interp", "--out-dir", folder)
        tally.check(done.returncode == 0, done.stderr)
        got, w = [np.load(pathlib.Path(folder, f"output_{i}.npy")) for i in range(2)]
        of = {"w": w.ravel(), "u": np.load(x).ravel()}
        tally.check(np.array_equal(got, -np.concatenate([of[n] for n in pieces])), "weights")


def check_large(folder):
    """The text of a plan, and what is compiled for it, of twice as many pieces."""
    size, kernels = [], []
    for n in (3000, 6000):
        names = [f"x{i}" for i in range(n)]
        file = pathlib.Path(folder, "large.py")
        params = ", ".join(f'{x}: "f32[4, 8]"' for x in names)
        file.write_text(f"{HEAD}{params}):\n        c = torch.ops.aten.stack.default("
                        f"[{', '.join(names)}], 1)\n        return (c,)\n")
        plan = nereid(file, "--emit", "plan").stdout
        size.append(len(plan))
        kernels.append(len(re.findall(r"^def k\d+", plan, re.M)))
    tally.check(size[1] < 2.2 * size[0], f"plans have {size[0]} and {size[1]} bytes")
    tally.check(kernels == [2, 2], f"{kernels} kernels")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,nest,cpu")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("seeds", nargs="*", type=int)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder, "-O0")
        for device in args.devices.split(","):
            count = args.count if device == "interp" else args.count // 10
            for seed in args.seeds or range(count):
                p = program(seed)
                if args.seeds:
                    print(p.text())
                text = problem(folder, device, p)
                tally.check(not text, f"{seed} on {device}: {text}")
        if not args.seeds:
            check_weights(folder)
            check_large(folder)
    return tally.report()


sys.exit(main())
