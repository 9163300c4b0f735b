#!/usr/bin/env python3
"""Windows whose neighbours a thread computes together, as kernels for a GPU do: their plans, for
which the driver of a fake GPU is enough, run on the CPU, and give what the CPU's own plans give.

    strips.py [NAME...]
"""
import pathlib, sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import run_cases  # noqa: E402
from tally import check  # noqa: E402


def conv(stride, padding, dilation=(1, 1), x="x", w="w", y="y"):
    one = [1] * len(stride)
    lists = ", ".join(str(list(numbers)) for numbers in (stride, padding, dilation, one))
    return f"{y} = nereid.conv_depthwise.default({x}, {w}, {lists})"


NORM = ["s = torch.ops.aten.mean.dim(y, [-1], True)", "d = torch.ops.aten.sub.Tensor(y, s)",
        "z = torch.ops.aten.mul.Tensor(d, b)"]
# What is stored in full, and reduced over an image's row or all of it, as for a gate of channels.
ROW = ["z = torch.ops.aten.relu.default(y)", "m = torch.ops.aten.sum.dim_IntList(z, [2])"]
IMAGE = ["z = torch.ops.aten.silu.default(y)", "m = torch.ops.aten.amax.default(z, [1, 2])"]
# name: image, window, lines, values, parts of a strip (1: none).
SAME3 = conv((1, 1), (1, 1, 1, 1))
SAME5 = conv((1, 1), (2, 2, 2, 2))
# name: image, window, lines, values, parts of a strip (1: none).
CASES = {
    "narrow": ((4, 40, 52, 64), (3, 3), [SAME3], "y", 4),
    "odd": ((3, 40, 54, 48), (5, 5), [SAME5], "y", 6),
    "prime": ((2, 40, 53, 64), (3, 3), [SAME3], "y", 1),
    "small": ((1, 8, 8, 64), (3, 3), [SAME3], "y", 1),
    "stride": ((3, 80, 80, 64), (5, 5), [conv((2, 2), (1, 2, 0, 3))], "y", 5),
    "far": ((4, 40, 56, 64), (3, 3), [conv((1, 1), (2, 2, 2, 2), (2, 2))], "y", 7),
    "apart": ((2, 81, 161, 64), (3, 3), [conv((1, 4), (1, 1, 1, 1))], "y", 1),
    "norm": ((4, 40, 56, 96), (7, 7), [conv((1, 1), (3, 3, 3, 3)), *NORM], "z", 7),
    "row": ((4, 32, 48, 64), (3, 3), [SAME3, *ROW], "z, m", 6),
    "image": ((40, 14, 14, 72), (5, 5), [SAME5, *IMAGE], "z, m", 7),
    "line": ((2, 2304, 128), (9,), [conv((1,), (4, 4), (1,))], "y", 6),
    "scaled": ((4, 40, 52, 64), (3, 3),
               ["v = torch.ops.aten.exp.default(x)", conv((1, 1), (1, 1, 1, 1), x="v"),
                "z = torch.ops.aten.add.Tensor(y, x)"], "z", 4),
    # The other window is too wide: elements are computed one by one, each with a sum of its own.
    "wide": ((4, 40, 52, 64), (3, 3),
             ["v = torch.ops.aten.repeat.default(w, [1, 7, 1])",
              conv((1, 1), (1, 1, 10, 10), w="v", y="u"), SAME3,
              "z = torch.ops.aten.add.Tensor(y, u)"], "z", 8),
    # No strips, and two loops over as many positions.
    "pair": ((2, 9, 53, 64), (7, 7),
             ["v = torch.ops.aten.exp.default(w)", conv((1, 1), (3, 3, 3, 3), w="v", y="u"),
              conv((1, 1), (3, 3, 3, 3)), "z = torch.ops.aten.add.Tensor(y, u)"], "z", 2),
}


def check_case(plans, name):
    image, window, lines, values, parts = CASES[name]
    channels = image[-1]
    rng = np.random.default_rng(3)
    shapes = {"x": image, "w": (*window, channels), "b": (channels,)}
    inputs = plans.save({key: rng.normal(size=shape).astype(np.float32)
                         for key, shape in shapes.items()})
    params = {key: f'f32[{", ".join(map(str, shape))}]' for key, shape in shapes.items()}
    model = plans.write(params, [*lines, "e = torch.ops.aten.exp.default(b)"], f"{values}, e")
    kernels = plans.graph(model, "--device", "cuda", "--emit", "kernels")
    found = 1 + max(i for i in range(9) if not i or f"    conv_depthwise_{i} = " in kernels)
    check(found == parts, f"{name}: strips of {found}, not {parts}")
    plan = plans.plan(model)
    plans.compare(name, model, plan, inputs, len(values.split(",")) + 1, 1e-5, 1e-4)


if __name__ == "__main__":
    sys.exit(run_cases(CASES, check_case))
