#!/usr/bin/env python3
"""Random graphs of small steps, many of which are alike, as kernels for a GPU do them: launches of
several steps, and functions that several launches share.  Their plans, for which the driver of a
fake GPU is enough, run on the CPU, and give what the CPU's own plans give.

    joined_launches.py [--seed S] [--count N]
"""
import argparse, pathlib, random, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import GpuPlans  # noqa: E402
from tally import report  # noqa: E402

LAYERS, COLUMNS = 8, 4
SHAPES = ((40, 100), (24, 36))
# What a step makes of {x} along {axis}; another axis than before begins another kernel.
STEPS = (["{y} = torch.ops.aten.softmax.int({x}, {axis})"],
         ["{y}a = torch.ops.aten.cumsum.default({x}, {axis})",
          "{y} = torch.ops.aten.tanh.default({y}a)"],
         ["{y}a = torch.ops.aten.mean.dim({x}, [{axis}], True)",
          "{y} = torch.ops.aten.sub.Tensor({x}, {y}a)"],
         ["{y}a = torch.ops.aten.amax.default({x}, [{axis}], True)",
          "{y}b = torch.ops.aten.sub.Tensor({x}, {y}a)",
          "{y} = torch.ops.aten.exp.default({y}b)"])


class Draw:
    """A graph of columns of steps: those of a layer do not depend on each other, and the first ones
    are mostly alike."""

    def __init__(self, seed):
        draw = random.Random(seed)
        shapes = [SHAPES[draw.random() < 0.3] for _ in range(COLUMNS)]
        self.inputs = {f"x{i}": shape for i, shape in enumerate(shapes)}
        self.lines, self.outputs = [], []
        last = [*self.inputs]
        for layer in range(LAYERS):
            for i in range(COLUMNS):
                step = STEPS[0] if i < 2 and draw.random() < 0.8 else draw.choice(STEPS)
                names = {"x": last[i], "y": f"v{layer}_{i}", "axis": layer % 2}
                self.lines += [line.format(**names) for line in step]
                last[i] = names["y"]
            self.outputs += last

    def types(self):
        return {name: f"f32{list(shape)}" for name, shape in self.inputs.items()}


def check_graph(plans, seed):
    graph, numbers = Draw(seed), np.random.default_rng(seed)
    model = plans.write(graph.types(), graph.lines, ", ".join(graph.outputs) + ",")
    inputs = plans.save({name: numbers.standard_normal(shape).astype(np.float32)
                         for name, shape in graph.inputs.items()})
    plans.compare(f"seed {seed}", model, plans.plan(model), inputs, len(graph.outputs), 1e-4, 1e-4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plans = GpuPlans(folder)
        for seed in range(asked.seed, asked.seed + asked.count):
            check_graph(plans, seed)
    return report()


if __name__ == "__main__":
    sys.exit(main())
