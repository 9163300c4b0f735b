#!/usr/bin/env python3
"""Random draws of graphs: their distribution, that nodes draw on their own, that runs agree.

    draws.py [--devices interp,cpu]
"""
import argparse, math, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
GRAPH = """class G(torch.nn.Module):
    def forward(self, x: "f32[40, 100]", p: "f32[3000]", w: "f32[2, 4]"):
        a = torch.ops.aten.rand.default([50, 80])
        b = torch.ops.aten.rand.default([50, 80])
        c = torch.ops.aten.randn.default([5000])
        d = torch.ops.aten.randint.low(-3, 4, [4000])
        e = torch.ops.aten.randperm.default(500)
        f = torch.ops.aten.bernoulli.default(p)
        g = torch.ops.aten.dropout.default(x, 0.25, True)
        h = torch.ops.aten.feature_dropout.default(x, 0.5, True)
        i = torch.ops.aten.native_dropout.default(x, 0.25, True)
        i0 = i[0]
        i1 = i[1]
        j = torch.ops.aten.multinomial.default(w, 3000, True)
        k = torch.ops.aten.multinomial.default(w, 3)
        l = torch.ops.aten.rand.default([4000], dtype=torch.float16)
        m = torch.ops.aten.alpha_dropout.default(x, 0.25, True)
        n = torch.ops.aten.feature_alpha_dropout.default(x, 0.5, True)
        o = torch.ops.aten.rrelu.default(x, 0.25, 0.75, True)
        return (a, b, c, d, e, f, g, h, i0, i1, j, k, l, m, n, o)
"""
# low, high and dtype of integers, of a seed in the graph and of one that is an input
RANGES = [(0, 100, "int64"), (0, 3 << 30, "int64"), (-5, 1 << 40, "int64"), (0, 3 << 61, "int64"),
          (-(1 << 62), 1 << 62, "int64"), (-(1 << 63), (1 << 63) - 1, "int64"),
          (-(1 << 31), (1 << 31) - 1, "int32"), (0, 1 << 28, "int32"), (-100, 100, "int8"),
          (0, 200, "uint8")]
INTEGERS = """class G(torch.nn.Module):
    def forward(self, seed: "i64[]"):
""" + "".join(f"""\
        a{i} = torch.ops.aten.randint.low({low}, {high}, [20000], dtype=torch.{dtype})
        b{i} = torch.ops.prims.inductor_randint.default({low}, {high}, [20000], seed)
""" for i, (low, high, dtype) in enumerate(RANGES)) + f"""\
        return ({", ".join(f"a{i}, b{i}" for i in range(len(RANGES)))})
"""
# a call of x, f32[40, 100]; a function of the result and x, and what its mean and deviation are
DISTRIBUTIONS = [
    ("uniform.default(x, -2, 3)", lambda y, x: y, 0.5, 5 / 12**0.5),
    ("normal_functional.default(x, 1.0, 2.0)", lambda y, x: y, 1, 2),
    ("normal_.default(x, -1.0, 0.5)", lambda y, x: y, -1, 0.5),
    ("exponential.default(x, 0.5)", lambda y, x: y, 2, 2),
    ("log_normal.default(x, 0.5, 0.25)", lambda y, x: np.log(y), 0.5, 0.25),
    ("cauchy.default(x, 1, 2)", lambda y, x: y < 1, 0.5, 0.5),
    ("cauchy.default(x, 1, 2)", lambda y, x: y < 3, 0.75, 0.75**0.5 / 2),
    ("geometric.default(x, 0.25)", lambda y, x: y, 4, 12**0.5),
    ("geometric.default(x, 0.25)", lambda y, x: y == 1, 0.25, 0.75**0.5 / 2),
    ("bernoulli.Tensor(x, torch.ops.aten.sigmoid.default(x))",
     lambda y, x: y - 1 / (1 + np.exp(-x)), 0, 0.5),
    ("bernoulli_.float(x, 0.3)", lambda y, x: y, 0.3, 0.21**0.5),
    ("random.to(x, 5)", lambda y, x: y, 2, 2**0.5),
    ("random.default(x)", lambda y, x: y / 2**24, 0.5, 12**-0.5),
    ("randint_like.low_dtype(x, 3, 6)", lambda y, x: y, 4, (2 / 3)**0.5),
    ("normal.Tensor_float(x, 0.5)", lambda y, x: y - x, 0, 0.5),
    ("normal.Tensor_Tensor(x, torch.ops.aten.exp.default(x))", lambda y, x: (y - x) / np.exp(x),
     0, 1),
]
def poisson_share(mean, k):
    """The probability of at most k events."""
    return sum(math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(k + 1))


def binomial_share(n, p, k):
    return sum(math.comb(n, i) * p**i * (1 - p)**(n - i) for i in range(k + 1))


# What is drawn by rejection: operands, a number for each, and the share of draws up to some values.
REJECTIONS = [
    *[("poisson.default(a)", (mean,), [(k, poisson_share(mean, k)) for k in points])
      for mean, points in ((0.5, (0, 1)), (9.5, (5, 9, 14)), (10.5, (6, 10, 15)),
                           (300.0, (280, 300, 330)))],
    *[("binomial.default(a, b)", (n, p), [(k, binomial_share(n, p, k)) for k in points])
      for n, p, points in ((6, 0.3, (0, 2)), (30, 0.9, (24, 27)), (60, 0.4, (20, 24, 30)),
                           (200, 0.75, (140, 150, 160)))],
    ("binomial.default(a, b)", (7, 0), [(0, 1)]), ("binomial.default(a, b)", (7, 1), [(6, 0)]),
    ("binomial.default(a, b)", (0, 0.5), [(0, 1)]), ("poisson.default(a)", (0,), [(0, 1)]),
    # half of the square of a normal number; sums of one and of four exponential ones
    ("_standard_gamma.default(a)", (0.5,), [(x, math.erf(x**0.5)) for x in (0.05, 0.3, 1.5)]),
    ("_standard_gamma.default(a)", (1,), [(x, 1 - math.exp(-x)) for x in (0.1, 0.7, 2)]),
    ("_standard_gamma.default(a)", (4,), [(x, 1 - poisson_share(x, 3)) for x in (2, 3.7, 6)]),
    ("_sample_dirichlet.default(cat)", (1,), [(x, 1 - (1 - x)**2) for x in (0.1, 0.3, 0.6)]),
]


NAMES = "a b c d e f g h i0 i1 j k l m n o".split()


def near(values, mean, deviation, text):
    """Is the mean of independent values within five of its own deviations?"""
    gap = abs(float(np.mean(values)) - mean)
    check(gap < 5 * deviation / math.sqrt(np.size(values)), f"{text}: off by {gap}")


def run(folder, device):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 100)).astype(np.float32)
    p = np.repeat(np.float32([0, 0.3, 1]), 1000)
    w = np.float32([[1, 2, 0, 5], [0, 0.25, 0.25, 0.5]])
    path = pathlib.Path(folder, "graph.py")
    path.write_text(GRAPH)
    for name, value in ("x", x), ("p", p), ("w", w):
        np.save(f"{folder}/{name}.npy", value)
    inputs = [f"{folder}/{n}.npy" for n in "xpw"]
    done = subprocess.run([NEREID, "graph", path, *inputs, "--device", device, "--out-dir", folder],
                          capture_output=True, text=True)
    check(done.returncode == 0, f"{device}: {done.stderr}")
    outputs = {n: np.load(f"{folder}/output_{i}.npy") for i, n in enumerate(NAMES)}
    return x, w, outputs


def distributions_text():
    lines = []
    for i, (call, *_) in enumerate(DISTRIBUTIONS):
        call, _, inner = call.partition(", torch.")
        argument = f", p{i})" if inner else ""
        if inner:
            lines.append(f"        p{i} = torch.{inner[:-1]}\n")
        lines.append(f"        x{i} = torch.ops.aten.clone.default(x)\n")
        lines.append(f"        y{i} = torch.ops.aten.{call.replace('(x', f'(x{i}')}{argument}\n")
    results = ", ".join(f"y{i}" for i in range(len(DISTRIBUTIONS)))
    return ("class G(torch.nn.Module):\n    def forward(self, x: \"f32[40, 100]\"):\n"
            + "".join(lines) + f"        return ({results})\n")


def check_distributions(folder, device):
    path, x = pathlib.Path(folder, "graph.py"), np.load(f"{folder}/x.npy")
    path.write_text(distributions_text())
    done = subprocess.run([NEREID, "graph", path, f"{folder}/x.npy", "--device", device,
                           "--out-dir", folder], capture_output=True, text=True)
    check(done.returncode == 0, f"{device}: {done.stderr}")
    for i, (call, of, mean, deviation) in enumerate(DISTRIBUTIONS):
        y = np.load(f"{folder}/output_{i}.npy").astype(np.float64)
        near(of(y, x), mean, deviation, f"{device}: {call}")
        check(y.shape == x.shape and np.isfinite(y).all(), f"{device}: {call} is finite")


def rejections_text(size):
    lines, results = [], []
    for i, (call, numbers, _) in enumerate(REJECTIONS):
        for name, number in zip("ab", numbers):
            lines.append(f"{name}{i} = torch.ops.aten.full.default([{size}], {float(number)})")
        if "cat" in call:
            lines.append(f"cat{i} = torch.ops.aten.full.default([{size}, 3], {float(numbers[0])})")
        name, _, operands = call[:-1].partition("(")
        operands = ", ".join(f"{operand}{i}" for operand in operands.split(", "))
        lines.append(f"y{i} = torch.ops.aten.{name}({operands})")
        results.append(f"y{i}")
    body = "".join(f"        {line}\n" for line in lines)
    return ("class G(torch.nn.Module):\n    def forward(self):\n" + body
            + f"        return ({', '.join(results)})\n")


def check_rejections(folder, device, size=4000):
    path = pathlib.Path(folder, "rejections.py")
    path.write_text(rejections_text(size))
    done = subprocess.run([NEREID, "graph", path, "--device", device, "--out-dir", folder],
                          capture_output=True, text=True)
    check(done.returncode == 0, f"{device}: {done.stderr}")
    for i, (call, numbers, shares) in enumerate(REJECTIONS):
        y = np.load(f"{folder}/output_{i}.npy")
        check(np.isfinite(y).all() and y.min() >= 0, f"{device}: {call} {numbers} is finite")
        if y.ndim == 2:
            check(np.allclose(y.sum(1), 1, atol=1e-5), f"{device}: {call} adds up to 1")
            y = y[:, 0]
        for value, share in shares:
            name = f"{device}: {call} of {numbers} is up to {value}"
            near(y <= value, share, max(share * (1 - share), 0)**0.5 + 1e-9, name)


def check_draws(x, w, o, device):
    for name in "abl":
        check(o[name].min() >= 0 and o[name].max() < 1, f"{device}: {name} lies in [0, 1)")
        near(o[name].astype(np.float64), 0.5, 12**-0.5, f"{device}: the mean of {name}")
    check((o["a"] != o["b"]).any(), f"{device}: two nodes draw on their own")
    near(o["c"], 0, 1, f"{device}: the mean of randn")
    near(o["c"]**2, 1, 2**0.5, f"{device}: the variance of randn")
    check(set(o["d"]) == set(range(-3, 4)), f"{device}: the numbers of randint")
    near(o["d"], 0, 2, f"{device}: the mean of randint")
    check(sorted(o["e"]) == list(range(500)) and (o["e"] != np.arange(500)).any(),
          f"{device}: a permutation")
    check(not o["f"][:1000].any() and o["f"][2000:].all(), f"{device}: certain trials")
    near(o["f"][1000:2000], 0.3, 0.5, f"{device}: the mean of trials")
    kept = o["g"] != 0
    near(kept, 0.75, 0.5, f"{device}: what dropout keeps")
    check(np.allclose(o["g"][kept], x[kept] / 0.75), f"{device}: and how it scales that")
    check(np.allclose(o["i0"], np.where(o["i1"], x / 0.75, 0)), f"{device}: native_dropout's mask")
    near(o["i1"], 0.75, 0.5, f"{device}: what it keeps")
    check(np.allclose(o["h"], np.where(o["h"] != 0, 2 * x, 0)), f"{device}: feature_dropout")
    for row in range(2):
        share = np.bincount(o["j"][row], minlength=4) / 3000
        check(np.abs(share - w[row] / w[row].sum()).max() < 0.05, f"{device}: shares of row {row}")
        check(sorted(o["k"][row]) == [i for i in range(4) if w[row][i]],
              f"{device}: without replacement, row {row}")


def check_activations(x, o, device):
    """What alpha dropout drops is one number; scale and offset keep the mean and the variance."""
    low = np.float32(-1.7580993408473766)
    for name, p in ("m", 0.25), ("n", 0.5):
        scale = (1 - p + p * (1 - p) * low**2)**-0.5
        offset = -scale * p * low
        dropped = np.isclose(o[name], scale * low + offset)
        check(np.allclose(o[name][~dropped], (x * scale + offset)[~dropped], atol=1e-5),
              f"{device}: what alpha dropout keeps, {p}")
        near(dropped, p, 0.5, f"{device}: what alpha dropout drops, {p}")
    slope = o["o"][x < 0] / x[x < 0]
    check((o["o"][x >= 0] == x[x >= 0]).all(), f"{device}: rrelu of what is positive")
    check(0.25 <= slope.min() + 1e-6 and slope.max() < 0.75 + 1e-6, f"{device}: rrelu's slopes")
    near(slope, 0.5, 12**-0.5 / 2, f"{device}: the mean of rrelu's slopes")


def check_integers(folder, device):
    """Range, 16 parts of it and the lowest bits, by Pearson's statistic and shares of ones."""
    path = pathlib.Path(folder, "integers.py")
    path.write_text(INTEGERS)
    np.save(f"{folder}/seed.npy", np.int64(1234567))
    done = subprocess.run([NEREID, "graph", path, f"{folder}/seed.npy", "--device", device,
                           "--out-dir", folder], capture_output=True, text=True)
    check(done.returncode == 0, f"{device}: {done.stderr}")
    for i, (low, high, dtype) in enumerate(RANGES):
        for k in range(2):
            drawn = np.load(f"{folder}/output_{2 * i + k}.npy")
            name, count = f"{device}: randint({low}, {high}), {k}", high - low
            check(drawn.dtype == (dtype if k == 0 else "int64"), f"{name}: {drawn.dtype}")
            values = [int(v) for v in drawn]
            check(low <= min(values) and max(values) < high, f"{name}: out of range")
            parts = np.bincount([(v - low) * 16 // count for v in values], minlength=16)
            shares = np.array([((k + 1) * count + 15) // 16 - (k * count + 15) // 16
                               for k in range(16)], float) / count * len(values)
            chi = ((parts - shares)**2 / shares).sum()
            check(chi < 45, f"{name}: parts {parts}")  # 15 degrees of freedom: 1 in 10,000
            for bit in range(count.bit_length() - 10):
                near([(v - low) >> bit & 1 for v in values], 0.5, 0.5, f"{name}: bit {bit}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first = None
        for device in args.devices.split(","):
            x, w, outputs = run(folder, device)
            check_draws(x, w, outputs, device)
            check_activations(x, outputs, device)
            check_distributions(folder, device)
            check_rejections(folder, device)
            first = first or outputs
            same = all(np.array_equal(first[n], outputs[n]) for n in "abdefg")
            check(same, f"{device} draws what the first device drew")
            check_integers(folder, device)
    return report()


if __name__ == "__main__":
    sys.exit(main())
