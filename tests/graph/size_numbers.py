#!/usr/bin/env python3
"""Python's numbers that a graph makes of open sizes, and of what .item() reads, against Python.

    size_numbers.py [--devices interp,cpu]

A case is a number of n, a size or an element; kernels give it as a tensor, and take it as an
operand.
"""
import argparse, math, pathlib, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from ops import run_text  # noqa: E402
from quick_cc import quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

SIZES = [1, 2, 4, 7, 100]
FLOAT, WHOLE, TRUTH = "float64", "int64", "bool"
# dtype, statements whose last is the number, the same in Python
NUMBERS = [
    (FLOAT, "n / 3", lambda n: n / 3),
    (FLOAT, "1.0 / n", lambda n: 1.0 / n),
    (FLOAT, "n / 3; a * 0.1; b + n; c - 0.7", lambda n: n / 3 * 0.1 + n - 0.7),
    (FLOAT, "n / 3; -a", lambda n: -(n / 3)),
    (FLOAT, "n - 5; a / 2; b // 0.7", lambda n: (n - 5) / 2 // 0.7),
    (FLOAT, "n - 5; a / 2; b % 0.7", lambda n: (n - 5) / 2 % 0.7),
    (FLOAT, "n ** -0.5", lambda n: n ** -0.5),
    (FLOAT, "n / 3; a ** 1.7", lambda n: (n / 3) ** 1.7),
    (FLOAT, "n / 3; 0.1 ** a", lambda n: 0.1 ** (n / 3)),
    (FLOAT, "torch.sym_float(n); torch.sym_sqrt(a)", lambda n: math.sqrt(n)),
    (FLOAT, "n / 9; torch._sym_sin(a)", lambda n: math.sin(n / 9)),
    (FLOAT, "n / 9; torch._sym_log2(a)", lambda n: math.log2(n / 9)),
    (FLOAT, "n / 9; torch._sym_tanh(a)", lambda n: math.tanh(n / 9)),
    (FLOAT, "n / 2; torch.sym_max(a, 2.2)", lambda n: max(n / 2, 2.2)),
    (FLOAT, "n / 2; torch.sym_min(a, n)", lambda n: min(n / 2, n)),
    (FLOAT, "n > 4; torch.sym_ite(a, n, 0.5)", lambda n: n if n > 4 else 0.5),
    (WHOLE, "n / 2; torch.sym_int(a)", lambda n: int(n / 2)),
    (WHOLE, "n * 0.7; math.floor(a)", lambda n: math.floor(n * 0.7)),
    (WHOLE, "n * -0.7; math.ceil(a)", lambda n: math.ceil(n * -0.7)),
    (WHOLE, "n * -0.7; math.trunc(a)", lambda n: math.trunc(n * -0.7)),
    (WHOLE, "n & 31; 2 ** a; b % 11", lambda n: 2 ** (n & 31) % 11),
    (WHOLE, "n & 6; n | 9; a + b", lambda n: (n & 6) + (n | 9)),
    (WHOLE, "n << 2; n >> 1; a + b", lambda n: (n << 2) + (n >> 1)),
    (WHOLE, "n > 4; torch.sym_ite(a, 2, n)", lambda n: 2 if n > 4 else n),
    (TRUTH, "n > 4", lambda n: n > 4),
    (TRUTH, "n / 2; a != 3.5", lambda n: n / 2 != 3.5),
    (TRUTH, "n > 1; n <= 7; a & b", lambda n: 1 < n <= 7),
    (TRUTH, "n > 1; n == 1; a | b; torch.sym_not(c)", lambda n: False),
]
X = np.array([[-1.5, -0.25, 0.75, 2.5]], "f4")
# Operators on x with the float f of n, n / 3, and the truth value t, n > 4.
OPERANDS = [
    ("mul.Tensor(x, f)", lambda x, f, t: x * f),
    ("rsub.Scalar(x, f)", lambda x, f, t: f - x),
    ("add.Tensor(x, x, alpha = f)", lambda x, f, t: x + f * x),
    ("clamp.default(x, max = f)", lambda x, f, t: np.minimum(x, f)),
    ("where.ScalarOther(m, x, f)", lambda x, f, t: np.where(x > 0, x, f)),
    ("gt.Scalar(x, f)", lambda x, f, t: x > f),
    ("leaky_relu.default(x, f)", lambda x, f, t: np.where(x > 0, x, f * x)),
    ("constant_pad_nd.default(x, [1, 0], f)", lambda x, f, t: np.pad(x, ((0, 0), (1, 0)),
                                                                     constant_values=f)),
    ("full.default([2], f)", lambda x, f, t: np.full(2, f)),
    ("full_like.default(x, f)", lambda x, f, t: np.full_like(x, f)),
    ("mul.Tensor(x, t)", lambda x, f, t: x * t),
    ("scalar_tensor.default(f)", lambda x, f, t: np.array(f)),
]


def number_lines(i, case):
    dtype, text, _ = case
    lines, values = [], {}
    for k, part in enumerate(text.split("; ")):
        for letter, name in values.items():
            part = part.replace(f"{letter} ", f"{name} ").replace(f"{letter})", f"{name})")
            part = part.replace(f"{letter},", f"{name},")
            part = part[:-1] + name if part.endswith(f" {letter}") else part
            part = f"-{name}" if part == f"-{letter}" else part
        values["abc"[k:k + 1]] = f"v{i}_{k}"
        lines.append(f"v{i}_{k} = {part}")
    lines.append(f"r{i} = torch.ops.aten.full.default([], v{i}_{k}, dtype = torch.{dtype})")
    return lines


def graph(n):
    lines = [f"n = torch.ops.aten.{n}"]
    for i, case in enumerate(NUMBERS):
        lines += number_lines(i, case)
    lines += ["f = n / 3", "t = n > 4", "m = torch.ops.aten.gt.Scalar(x, 0)"]
    lines += [f"o{i} = torch.ops.aten.{call}" for i, (call, _) in enumerate(OPERANDS)]
    results = [f"r{i}" for i in range(len(NUMBERS))] + [f"o{i}" for i in range(len(OPERANDS))]
    body = "".join(f"        {line}\n" for line in lines)
    return ('class G(torch.nn.Module):\n'
            '    def forward(self, x: "f32[1, 4]", y: "f32[s0]", z: "i64[1]"):\n'
            f"{body}        return ({', '.join(results)},)\n")


def wanted(n):
    f, t = n / 3, n > 4
    numbers = [(text, np.array(of(n), dtype)) for dtype, text, of in NUMBERS]
    return numbers + [(call, np.asarray(of(X, np.float32(f), t))) for call, of in OPERANDS]


def check_value(what, got, want):
    if want.dtype == "float64" and got.dtype == "float32":
        want = want.astype("f4")
    near = {"float32": 1e-6, "float64": 1e-14}.get(str(got.dtype), 0)
    same = got.dtype == want.dtype and got.shape == want.shape
    check(same and np.allclose(got, want, near, near), f"{what}: {got}, not {want}")


def check_numbers(where, n, got):
    check(not isinstance(got, str), f"{where}: {got}")
    rows = wanted(n)
    check(len(got) == len(rows), f"{where}: {len(got)} results")
    for (what, want), value in zip(rows, [] if isinstance(got, str) else got):
        check_value(f"{what}, {where}", value, want)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="interp,cpu")
    devices = parser.parse_args().devices.split(",")
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder)
        for device in devices:
            for n in SIZES:
                for of in ("sym_size.int(y, 0)", "item.default(z)"):
                    arrays = {"x": X, "y": np.zeros(n, "f4"), "z": np.array([n])}
                    check_numbers(f"{of} = {n}, on {device}", n,
                                  run_text(folder, graph(of), arrays, ["--device", device]))
    return report()


if __name__ == "__main__":
    sys.exit(main())
