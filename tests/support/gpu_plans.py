"""Plans with kernels for a GPU where there is none: the driver of a fake GPU is enough to make one,
and the CPU runs it."""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy as np

from quick_cc import quick_compiler
from tally import check, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))


class GpuPlans:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        quick_compiler(folder)
        driver = self.folder / "fake.so"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        subprocess.run([*compiler, "-shared", "-fPIC", "-O1", "-o", driver,
                        ROOT / "tests/support/fake_cuda.c"], check=True)
        self.env = dict(os.environ, NEREID_LIBCUDA=str(driver), FAKE_CUDA="",
                        NEREID_LIBRARY_PATH="", NEREID_CACHE_DIR=str(self.folder / "cache"))

    def graph(self, *args):
        """What `nereid graph` prints with these arguments."""
        done = subprocess.run([NEREID, "graph", *map(str, args)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=self.env)
        check(done.returncode == 0, f"{' '.join(map(str, args))}: {done.stderr}")
        return done.stdout

    def save(self, tensors):
        """The arrays of {name: array}, each as a file; the paths."""
        paths = [self.folder / f"{name}.npy" for name in tensors]
        for path, array in zip(paths, tensors.values()):
            np.save(path, array)
        return paths

    def write(self, params, lines, values):
        """A graph as text, {name: type} its inputs; the path."""
        model = self.folder / "model.py"
        inputs = ", ".join(f'{name}: "{kind}"' for name, kind in params.items())
        body = "".join(f"    {line}\n" for line in lines)
        model.write_text(f"def forward(self, {inputs}):\n{body}    return ({values})\n")
        return model

    def plan(self, model):
        """The path of the GPU's plan, which is a model, too."""
        plan = self.folder / "plan.txt"
        self.graph(model, "--device", "cuda", "--emit", "plan", "-o", plan)
        return plan

    def values(self, model, inputs):
        """What a model's or a plan's run on the CPU gives."""
        out = self.folder / "out"
        for old in out.glob("*.npy"):
            old.unlink()
        self.graph(model, *inputs, "--device", "cpu", "--out-dir", out)
        return [np.load(path) for path in sorted(out.glob("*.npy"))]

    def fault(self, model, inputs):
        """What a run of it on the CPU is refused for; "" if it isn't."""
        done = subprocess.run([NEREID, "graph", model, *inputs, "--device", "cpu", "--out-dir",
                               self.folder / "out"], capture_output=True, text=True, env=self.env)
        return done.stderr if done.returncode else ""

    def compare(self, name, model, plan, inputs, count, rtol, atol):
        """Checks that the GPU's plan gives the `count` values that the CPU's own plan gives."""
        want, got = self.values(model, inputs), self.values(plan, inputs)
        check(len(want) == len(got) == count, f"{name}: {len(got)} values")
        for i, (a, b) in enumerate(zip(want, got)):
            close = a.shape == b.shape and np.allclose(a, b, rtol, atol)
            check(close, f"{name}: value {i} differs: {b}, not {a}")


def run_cases(cases, check_case):
    """Runs check_case(plans, name) of all cases, or of those that the command line names; the exit
    status."""
    with tempfile.TemporaryDirectory() as folder:
        plans = GpuPlans(folder)
        for name in sys.argv[1:] or cases:
            check_case(plans, name)
    return report()
