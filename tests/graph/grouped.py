#!/usr/bin/env python3
"""Products of groups of rows, of columns and of the summed axis against NumPy, with empty groups,
rows in no group, and operands that are views; their PTX goes through ptxas where that is installed.

    grouped.py [--devices interp,nest,cpu] [--random N] [--seed S]
"""
import argparse, os, pathlib, re, shutil, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
ATEN = "torch.ops.aten"
TOLERANCES = {"f32": 1e-5, "f64": 1e-12, "f16": 2e-3}
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16}
FAULTS = {"falling": ([3, 2, 6], "offs are ends of groups, and one is less than the one before"),
          "negative": ([-1, 2, 6], "index -1 at [0] of offs is out of range"),
          "overrun": ([1, 2, 9], "index 9 at [2] of offs is out of range")}


def groups_of(rng, count, size, tail):
    """Ends of groups, of which some are empty; with a tail the last ends before the axis does."""
    sizes = rng.multinomial(size, rng.dirichlet([0.3] * (count + tail)))
    return np.cumsum(sizes)[:count].astype(np.int32)


class Case:
    """form: the axis that is parted: rows, columns or sum; transposed: which operands are views of
    tensors whose last two axes are exchanged."""

    def __init__(self, form, dtype="f32", groups=5, size=70, inner=24, other=20, transposed=(),
                 tail=True, wide=False, seed=1):
        rng = np.random.default_rng(seed)
        self.form, self.dtype, self.transposed, self.wide = form, dtype, transposed, wide
        shapes = {"rows": ((size, inner), (groups, inner, other)),
                  "columns": ((groups, other, inner), (inner, size)),
                  "sum": ((other, size), (size, inner))}[form]
        self.inputs = {n: (rng.normal(size=s) * inner**-0.5).astype(DTYPES[dtype])
                       for n, s in zip("xw", shapes)}
        self.inputs["offs"] = groups_of(rng, groups, size, tail)
        bias = rng.normal(size=other if form == "rows" else size if form == "columns" else inner)
        self.inputs["bias"] = bias.astype(DTYPES[dtype])

    def given(self):
        return {n: np.ascontiguousarray(x.swapaxes(-1, -2)) if n in self.transposed else x
                for n, x in self.inputs.items()}

    def text(self):
        types = dict.fromkeys("xw", self.dtype) | {"bias": self.dtype, "offs": "i32"}
        parameters = ", ".join(f'{n}: "{types[n]}[{", ".join(map(str, x.shape))}]"'
                               for n, x in self.given().items())
        turned = "".join(f"    {n}_turned = {ATEN}.transpose.int({n}, -1, -2)\n"
                         for n in self.transposed)
        x, w = (f"{n}_turned" if n in self.transposed else n for n in "xw")
        wide = ", out_dtype = torch.float32" if self.wide else ""
        return f"""def forward(self, {parameters}):
{turned}    y = {ATEN}._grouped_mm.default({x}, {w}, offs{wide})
    z = {ATEN}.add.Tensor(y, bias)
    r = {ATEN}.relu.default(z)
    return (y, r)
"""

    def wanted(self):
        x, w = (self.inputs[n].astype(np.float64) for n in "xw")
        ends = self.inputs["offs"]
        parts = [slice(a, b) for a, b in zip([0, *ends], ends)]
        if self.form == "sum":
            y = np.stack([x[:, p] @ w[p] for p in parts])
        elif self.form == "rows":
            y = np.zeros((len(x), w.shape[-1]))
            for i, p in enumerate(parts):
                y[p] = x[p] @ w[i]
        else:
            y = np.zeros((x.shape[1], w.shape[1]))
            for i, p in enumerate(parts):
                y[:, p] = x[i] @ w[:, p]
        return [y, np.maximum(y + self.inputs["bias"].astype(np.float64), 0)]


def cases():
    for form in ("rows", "columns", "sum"):
        for dtype in DTYPES:
            yield f"{form} {dtype}", Case(form, dtype)
        yield f"{form}, transposed", Case(form, transposed=("x", "w"), seed=2)
        yield f"{form}, right one transposed", Case(form, transposed=("w",), tail=False, seed=3)
        yield f"{form} in f32", Case(form, "f16", wide=True, seed=4)
        yield f"{form}, many groups", Case(form, groups=150, size=300, inner=8, other=9, seed=5)
        yield f"{form}, one group", Case(form, groups=1, size=33, tail=False, seed=6)
        yield f"{form}, nothing", Case(form, size=0, tail=False, seed=7)
        yield f"{form}, large", Case(form, groups=4, size=301, inner=130, other=65, seed=8)


def random_cases(count, seed):
    for i in range(count):
        rng = np.random.default_rng(seed + i)
        pick = lambda lo, hi: int(rng.integers(lo, hi))  # noqa: E731
        form = ("rows", "columns", "sum")[pick(0, 3)]
        turned = tuple(n for n in "xw" if pick(0, 2))
        yield f"random {seed + i}", Case(form, list(DTYPES)[pick(0, 3)], pick(1, 12), pick(1, 200),
                                         pick(1, 90), pick(1, 90), turned, bool(pick(0, 2)),
                                         seed=seed + i)


def run(case, device, folder, *options):
    arguments = []
    (folder / "graph.py").write_text(case.text())
    for name, x in case.given().items():
        np.save(folder / f"{name}.npy", x)
        arguments.append(str(folder / f"{name}.npy"))
    return subprocess.run([NEREID, "graph", str(folder / "graph.py"), *arguments, "--device",
                           device, "--out-dir", str(folder / "out"), *options],
                          capture_output=True, text=True)


def compare(name, case, device, folder):
    done = run(case, device, folder)
    if not check(done.returncode == 0, f"{name} on {device}: {done.stderr}"):
        return
    for i, want in enumerate(case.wanted()):
        got = np.load(folder / f"out/output_{i}.npy").astype(np.float64)
        off = np.abs(got - want).max(initial=0) / max(np.abs(want).max(initial=0), 1)
        check(got.shape == want.shape and off <= TOLERANCES[case.dtype],
              f"{name} on {device}: output {i} is off by {off:.2g}")


def check_faults(device, folder):
    for name, (ends, message) in FAULTS.items():
        case = Case("rows", groups=3, size=8)
        case.inputs["offs"] = np.array(ends, np.int32)
        done = run(case, device, folder)
        check(done.returncode == 1 and message in done.stderr,
              f"{name} ends on {device}: status {done.returncode}, {done.stderr}")


# ---- experts with room for so many rows ----

ROOM = """def forward(self, x: "f16[500, 16]", up: "f16[4, 16, 32]", down: "f16[4, 16, 8]",
            at: "i64[500]"):
    zeros = {a}.new_zeros.default(x, [1025, 16])
    put = {a}.index_put.default(zeros, [at], x)
    box = {a}.slice.Tensor(put, 0, 0, -1)
    rows = {a}.view.default(box, [4, 256, 16])
    both = {a}.bmm.default(rows, up)
    halves = {a}.chunk.default(both, 2, -1)
    gate = halves[0]
    value = halves[1]
    silu = {a}.silu.default(gate)
    hidden = {a}.mul.Tensor(silu, value)
    out = {a}.bmm.default(hidden, down)
    flat = {a}.view.default(out, [1024, 8])
    zero = {a}.new_zeros.default(flat, [1, 8])
    all = {a}.cat.default([flat, zero])
    chosen = {a}.index.Tensor(all, [at])
    return (chosen,)
"""


def room_places(rng, name):
    """The place of each of 500 rows in a box of four experts with room for 256; 1024: none."""
    experts = {"even": rng.integers(0, 4, 500), "one expert": np.full(500, 2),
               "first and last": rng.choice([0, 3], 500), "dropped": np.full(500, 4)}
    if name == "scattered":
        return rng.permutation(1024)[:500]
    which = experts[name]
    place = np.array([(which[:i] == which[i]).sum() for i in range(500)])
    at = np.where((place < 256) & (which < 4), which * 256 + place, 1024)
    return np.where(rng.random(500) < 0.5, at, at - 1025) if name == "even" else at


def check_room(device, folder):
    """A GPU's products leave out rows that no index reads; indices may count from the end."""
    plan = folder / "room.plan"
    (folder / "graph.py").write_text(ROOM.format(a=ATEN))
    done = subprocess.run([NEREID, "graph", str(folder / "graph.py"), "--device", "cuda", "--emit",
                           "plan", "-o", str(plan)], capture_output=True, text=True)
    if not check(plan.read_text().count("nereid.ended_bmm") > 1, f"room: {done.stderr}"):
        return
    for name in ("even", "one expert", "first and last", "dropped", "scattered"):
        rng = np.random.default_rng(9)
        given = {n: (rng.normal(size=s) / 4).astype(np.float16)
                 for n, s in (("x", (500, 16)), ("up", (4, 16, 32)), ("down", (4, 16, 8)))}
        x, up, down = (a.astype(np.float64) for a in given.values())
        given["at"] = at = room_places(rng, name)
        box = np.zeros((1025, 16))
        box[at] = x
        gate, value = np.split(box[:-1].reshape(4, 256, 16) @ up, 2, -1)
        out = (gate / (1 + np.exp(-gate)) * value @ down).reshape(1024, 8)
        want = np.concatenate([out, np.zeros((1, 8))])[at]
        for n, a in given.items():
            np.save(folder / f"{n}.npy", a)
        done = subprocess.run([NEREID, "graph", str(plan), *(f"{folder}/{n}.npy" for n in given),
                               "--device", device, "--out-dir", str(folder / "out")],
                              capture_output=True, text=True)
        if check(done.returncode == 0, f"room, {name} on {device}: {done.stderr}"):
            off = np.abs(np.load(folder / "out/output_0.npy") - want).max()
            check(off < 2e-3 * max(np.abs(want).max(), 1e-3),
                  f"room, {name} on {device}: off by {off:.2g}")


# ---- sums of 8-bit floats, in groups that begin at multiples of 16 ----

SUMS = """def forward(self, x: "f32[64, 784]", y: "f32[64, 784]", ends: "i32[7]", a: "f32[448]",
            b: "f32[448]"):
    u = {a}.to.dtype(x, torch.float8_e4m3fn)
    v = {a}.to.dtype(y, torch.float8_e4m3fn)
    w = {a}.permute.default(v, [1, 0])
    z = {a}._scaled_grouped_mm.default(u, w, a, b, ends, None, None, torch.float32)
    return (z,)
"""
# Whole steps of 128, parts of one and of two, empty groups in a step and between two.
SUM_ENDS = ([128, 256, 384, 512, 640, 768, 784], [16, 16, 48, 96, 112, 256, 784],
            [0, 368, 368, 512, 512, 528, 780], [784] * 7, [0] * 6 + [3],
            [112, 144, 400, 400, 656, 784, 784])


def check_sums(device, folder):
    plan, rng = folder / "sums.plan", np.random.default_rng(3)
    (folder / "graph.py").write_text(SUMS.format(a=ATEN))
    done = subprocess.run([NEREID, "graph", str(folder / "graph.py"), "--device", "cuda", "--emit",
                           "plan", "-o", str(plan)], capture_output=True, text=True)
    check("BK: 128" in plan.read_text(), f"sums: {done.stderr}")
    x, y = (rng.integers(-8, 9, (64, 784)).astype(np.float32) for _ in range(2))
    a, b = (rng.integers(1, 4, 448).astype(np.float32) for _ in range(2))
    for ends in SUM_ENDS:
        parts = [slice(p, q) for p, q in zip([0, *ends], ends)]
        want = np.stack([x[:, p] @ y[:, p].T for p in parts])
        want *= a.reshape(7, 64, 1) * b.reshape(7, 1, 64)
        for n, t in zip(("x", "y", "ends", "a", "b"), (x, y, np.array(ends, np.int32), a, b)):
            np.save(folder / f"{n}.npy", t)
        done = subprocess.run([NEREID, "graph", str(plan),
                               *(f"{folder}/{n}.npy" for n in ("x", "y", "ends", "a", "b")),
                               "--device", device, "--out-dir", str(folder / "out")],
                              capture_output=True, text=True)
        if check(done.returncode == 0, f"sums to {ends} on {device}: {done.stderr}"):
            check(np.array_equal(np.load(folder / "out/output_0.npy"), want),
                  f"sums to {ends} on {device}")


def check_ptx(folder):
    """Kernels for GPUs: there is no row of matrices for each row, and ptxas takes them."""
    for form in ("rows", "columns", "sum"):
        case = Case(form, "f16", groups=32, size=512, inner=128, other=256)
        (folder / "graph.py").write_text(case.text())
        done = subprocess.run([NEREID, "graph", str(folder / "graph.py"), "--emit", "kernels",
                               "--device", "cuda", "--no-checks"], capture_output=True, text=True)
        found = re.search(r"def (\w*grouped_mm\w*)\(([^)]*)\)", done.stdout)
        if not check(found, f"{form}: no kernel: {done.stderr}"):
            continue
        (folder / "kernels.py").write_text(done.stdout)
        pointers = [p.strip() for p in found[2].split(",") if "_ptr" in p]
        signature = ",".join(f"{p}=*{'i32' if p == 'in0_ptr' else 'fp16'}:16" for p in pointers)
        for target in ("sm_80", "sm_90a"):
            ptx = folder / f"{form}.{target}.ptx"
            done = subprocess.run([NEREID, "compile", f"{folder}/kernels.py:{found[1]}", "--sig",
                                   signature, "-D", "BM=64", "-D", "BN=128", "-D", "BK=64",
                                   "--target", target, "--emit", "ptx", "-o", str(ptx)],
                                  capture_output=True, text=True)
            if not check(done.returncode == 0, f"{form} for {target}: {done.stderr}"):
                continue
            unit = "wgmma.mma_async" if target == "sm_90a" else "mma.sync"
            check(unit in ptx.read_text(), f"{form} for {target} has no {unit}")
            if PTXAS:
                done = subprocess.run([PTXAS, f"-arch={target}", str(ptx), "-o", "/dev/null"],
                                      capture_output=True, text=True)
                check(done.returncode == 0, f"{form} for {target}: {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="interp,nest,cpu")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    every = list(random_cases(args.random, args.seed)) or list(cases())
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        for device in args.devices.split(","):
            for name, case in every:
                compare(name, case, device, folder)
            check_faults(device, folder)
            check_room(device, folder)
            check_sums(device, folder)
        check_ptx(folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
