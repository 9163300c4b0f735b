#!/usr/bin/env python3
"""Elements that are read along one axis and written along another, as kernels for a GPU take them:
in tiles of both axes, and with results of several orders of axes from one read.  Their plans, for
which the driver of a fake GPU is enough, give on the CPU what the CPU's own plans give.

    crossed.py [NAME...]
"""
import pathlib, sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import run_cases  # noqa: E402
from tally import check  # noqa: E402


def turned(y, x, axes):
    return f"{y} = torch.ops.aten.permute.default({x}, {list(axes)})"


def copied(y, x):
    return f"{y} = torch.ops.aten.clone.default({x})"


def scaled(y, x, by="s"):
    return f"{y} = torch.ops.aten.mul.Tensor({x}, {by})"


X = (40, 72)
# name: shapes, lines, values, kernels with tiles of two axes, kernels.
CASES = {
    "matrix": ({"x": X}, [turned("t", "x", (1, 0)), copied("y", "t")], "y", 1, 1),
    "sum": ({"x": X, "y": (72, 40)},
            [turned("t", "x", (1, 0)), "z = torch.ops.aten.add.Tensor(t, y)"], "z", 1, 1),
    "channels": ({"x": (3, 40, 9, 11)},
                 [turned("t", "x", (0, 2, 3, 1)), "y = torch.ops.aten.relu.default(t)"], "y", 1, 1),
    "back": ({"x": (3, 9, 11, 40)}, [turned("t", "x", (0, 3, 1, 2)), copied("y", "t")], "y", 1, 1),
    "middle": ({"x": (8, 12, 10, 16)}, [turned("t", "x", (0, 2, 1, 3)), copied("y", "t")],
               "y", 0, 1),
    "first": ({"x": (10, 12, 30)}, [turned("t", "x", (2, 1, 0)), copied("y", "t")], "y", 1, 1),
    # A weight's gradient: the window's axes are few elements, and continue the channels.
    "window": ({"x": (3, 3, 24, 40)}, [turned("t", "x", (3, 2, 0, 1)), copied("y", "t")],
               "y", 1, 1),
    "few": ({"x": (200, 3)}, [turned("t", "x", (1, 0)), copied("y", "t")], "y", 0, 1),
    # Eight rows read one, as fields read a word.
    "fields": ({"x": (128, 1024), "s": (1024, 1024)},
               ["u = torch.ops.aten.unsqueeze.default(x, 1)",
                "e = torch.ops.aten.expand.default(u, [128, 8, 1024])",
                "r = torch.ops.aten.reshape.default(e, [1024, 1024])", scaled("y", "r")],
               "y", 1, 1),
    # Both results are of one read.
    "both": ({"x": X, "s": (1,)},
             [scaled("y", "x"), turned("t", "y", (1, 0)), copied("z", "t")], "y, z", 1, 1),
    "square": ({"x": (48, 48), "s": (1,)},
               [scaled("y", "x"), turned("t", "y", (1, 0)), copied("z", "t")], "y, z", 1, 1),
    # What is computed of a permutation is that of the tensor.
    "again": ({"x": X, "s": (1,)},
              [turned("t", "x", (1, 0)), scaled("y", "t"), scaled("z", "x")], "y, z", 1, 1),
    "three": ({"x": (12, 20, 30), "s": (1,)},
              [turned("t", "x", (2, 0, 1)), scaled("y", "t"), turned("u", "x", (1, 2, 0)),
               scaled("z", "u")], "y, z", 1, 1),
    "largest": ({"x": X},
                [turned("t", "x", (1, 0)), "a = torch.ops.aten.abs.default(t)",
                 "y = torch.ops.aten.amax.default(a, [0, 1])",
                 "b = torch.ops.aten.abs.default(x)",
                 "z = torch.ops.aten.amax.default(b, [0, 1])"], "y, z", 0, 1),
    "sums": ({"x": (16, 300, 20)},
             [turned("t", "x", (2, 0, 1)), "a = torch.ops.aten.exp.default(t)",
              "y = torch.ops.aten.sum.dim_IntList(a, [2])",
              "z = torch.ops.aten.amax.default(a, [1, 2], True)"], "y, z", None, None),
}


def check_case(plans, name):
    shapes, lines, values, crossed, count = CASES[name]
    rng = np.random.default_rng(3)
    inputs = plans.save({key: rng.normal(size=shape).astype(np.float32)
                         for key, shape in shapes.items()})
    params = {key: f'f32[{", ".join(map(str, shape))}]' for key, shape in shapes.items()}
    model = plans.write(params, lines, values)
    kernels = plans.graph(model, "--device", "cuda", "--emit", "kernels")
    down = kernels.count("    down = tl.cdiv(")
    found = kernels.count("    across = tl.cdiv(") + down
    check(crossed in (found, None), f"{name}: {found} kernels have tiles of two axes")
    one_way = "," not in values and found > 0
    check(bool(down) == one_way, f"{name}: {down} kernels go down what they store")
    launched = kernels.count("\ndef k")
    check(count in (launched, None), f"{name}: {launched} kernels, not {count}")
    plan = plans.plan(model)
    plans.compare(name, model, plan, inputs, len(values.split(",")), 1e-5, 1e-5)


def check_rounding(plans):
    """What is stored as 8-bit floats twice is rounded once."""
    lines = ["w = torch.ops.aten.to.dtype(x, torch.float32)", scaled("v", "w"),
             "y = torch.ops.aten.to.dtype(v, torch.float8_e4m3fn)", turned("t", "y", (1, 0)),
             copied("z", "t")]
    model = plans.write({"x": "bf16[40, 72]", "s": "f32[1]"}, lines, "y, z")
    text = plans.graph(model, "--device", "cuda", "--emit", "kernels").split("\ndef k0", 1)[-1]
    count = text.count("to_float8e4nv(")
    check(count == 1 and text.count("tl.store(") == 2, f"it is rounded {count} times:\n{text}")


def check_any(plans, name):
    check_rounding(plans) if name == "rounding" else check_case(plans, name)


if __name__ == "__main__":
    sys.exit(run_cases([*CASES, "rounding"], check_any))
