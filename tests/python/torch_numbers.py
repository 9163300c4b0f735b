#!/usr/bin/env python3
"""Numbers that .item() and .tolist() read, as operands: random programs through torch.compile and
from exported programs, against eager PyTorch.

    torch_numbers.py [--count N] [--seed S]

A program reads an integer, which may be negative, a float and a truth value, computes further
numbers of them, and gives those to operators.  PyTorch runs none of its nodes.
"""
import argparse, contextlib, io, logging, math, os, pathlib, random, sys, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None

# Numbers of an integer n, a float f and a truth value t.
NUMBERS = ["n", "f", "int(t)", "n * 3 - 7", "n // 3", "n // -3", "n % 5", "n % -5", "-n", "n + f",
           "f * f - 1.5", "n / 3", "2.0 - f", "max(n, 3)", "min(n, -1)", "n * n + n",
           "math.floor(n / 4)", "n * 2**33"]
# Operators on x, a tensor of some dtype, m, a mask, and p and q, numbers.
CALLS = """
x + p; x - p; p - x; x * p; p * x; x / p; p / x; x // p; x % p; x > p; p >= x; x == p; x != p
torch.where(m, x, p); torch.where(m, p, x); torch.where(m, p, q); x.masked_fill(m, p)
x.clamp(p); x.clamp(max=p); x.clamp(p, q); x.clamp_min(p); x.clamp_max(p)
torch.full((3, 4), p); torch.full((2,), p, dtype=torch.float64); torch.full_like(x, p)
x.new_full((2, 2), p); torch.tensor(p) + x; torch.arange(6) * p; torch.add(x, x, alpha=p)
torch.sub(x, x + 1, alpha=p); torch.rsub(x, p); torch.lerp(x.float(), x.float() + 1, p)
F.leaky_relu(x.float(), p); F.threshold(x, p, q); F.elu(x.float(), alpha=p)
F.hardshrink(x.float(), p); torch.addcmul(x.float(), x.float(), x.float(), value=p)
torch.addcdiv(x.float(), x.float(), x.float().exp(), value=p); torch.fmod(x, p)
torch.remainder(x, p); torch.clamp(x + p, p, q) * q; x.fill_(p) + 1; (x * p).sum(0) - q
torch.maximum(x, torch.full_like(x, p)); x.sum() * p; (x + p) @ (x * q)
torch.arange(n, n + 5); torch.arange(n, n + 12, 3) * x.sum(); torch.arange(-n, 4 - n).flip(0)
x.clone().masked_fill_(m, p).mul_(q); torch.where(m, torch.tensor(p), x); x.clone().float().add_(p)
torch.stack([torch.tensor(p), torch.tensor(q)]); torch.hypot(x.float(), torch.tensor(float(p)))
torch.addmm(x.float(), x.float(), x.float(), alpha=p); F.hardtanh(x.float(), -9.0, 9.0) * p
"""
CALLS = [call.strip() for line in CALLS.strip().splitlines() for call in line.split(";")]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32"]
READS = ["n, f, t = a.item(), b.item(), c.item()",
         "n, k = torch.stack([a, a + 2]).tolist(); f, t = b.item(), c.item()",
         "n, f, t = a.view(1).item(), b.double().item(), (a > 1).item()"]
VALUES = [(7, 0.75, True), (-4, 1.5, False), (2, -2.25, True), (-9, 3.0, True)]


def source(rng):
    """The text of a program, and the dtype of x."""
    calls = rng.sample(CALLS, rng.randint(1, 3))
    numbers = [rng.choice(NUMBERS) for _ in range(2)]
    results = ", ".join(f"r{i}" for i in range(len(calls)))
    lines = [rng.choice(READS), f"p, q = {numbers[0]}, {numbers[1]}", "m = x > 0"]
    lines += [f"r{i} = {call.replace('x.fill_', 'x.clone().fill_')}" for i, call in
              enumerate(calls)]
    body = "".join(f"    {line}\n" for line in lines)
    return f"def program(x, a, b, c):\n{body}    return {results},\n", rng.choice(DTYPES)


def function_of(text):
    import torch.nn.functional as F

    names = {"torch": torch, "F": F, "math": math}
    exec(text, names)
    return names["program"]


def arguments(values, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(4, 4, generator=generator) * 3
    n, f, t = values
    return x.to(getattr(torch, dtype)), torch.tensor(n), torch.tensor(f), torch.tensor(t)


def outcome(call, arguments):
    """The results, or the error."""
    try:
        results = call(*arguments)
        return [results] if torch.is_tensor(results) else list(results)
    except Exception as error:  # eager mode's, and ours
        return error


def same(got, want):
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{got.dtype} {list(got.shape)}, not {want.dtype} {list(want.shape)}"
    near = {torch.float16: 4e-3, torch.bfloat16: 4e-2, torch.float32: 2e-5}.get(want.dtype, 1e-9)
    a, b = got.double(), want.double()
    size = b[b.isfinite()].abs().max().item() if b.isfinite().any() else 0.0
    if torch.allclose(a, b, near, near * size, equal_nan=True):
        return None
    return f"{got.flatten().tolist()}, not {want.flatten().tolist()}"


def differences(got, want):
    if isinstance(want, Exception) or isinstance(got, Exception):
        alike = isinstance(want, Exception) and isinstance(got, Exception)
        return [] if alike else [f"{got!r}, not {want!r}"]
    return [found for found in map(same, got, want) if found]


# ---- two ways to run a program ----


def check_compiled(name, program, dtype):
    """The values of calls, and that PyTorch ran no node of the graphs."""
    from nereid.torch_backend import _programs

    torch._dynamo.reset()
    _programs.clear()
    _programs.keep()
    function = torch.compile(program, backend="nereid")
    for i, values in enumerate(VALUES):
        given = arguments(values, dtype, i)
        want, got = outcome(program, given), outcome(function, given)
        for found in differences(got, want):
            tally.check(False, f"{name}  {values}, {dtype}: {found}")
        tally.check(True, "")
    left = {str(node.target): reason for one in _programs for node, reason in one.reasons.items()}
    tally.check(not left, f"{name}  PyTorch runs {left}")


def check_refused():
    """Python divides no number by 0, and makes no integer of NaN and infinity."""
    x, wrong = torch.arange(3), [float("nan"), float("inf"), -1e30]
    for text, values in (("int(p)", wrong), ("math.floor(p)", wrong), ("math.ceil(p * 2)", wrong),
                         ("int(p) * int(p)", [1e10, -1e12]), ("int(p) + 2**62", [2.0**62]),
                         ("n ** int(p)", [40.0]), ("-int(p) - 2**62", [2.0**63 * 0.75]),
                         ("n / int(p)", [0.5]), ("n // int(p)", [-0.25]), ("n % int(p)", [0.0])):
        torch._dynamo.reset()
        program = function_of(f"def program(x, p, n):\n    p, n = p.item(), n.item()\n"
                              f"    return x + ({text})\n")
        function = torch.compile(program, backend="nereid")
        for value in [2.5, *values]:
            given = x, torch.tensor(value), torch.tensor(7)
            for found in differences(outcome(function, given), outcome(program, given)):
                tally.check(False, f"x + {text}, p = {value}: {found}")
            tally.check(True, "")


# Calls on x of some dtypes, and numbers p of data: some are beyond what eager mode makes an element
# of, and one that is NaN bounds nothing.
OVERFLOWS = {
    "torch.full_like(x, p)": ["float16", "bfloat16", "uint8", "int8"],
    "torch.full((2,), p, dtype=x.dtype)": ["float16", "uint8"],
    "torch.full((1,), p, dtype=x.dtype)": ["float16"],
    "x.clone().fill_(p)": ["float16", "int8"], "x.masked_fill(x > 0, p)": ["float16", "uint8"],
    "x.index_fill(0, torch.tensor([0]), p)": ["float16"],
    "x.scatter(0, torch.tensor([0]), p)": ["float16"],
    "torch.add(x, x, alpha=p)": ["float16", "float32"], "x.clamp_max(p)": ["float16"],
    "x.clamp(p)": ["float16", "float32", "int32"], "x.clamp(max=p)": ["float32", "bfloat16"],
    "x.clamp(p, p)": ["float32"], "F.hardshrink(x, p)": ["float16"],
    "F.leaky_relu(x, p)": ["float16"], "F.celu(x, p)": ["float32"],
    "F.softplus(x, p)": ["float16"], "torch.addcmul(x, x, x, value=p)": ["float16"],
    "torch.linspace(0, p, 3, dtype=x.dtype)": ["float16"], "torch.xlogy(x, p)": ["float16"],
}
BEYOND = [2.5, 1e5, -1e5, 65504.0, 65519.0, 1e39, float("inf"), float("nan"), -2.5, 254.5, 255.5]


def check_overflows():
    for call, dtypes in OVERFLOWS.items():
        for dtype in dtypes:
            torch._dynamo.reset()
            program = function_of(f"def program(x, p):\n    return {call},\n")
            function = torch.compile(lambda x, p: program(x, p.item()), backend="nereid")
            x = torch.tensor([1, 2, 3]).to(getattr(torch, dtype))
            for value in BEYOND:
                got = outcome(function, (x, torch.tensor(value, dtype=torch.float64)))
                for found in differences(got, outcome(program, (x, value))):
                    tally.check(False, f"{call}, {dtype}, p = {value}: {found}")
                tally.check(True, "")


def check_sizes():
    """A sum of sizes is an operand, a size, and a result."""
    def program(a, b, c):
        n = torch.sym_sum([a.shape[0], b.shape[0], c.shape[0], 2])
        return torch.cat([a, b, c]) * n, a.new_zeros(n), n

    from nereid.torch_backend import _programs

    torch._dynamo.reset()
    _programs.clear()
    _programs.keep()
    function = torch.compile(program, backend="nereid", dynamic=True)
    for rows in (2, 3, 7):
        given = [torch.randn(rows + i, 3) for i in range(3)]
        (*want, count), (*got, counted) = program(*given), function(*given)
        for found in filter(None, map(same, got, want)):
            tally.check(False, f"a sum of sizes, {rows}: {found}")
        tally.check(count == counted, f"a sum of sizes: {counted}, not {count}")
    left = {str(node.target): reason for one in _programs for node, reason in one.reasons.items()}
    tally.check(not left, f"a sum of sizes: PyTorch runs {left}")


def check_exported(name, program, dtype):
    import nereid

    class Module(torch.nn.Module):
        def forward(self, x, a, b, c):
            return program(x, a, b, c)

    try:
        with contextlib.redirect_stdout(io.StringIO()):  # a graph that can't be
            exported = torch.export.export(Module(), arguments(VALUES[0], dtype, 0), strict=False)
            torch.export.save(exported, file := io.BytesIO())
    except Exception:  # what data decides can't always be exported
        return
    try:
        model = nereid.load(file.getvalue(), device="cpu")
    except nereid.NereidError as error:
        tally.check(False, f"{name}  {dtype}: {error}")
        return
    for i, values in enumerate(VALUES):
        given = arguments(values, dtype, i)
        for found in differences(outcome(model, given), outcome(program, given)):
            tally.check(False, f"{name}  exported, {values}, {dtype}: {found}")
        tally.check(True, "")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if torch is None:
        print("1 skipped: no PyTorch")
        return tally.report()
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    torch._dynamo.config.capture_scalar_outputs = True
    check_refused()
    check_overflows()
    check_sizes()
    for call in ("clamp(f)", "clamp(max=f)", "clamp(f, n)"):
        text = f"def program(x, a, b, c):\n    f, n = b.item(), a.item()\n    return x.{call},\n"
        check_compiled(text, function_of(text), "int32")
    for i in range(options.count):
        text, dtype = source(random.Random(f"{options.seed} {i}"))
        program = function_of(text)
        name = f"seed {options.seed}, program {i}:\n{text}"
        check_compiled(name, program, dtype)
        check_exported(name, program, dtype)
    return tally.report()


sys.exit(main())
