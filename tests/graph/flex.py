#!/usr/bin/env python3
"""Attention with functions of scores and masks in blocks (nereid.flex_attention), and its
gradients, against NumPy; the PTX of each goes through ptxas where that is installed.

    flex.py [--devices interp,cpu] [--random N] [NAME...]

Of the cases only those whose name has a NAME.
"""
import argparse, math, os, pathlib, shutil, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
CAP, LOG2 = 5.0, math.log(2)
ATEN, NEREID_OP = "torch.ops.aten", "torch.ops.nereid"


def table_of(blocks):
    """How many blocks of each row of blocks are chosen, and which; others are arbitrary."""
    counts = blocks.sum(-1).astype(np.int32)
    order = np.argsort(~blocks, axis=-1, kind="stable").astype(np.int32)
    return counts, order


class Case:
    """soft: scores are 5 tanh((x + slope (key - row) + offset[row - key]) / 5), and slopes and
    offsets, which may be counted from the end, have gradients; table: blocks have tables, whose
    axes of batches and heads are 1 if `shared`."""

    def __init__(self, b=2, h=4, kv=4, t=100, s=90, d=16, e=16, soft=True, table=True, whole=True,
                 mask=True, shared=True, blocks=(32, 32), seed=1, ends=False, dtype=np.float32):
        rng = np.random.default_rng(seed)
        self.sizes, self.kv, self.soft, self.table = (b, h, t, s, d, e), kv, soft, table
        self.blocks, self.mask, self.dtype = blocks, mask, dtype
        shapes = {"q": (b, h, t, d), "k": (b, kv, s, d), "v": (b, kv, s, e), "g": (b, h, t, e),
                  "gs": (b, h, t)}
        self.inputs = {n: rng.normal(0, 1, x).astype(dtype) for n, x in shapes.items()}
        self.inputs["slopes"] = rng.uniform(0, 0.1, h).astype(dtype)
        self.inputs["offsets"] = rng.normal(0, 1, t + s).astype(dtype)
        nb, nh = (1, 1) if shared else (b, h)
        cut = [-(-t // blocks[0]), -(-s // blocks[1])]
        kind = rng.integers(0, 3, (nb, nh, *cut))  # not seen, masked, whole
        if not whole:
            kind = np.minimum(kind, 1)
        if ends:
            kind[..., -1] = 2
        self.kind = kind
        for name, of in (("", kind), ("row_", kind.swapaxes(2, 3))):
            for full, value in (("", 1), ("full_", 2)):
                counts, indices = table_of(of == value)
                self.inputs[f"{full}{name}counts"] = counts
                self.inputs[f"{full}{name}indices"] = indices

    def text(self):
        b, h, t, s, d, e = self.sizes
        types = {"float16": "f16", "float32": "f32", "float64": "f64", "int32": "i32"}
        parameters = ", ".join(f'{n}: "{types[str(x.dtype)]}[{", ".join(map(str, x.shape))}]"'
                               for n, x in self.inputs.items())
        tables = {name: ", ".join(f"{full}{name}{part}" if self.table else "None"
                                  for full in ("", "full_") for part in ("counts", "indices"))
                  for name in ("", "row_")}
        blocks = ", ".join(map(str, self.blocks if self.table else (0, 0)))
        scale = "scale = 0.25"
        more = "[slopes, offsets], [head, at], [dfar, dx]" if self.soft else "[], [], []"
        more += f", {scale}"
        functions = ("y" if self.soft else "None") + (", seen" if self.mask else ", None")
        both = f'{"dx" if self.soft else "None"}, {tables[""]}, {tables["row_"]}'
        given = "g, gs, q, k, v, o, l"
        sums = "    l = r[1]"
        if self.dtype == np.float64:  # as PyTorch prints them, whose rule for fake tensors is wrong
            said = f'"f32[{b}, {h}, {t}]"'
            sums = f"    first: {said} = r[1]\n    l: {said} = {ATEN}.mul.Tensor(first, 1)"
        return f"""def forward(self, {parameters}):
    x = {NEREID_OP}.attention_scores.default(q, k, scale = 0.25)
    rows = {ATEN}.arange.default({t})
    row = {ATEN}.view.default(rows, [{t}, 1])
    key = {ATEN}.arange.default({s})
    ahead = {ATEN}.add.Tensor(row, 3)
    seen = {ATEN}.ge.Tensor(ahead, key)
    slope = {ATEN}.view.default(slopes, [{h}, 1, 1])
    distance = {ATEN}.sub.Tensor(key, row)
    far = {ATEN}.mul.Tensor(distance, slope)
    sloped = {ATEN}.add.Tensor(x, far)
    back = {ATEN}.neg.default(distance)
    offset = {ATEN}._unsafe_index.Tensor(offsets, [back])
    moved = {ATEN}.add.Tensor(sloped, offset)
    part = {ATEN}.div.Tensor(moved, {CAP})
    u = {ATEN}.tanh.default(part)
    y = {ATEN}.mul.Tensor(u, {CAP})
    dy = {NEREID_OP}.attention_scores_grad.default(x)
    square = {ATEN}.mul.Tensor(u, u)
    du = {ATEN}.rsub.Scalar(square, 1)
    dx = {ATEN}.mul.Tensor(dy, du)
    dfar = {ATEN}.mul.Tensor(dx, distance)
    heads = {ATEN}.arange.default({h})
    head = {ATEN}.view.default(heads, [{h}, 1, 1])
    ends = {ATEN}.lt.Scalar(back, 0)
    end = {ATEN}.add.Tensor(back, {t + s})
    at = {ATEN}.where.self(ends, end, back)
    r = {NEREID_OP}.flex_attention.default(q, k, v, {functions}, {tables[""]}, {blocks}, {scale})
    o = r[0]
{sums}
    w = {NEREID_OP}.flex_attention_backward.default({given}, {functions}, {both}, {blocks}, {more})
    of_query = w[0]
    of_key = w[1]
    of_value = w[2]
""" + ("""    of_slopes = w[3]
    of_offsets = w[4]
    return (o, l, of_query, of_key, of_value, of_slopes, of_offsets)
""" if self.soft else """    return (o, l, of_query, of_key, of_value)
""")

    def wanted(self):
        b, h, t, s, d, e = self.sizes
        x = {n: v.astype(np.float64) for n, v in self.inputs.items()}
        k, v = (np.repeat(x[n], h // self.kv, 1) for n in "kv")
        raw = x["q"] @ k.swapaxes(2, 3) * 0.25
        row, key = np.arange(t)[:, None], np.arange(s)[None]
        u = np.tanh((raw + (key - row) * x["slopes"][:, None, None] + x["offsets"][row - key])
                    / CAP)
        y = CAP * u if self.soft else raw
        seen = np.broadcast_to(row + 3 >= key if self.mask else np.full((t, s), True), raw.shape)
        if self.table:
            kind = self.kind.repeat(self.blocks[0], 2).repeat(self.blocks[1], 3)[:, :, :t, :s]
            seen = (kind == 2) | ((kind == 1) & seen)
        y = np.where(seen, y, -np.inf)
        most = y.max(-1, keepdims=True)
        most[np.isinf(most)] = 0
        p = np.exp(y - most)
        total = p.sum(-1, keepdims=True)
        with np.errstate(divide="ignore"):
            sums = ((most + np.log(total)) / LOG2)[..., 0]
        p = p / np.where(total == 0, 1, total)
        o = p @ v
        dp = x["g"] @ v.swapaxes(2, 3)
        ds = p * (dp - (x["g"] * o).sum(-1, keepdims=True) + x["gs"][..., None] / LOG2)
        ds = ds * ((1 - u * u) if self.soft else 1)
        of_slopes, of_offsets = (ds * (key - row)).sum((0, 2, 3)), np.zeros(t + s)
        np.add.at(of_offsets, np.broadcast_to(row - key, ds.shape), ds)
        ds = ds * 0.25

        def shared(of):
            return of.reshape(b, self.kv, h // self.kv, *of.shape[2:]).sum(2)

        of_key, of_value = ds.swapaxes(2, 3) @ x["q"], p.swapaxes(2, 3) @ x["g"]
        found = [o, sums, ds @ k, shared(of_key), shared(of_value)]
        return found + ([of_slopes, of_offsets] if self.soft else [])

    def run(self, name, devices):
        names = ("result", "sums", "of query", "of key", "of value", "of slopes", "of offsets")
        with tempfile.TemporaryDirectory() as where:
            where = pathlib.Path(where)
            (where / "flex.py").write_text(self.text())
            files = []
            for n, x in self.inputs.items():
                np.save(where / f"{n}.npy", x)
                files.append(f"{n}.npy")
            for device in devices:
                source, on = "flex.py", device
                if device == "plan":
                    source, on = "gpu.plan", "cpu"
                    subprocess.run([NEREID, "graph", "flex.py", "--device", "cuda", "--emit",
                                    "plan", "-o", source], cwd=where, check=True)
                done = subprocess.run([NEREID, "graph", source, *files, "--device", on,
                                       "--out-dir", f"out_{device}"], cwd=where, text=True,
                                      stderr=subprocess.PIPE)
                check(done.returncode == 0, f"{name} on {device}: {done.stderr.strip()}")
                if done.returncode:
                    continue
                for i, (part, want) in enumerate(zip(names, self.wanted())):
                    got = np.load(where / f"out_{device}" / f"output_{i}.npy")
                    same = np.array_equal(np.isfinite(got), np.isfinite(want))
                    got, want = (np.nan_to_num(y, posinf=0, neginf=0) for y in (got, want))
                    off = abs(got - want).max() / max(abs(want).max(), 1e-6)
                    least = 1e-5 if i > 4 else 3e-6  # sums of all scores are long
                    if self.dtype == np.float16:
                        least = 2e-2 if i > 4 else 4e-3
                    if self.dtype == np.float64:
                        least = 1e-13
                        check(got.dtype == self.dtype, f"{name} on {device}: {part} in {got.dtype}")
                    check(same and off < least, f"{name} on {device}: {part} is off by {off:.1e}")


def assemble(name, case):
    """Its kernels are PTX that ptxas takes."""
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        (where / "flex.py").write_text(case.text())
        for target in ("sm_80", "sm_90a"):
            done = subprocess.run([NEREID, "build", "flex.py", "-o", f"project_{target}",
                                   "--target", target], cwd=where, text=True,
                                  stderr=subprocess.PIPE)
            check(done.returncode == 0, f"{name} for {target}: {done.stderr.strip()}")


CASES = {
    "cap, tables": Case(),
    "heads that share keys": Case(kv=2),
    "one head of keys, tables of heads": Case(kv=1, shared=False),
    "no function": Case(soft=False),
    "masked blocks alone": Case(whole=False),
    "whole blocks at the end": Case(ends=True, soft=False),
    "whole blocks, no mask": Case(mask=False, ends=True),
    "no tables": Case(table=False),
    "no tables, no function": Case(table=False, soft=False),
    "one row": Case(t=1, s=70),
    "keys in shares": Case(t=1, s=700, h=8, kv=2, blocks=(64, 64)),
    "keys in shares, no function": Case(t=1, s=640, kv=1, soft=False, blocks=(128, 128), seed=2),
    "keys in shares, tables of heads": Case(t=1, s=520, kv=2, shared=False),
    "keys in shares, no tables": Case(t=1, s=300, h=8, kv=2, table=False),
    "keys in shares, more heads than a block has rows": Case(t=1, s=300, h=32, kv=1,
                                                             blocks=(16, 32)),
    "packed rows, no tables": Case(t=9, s=70, h=8, kv=2, table=False),
    "packed rows, tables": Case(t=30, s=300, h=4, kv=1, blocks=(32, 64)),
    "packed rows, tables of several rows": Case(t=30, s=90, kv=2, blocks=(16, 32)),
    "few rows, keys in shares": Case(t=7, s=530, kv=2, blocks=(32, 64)),
    "keys end within a block": Case(t=96, s=32, blocks=(128, 128), ends=True),
    "rows end within a block": Case(t=64, s=96, blocks=(128, 64), soft=False, seed=5),
    "blocks of 16 by 64": Case(blocks=(16, 64), t=130, s=130),
    "blocks of 48": Case(blocks=(48, 48), t=130, s=130, shared=False),
    "blocks of 40": Case(blocks=(40, 40), t=130, s=150),
    "blocks of 100 by 24, no function": Case(blocks=(100, 24), t=230, s=130, soft=False, ends=True),
    "blocks of 7 by 33": Case(blocks=(7, 33), t=50, s=70, kv=2, shared=False),
    "blocks of 32 by 20, no mask": Case(blocks=(32, 20), t=64, s=60, mask=False, ends=True),
    "keys in shares, blocks of 72": Case(t=1, s=700, h=8, kv=2, blocks=(72, 72)),
    "columns": Case(d=20, e=40, t=40, s=40),
    "doubles": Case(kv=2, dtype=np.float64),
    "doubles, keys in shares": Case(t=1, s=700, h=8, kv=2, blocks=(64, 64), dtype=np.float64),
    "doubles, no function": Case(soft=False, d=24, e=48, blocks=(40, 24), dtype=np.float64),
    "doubles, no tables": Case(d=160, e=256, t=40, s=40, table=False, dtype=np.float64),
}


# Plans for GPUs, on a CPU: results take turns, and masked blocks are in a loop with whole ones.
HALVES = dict(d=32, e=32, dtype=np.float16)
TURNS = {
    "one loop": Case(t=200, s=290, blocks=(64, 64), **HALVES),
    "one loop, two tiles a block": Case(t=200, s=290, kv=2, blocks=(128, 256), soft=False,
                                        **HALVES),
    "one loop, whole blocks alone": Case(t=200, s=256, blocks=(128, 64), mask=False, ends=True,
                                         **HALVES),
    "one loop, no whole blocks": Case(t=130, s=130, whole=False, shared=False, blocks=(64, 32),
                                      **HALVES),
    "one loop, blocks of 40": Case(t=130, s=130, blocks=(80, 40), **HALVES),
    "one loop, packed rows in shares": Case(b=1, h=8, kv=1, t=40, s=700, blocks=(64, 64), **HALVES),
    "turns, all of them": Case(b=1, h=3, kv=1, t=200, s=200),
    "turns of 8 of 10": Case(b=2, h=5, kv=5, t=800, s=200, blocks=(16, 64)),
    "turns, blocks of 40": Case(t=200, s=150, blocks=(40, 40), shared=False),
    "turns, no tables": Case(table=False, t=200, s=200),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("--random", type=int, default=4)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    cases = dict(CASES)
    pick = np.random.default_rng(7)
    for i in range(args.random):
        h = int(pick.choice((1, 2, 4)))
        cases[f"random {i}"] = Case(
            b=int(pick.integers(1, 3)), h=h,
            kv=int(pick.choice([n for n in (1, 2, 4) if h % n == 0])),
            t=int(pick.integers(1, 150)), s=int(pick.integers(1, 150)), soft=bool(pick.integers(2)),
            mask=bool(pick.integers(2)), shared=bool(pick.integers(2)), seed=100 + i,
            blocks=tuple(int(pick.choice((16, 20, 32, 50, 64))) for _ in range(2)))
    for name, case in cases.items():
        if not args.names or any(n in name for n in args.names):
            case.run(name, args.devices.split(","))
    for name, case in TURNS.items():
        if not args.names or any(n in name for n in args.names):
            case.run(name, ["plan"])
    if PTXAS and not args.names:
        for name in ("cap, tables", "keys in shares", "doubles", "doubles, keys in shares",
                     "doubles, no tables"):
            assemble(name, CASES[name])
    return report()


if __name__ == "__main__":
    sys.exit(main())
