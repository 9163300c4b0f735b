#!/usr/bin/env python3
"""Sums of tensors whose elements are replaced in parts, against NumPy.

    joined_parts.py [--devices interp,nest,cpu] [--count N] [SEED...]

Graph i is a function of i alone: a sum, as a random tree, of one to six tensors of zeros, of which
each has a part replaced; some parts have elements in common, some sums have a factor, an operand of
another kind, or a base that is not zero.  Sums inside are used again.  All results are exact.
"""
import argparse, os, pathlib, random, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402
from quick_cc import quick_compiler  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
DTYPES = {"f32": np.float32, "i64": np.int64, "f16": np.float16}
TORCH = {"f32": "float32", "i64": "int64", "f16": "float16"}


class Program:
    def __init__(self, seed):
        self.rng, numpy = random.Random(seed), np.random.default_rng(seed)
        self.kind = self.rng.choice(list(DTYPES))
        self.shape = [self.rng.randint(1, 6) for _ in range(self.rng.randint(1, 4))]
        self.axis = self.rng.randrange(len(self.shape))
        self.inputs, self.values, self.lines, self.numpy = {}, {}, [], numpy
        terms = self.terms()
        while len(terms) > 1:
            a = terms.pop(self.rng.randrange(len(terms)))
            b = terms.pop(self.rng.randrange(len(terms)))
            alpha = self.rng.choice([1] * 9 + [2])
            more = f", alpha={alpha}" if alpha != 1 else ""
            terms.append(self.add(f"add.Tensor({a}, {b}{more})",
                                  self.values[a] + self.values[b] * self.dtype(alpha)))
        self.outputs = [terms[0]]
        if self.rng.random() < 0.3:
            self.outputs += [self.rng.choice(list(self.values))]

    def dtype(self, x):
        return DTYPES[self.kind](x)

    def add(self, call, value):
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = torch.ops.aten.{call}")
        self.values[name] = value
        return name

    def input(self, shape):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.values[name] = self.numpy.integers(-4, 5, shape).astype(
            DTYPES[self.kind])
        return name

    def ranges(self):
        """Parts beside each other with gaps, in any order; at times one that others touch."""
        size, at, found = self.shape[self.axis], 0, []
        while at < size and len(found) < 6:
            start = at + self.rng.choice([0, 0, 1])
            end = min(size, start + self.rng.choice([1, 1, 2, 3]))
            if start < end:
                found.append((start, end))
            at = end
        if self.rng.random() < 0.2:
            found.append((0, size))
        self.rng.shuffle(found)
        return found or [(0, size)]

    def terms(self):
        terms = [self.part(*r) for r in self.ranges()]
        if self.rng.random() < 0.1:
            terms.append(self.input(self.shape))
        return terms

    def part(self, start, end):
        axis, size = self.axis, self.shape[self.axis]
        fill = 3 if self.rng.random() < 0.05 else 0
        base = self.add(f"full.default({self.shape}, {fill}, dtype=torch.{TORCH[self.kind]})",
                        np.full(self.shape, fill, DTYPES[self.kind]))
        value = self.values[base].copy()
        at = (slice(None),) * axis
        named = axis - len(self.shape) * (self.rng.random() < 0.3)
        if end == start + 1 and self.rng.random() < 0.6:
            x = self.input(self.shape[:axis] + self.shape[axis + 1:])
            value[at + (start,)] = self.values[x]
            index = start - size * (self.rng.random() < 0.3)
            return self.add(f"select_scatter.default({base}, {x}, {named}, {index})", value)
        x = self.input(self.shape[:axis] + [end - start] + self.shape[axis + 1:])
        value[at + (slice(start, end),)] = self.values[x]
        last = 2 ** 63 - 1 if end == size and self.rng.random() < 0.5 else end
        return self.add(f"slice_scatter.default({base}, {x}, {named}, {start}, {last})", value)

    def text(self):
        params = ", ".join(f'{n}: "{self.kind}{list(x.shape)}"' for n, x in self.inputs.items())
        body = "\n        ".join(self.lines)
        return (f"class M(torch.nn.Module):\n    def forward(self, {params}):\n        {body}\n"
                f"        return ({', '.join(self.outputs)},)\n")


def problem(folder, device, p):
    model = pathlib.Path(folder, "m.py")
    model.write_text(p.text())
    files = [pathlib.Path(folder, f"{n}.npy") for n in p.inputs]
    for file, x in zip(files, p.inputs.values()):
        np.save(file, x)
    done = subprocess.run([NEREID, "graph", model, *files, "--device", device, "--out-dir", folder],
                          capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    for i, name in enumerate(p.outputs):
        got = np.load(pathlib.Path(folder, f"output_{i}.npy"))
        if got.dtype != DTYPES[p.kind] or not np.array_equal(got, p.values[name]):
            return f"output {i} ({name}):\n{got}\nis not\n{p.values[name]}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,nest,cpu")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("seeds", nargs="*", type=int)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder, "-O0")
        for device in args.devices.split(","):
            count = args.count if device == "interp" else args.count // 10
            for seed in args.seeds or range(count):
                p = Program(seed)
                text = problem(folder, device, p)
                tally.check(not text, f"{seed} on {device}: {text}\n{p.text()}")
    return tally.report()


sys.exit(main())
