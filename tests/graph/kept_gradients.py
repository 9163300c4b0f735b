#!/usr/bin/env python3
"""Gradients of attention on a GPU with warpgroups: the kernel of keys keeps gradients of scores, by
which another one makes those of queries.  Values of the GPU's plan, run on the CPU, against NumPy.

    kept_gradients.py [NAME...]
"""
import pathlib
import re
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/support"), str(ROOT / "tests/graph")]
import flex  # noqa: E402
from gpu_plans import check, run_cases  # noqa: E402

OPERATOR = "torch.ops.nereid.scaled_dot_product_attention_backward.default"


class Case:
    """`mask`: of booleans, or "bias": added, or "trained": its gradient is wanted, too."""

    def __init__(self, rows=256, keys=256, width=80, columns=None, heads=(2, 2), causal=False,
                 mask=None, kept=True):
        self.causal, self.mask, self.kept, self.heads = causal, mask, kept, heads
        rng = np.random.default_rng(rows + keys + width)
        columns = columns or width
        sizes = {"g": (1, heads[0], rows, columns), "q": (1, heads[0], rows, width),
                 "k": (1, heads[1], keys, width), "v": (1, heads[1], keys, columns)}
        self.inputs = {n: rng.normal(size=s).astype(np.float16) for n, s in sizes.items()}
        if mask == "hides":
            self.inputs["mask"] = rng.uniform(size=(1, 1, rows, keys)) < 0.7
            self.inputs["mask"][..., 0] = True  # no row sees nothing
        elif mask:
            self.inputs["mask"] = rng.normal(size=(1, 1, rows, keys)).astype(np.float16)
        self.want = self.wanted()

    def wanted(self):
        """Sets what the forward pass left, too."""
        q, k, v, g = (self.inputs[n].astype(np.float64) for n in "qkvg")
        times = self.heads[0] // self.heads[1]
        k, v = np.repeat(k, times, 1), np.repeat(v, times, 1)
        x = q @ k.swapaxes(2, 3) * 0.2
        if self.mask == "hides":
            x = np.where(self.inputs["mask"], x, -np.inf)
        elif self.mask:
            x = x + self.inputs["mask"].astype(np.float64)
        if self.causal:
            x = np.where(np.tril(np.ones(x.shape[2:], bool)), x, -np.inf)
        most = x.max(-1, keepdims=True)
        share = np.exp(x - most)
        total = share.sum(-1, keepdims=True)
        share /= total
        out = share @ v
        self.inputs["out"] = out.astype(np.float16)
        self.inputs["sums"] = (np.log(total) + most)[..., 0].astype(np.float32)
        ds = share * (g @ v.swapaxes(2, 3) - (out * g).sum(-1, keepdims=True))
        of_keys = [0.2 * ds.swapaxes(2, 3) @ q, share.swapaxes(2, 3) @ g]
        grouped = [y.reshape(1, self.heads[1], times, *y.shape[2:]).sum(2) for y in of_keys]
        return [0.2 * ds @ k, *grouped]

    def params(self):
        kinds = {"float16": "f16", "float32": "f32", "bool": "b8"}
        return {name: f"{kinds[x.dtype.name]}[{', '.join(map(str, x.shape))}]"
                for name, x in self.inputs.items()}

    def lines(self):
        mask = "mask" if self.mask else "None"
        wanted = f"[True, True, True, {self.mask == 'trained'}]"
        call = f"{OPERATOR}(g, q, k, v, {mask}, out, sums, None, 0.0, {wanted}, {self.causal}, "
        return [f"all = {call}scale = 0.2)", *(f"y{i} = all[{i}]" for i in range(3))]


CASES = {
    "all keys": Case(),
    "causal": Case(causal=True, rows=512, keys=512),
    "causal, more rows": Case(causal=True, rows=500, keys=300),
    "causal, more keys": Case(causal=True, rows=261, keys=420, width=96),
    "rows that end within a vector": Case(rows=259, keys=270, width=96),
    "wide heads": Case(width=128, causal=True),
    "heads of 256": Case(width=256, heads=(1, 1), causal=True),
    "other columns": Case(width=48, columns=72),
    "shared keys": Case(heads=(4, 2), causal=True),
    "many shared keys": Case(rows=1100, keys=256, heads=(4, 1)),
    "a mask": Case(mask="hides", rows=300),
    "a mask, causal": Case(mask="hides", causal=True),
    "an added mask": Case(mask="bias"),
    "a trained mask": Case(mask="trained", kept=False),
    "few rows": Case(rows=200, kept=False),
    "narrow heads": Case(width=64, kept=False),
    "256 rows a program": Case(rows=500, keys=300, width=96),
}
ROWS_MANY = 256  # of a program of the query's gradient, where there are many programs
FLEX = {
    "tables": flex.Case(t=300, s=410, d=96, e=96, soft=False, blocks=(128, 128), dtype=np.float16),
    "tables of each head": flex.Case(b=1, t=512, s=256, d=96, e=96, soft=False, shared=False,
                                     blocks=(128, 64), dtype=np.float16),
    "tables, shared keys": flex.Case(b=1, kv=2, t=256, s=384, d=72, e=72, soft=False,
                                       blocks=(32, 128), whole=False, dtype=np.float16),
}


def check_flex(plans, name):
    case = FLEX[name]
    model = plans.folder / "flex.py"
    model.write_text(case.text())
    inputs, plan = plans.save(case.inputs), plans.plan(model)
    check("nereid.attention_grad_kept" in plan.read_text(), f"{name}: no kept gradients")
    for i, (got, want) in enumerate(zip(plans.values(plan, inputs), case.wanted())):
        check(np.array_equal(np.isfinite(got), np.isfinite(want)), f"{name}: {i}: other infinities")
        got, want = (np.nan_to_num(x, posinf=0, neginf=0) for x in (got, want))
        off = np.linalg.norm(got - want) / np.linalg.norm(want)
        check(got.shape == want.shape and off < 4e-3, f"{name}: {i}: {off}")


def some(inputs, table):
    """A block of the table that names some blocks and not all, and how many."""
    counts = inputs[f"{table}counts"][0, 0]
    at = next(i for i, n in enumerate(counts) if 0 < n < len(counts))
    return at, counts[at]


def swap_of(table):
    """An entry names a block that the other table does not have there."""
    def spoil(inputs):
        at, count = some(inputs, table)
        named = inputs[f"{table}indices"][0, 0, at]
        named[count - 1] = named[count]
    return spoil


def also_whole(inputs):
    """A block with a mask is one of those without it, too, for rows and for keys."""
    block = inputs["indices"][0, 0, 0, 0]
    for name, at, value in (("full_", 0, block), ("full_row_", block, 0)):
        count = inputs[f"{name}counts"][0, 0, at]
        inputs[f"{name}indices"][0, 0, at, count] = value
        inputs[f"{name}counts"][0, 0, at] = count + 1


def one_less(inputs):
    inputs["row_counts"][0, 0, some(inputs, "row_")[0]] -= 1


# Tables of a BlockMask that is made by hand.
SPOILT = {"another block for rows": swap_of(""), "another block for keys": swap_of("full_row_"),
          "a block less for keys": one_less, "a block in both tables": also_whole}


def check_spoilt(plans, name):
    case = flex.Case(t=512, s=512, d=96, e=96, soft=False, blocks=(128, 128), dtype=np.float16,
                     seed=3)
    model = plans.folder / "flex.py"
    model.write_text(case.text())
    plan = plans.plan(model)
    check(plans.fault(plan, plans.save(case.inputs)) == "", f"{name}: refused as it was")
    SPOILT[name](case.inputs)
    fault = plans.fault(plan, plans.save(case.inputs))
    check("tables of a mask's rows and keys name other blocks, or one twice" in fault,
          f"{name}: {fault or 'accepted'}")


# Batches, heads, heads of keys and rows; batches and heads whose gradients of scores are kept at a
# time, a GiB at most.
SIZES = {
    "a GiB of scores": ((1, 32, 32, 4096), [(1, 32)]),
    "more than a GiB of scores": ((1, 33, 33, 4096), [(1, 17), (1, 16)]),
    "batches in parts": ((3, 16, 16, 4096), [(2, 16), (1, 16)]),
    "heads of batches in parts": ((2, 33, 33, 4096), 2 * [(1, 17), (1, 16)]),
    "shared keys in parts": ((1, 40, 10, 4096), [(1, 20), (1, 20)]),
    "a head of more than a GiB": ((1, 1, 1, 32768), []),
    "more parts than kernels are made for": ((17, 32, 32, 4096), []),
    "no batches": ((0, 2, 2, 256), []),
    "no heads": ((1, 0, 0, 256), []),
}


def check_size(plans, name):
    (batches, heads, keys, rows), parts = SIZES[name]
    params = {n: t.replace("[1, 2, 256", f"[{batches}, {keys if n in 'kv' else heads}, {rows}")
              for n, t in Case().params().items()}
    text = plans.plan(plans.write(params, Case().lines(), "y0, y1, y2")).read_text()
    kept = re.findall(rf'(?m)^temporary \S*_kept\S* "f16\[(\d+), (\d+), {rows}, ', text)
    check([(int(b), int(h)) for b, h in kept] == parts, f"{name}: {kept}")


def give_many_rows(plan):
    """Tiles that the query's gradient has where there are hundreds of them."""
    step = re.compile(r"(step k\d+_attention_grad_query\(.*BM: )(\d+)(.*grid )(\d+)(.*)")
    few, programs = map(int, step.search(plan.read_text()).group(2, 4))
    many = rf"\g<1>{ROWS_MANY}\g<3>{programs * few // ROWS_MANY}\g<5>"
    plan.write_text(step.sub(many, plan.read_text()))


def check_case(plans, name):
    if name in SIZES:
        check_size(plans, name)
        return
    if name in FLEX:
        check_flex(plans, name)
        return
    if name in SPOILT:
        check_spoilt(plans, name)
        return
    case = CASES[name]
    model = plans.write(case.params(), case.lines(), "y0, y1, y2")
    inputs, plan = plans.save(case.inputs), plans.plan(model)
    check(("nereid.attention_grad_kept" in plan.read_text()) == case.kept,
          f"{name}: kept gradients in {'no' if case.kept else 'the'} plan")
    if name == "256 rows a program":
        give_many_rows(plan)
    for i, (got, want) in enumerate(zip(plans.values(plan, inputs), case.want, strict=True)):
        off = np.linalg.norm(got - want) / np.linalg.norm(want)
        check(got.shape == want.shape and off < 3e-3, f"{name}: {i}: {off}")


if __name__ == "__main__":
    sys.exit(run_cases([*CASES, *FLEX, *SPOILT, *SIZES], check_case))
