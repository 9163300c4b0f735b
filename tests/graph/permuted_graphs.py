#!/usr/bin/env python3
"""Random graphs of permutations, sums along some axes, and what is computed of both, as kernels for
a GPU do them: their plans, for which the driver of a fake GPU is enough, run on the CPU, and give
what the CPU's own plans give.  Half of the graphs have axes of one size, of which a wrong order is
seen by values alone.

    permuted_graphs.py [--seed S] [--count N]
"""
import argparse, pathlib, random, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from gpu_plans import GpuPlans  # noqa: E402
from tally import report  # noqa: E402

SHAPES = ((12, 12, 12), (6, 12, 20), (2, 8, 8, 8), (2, 6, 10, 16))
STEPS, OUTPUTS = 18, 6
ONE = ("tanh", "sin", "sigmoid")
TWO = ("add", "sub", "mul")
REDUCED = ("sum.dim_IntList", "mean.dim", "amax.default")


class Draw:
    """A graph: its inputs, lines, and values by their shapes."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        shape = SHAPES[seed % len(SHAPES)]
        self.inputs = {name: shape for name in ("x", "y", "z")}
        self.values, self.lines, self.turned = dict(self.inputs), [], []
        for _ in range(STEPS):
            self.step(self.draw.random())
        made = [name for name in self.values if name.startswith("v")]
        self.outputs = sorted({made[-1], *self.draw.sample(made, OUTPUTS)}, key=made.index)

    def add(self, call, shape):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = torch.ops.aten.{call}")
        self.values[name] = shape
        return name

    def step(self, chance):
        """Late values are more likely operands than early ones; most sums are of permutations."""
        names = [*self.values]
        of = names[max(self.draw.randrange(len(names)), self.draw.randrange(len(names)))]
        if chance > 0.75 and self.turned and self.draw.random() < 0.7:
            of = self.draw.choice(self.turned)
        shape = self.values[of]
        axes = [*range(len(shape))]
        if chance < 0.35:
            self.draw.shuffle(axes)
            turned = tuple(shape[axis] for axis in axes)
            self.turned.append(self.add(f"permute.default({of}, {axes})", turned))
        elif chance < 0.5:
            self.add(f"{self.draw.choice(ONE)}.default({of})", shape)
        elif chance < 0.75:
            same = [name for name in names if self.values[name] == shape]
            self.add(f"{self.draw.choice(TWO)}.Tensor({of}, {self.draw.choice(same)})", shape)
        else:
            gone = sorted(self.draw.sample(axes, self.draw.randrange(1, len(axes))))
            op = self.draw.choice(REDUCED)
            kept = tuple(1 if axis in gone else size for axis, size in enumerate(shape))
            row = self.add(f"{op}({of}, {gone}, True)", kept)
            self.add(f"sub.Tensor({of}, {row})", shape)


def check_graph(plans, seed):
    graph, numbers = Draw(seed), np.random.default_rng(seed)
    types = {name: f"f32{list(shape)}" for name, shape in graph.inputs.items()}
    model = plans.write(types, graph.lines, ", ".join(graph.outputs) + ",")
    inputs = plans.save({name: numbers.standard_normal(shape).astype(np.float32)
                         for name, shape in graph.inputs.items()})
    plans.compare(f"seed {seed}", model, plans.plan(model), inputs, len(graph.outputs), 1e-3, 1e-3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--count", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plans = GpuPlans(folder)
        for seed in range(asked.seed, asked.seed + asked.count):
            check_graph(plans, seed)
    return report()


if __name__ == "__main__":
    sys.exit(main())
