"""Run one of Triton's tutorials as a script: tutorial.py SIDE SCRIPT [ARGUMENTS].

The script is not changed. Its figures are drawn at the first and the last of the sizes it asks for
(CONFORMANCE_SIZES=all: at all), without a window. Triton's profiler, which tutorial 09 uses to print
a table, is a program of its own and is left out on both sides; the cuBLAS of Triton's library is
replaced by PyTorch's product on Nereid's. matplotlib and pandas are replaced by
empty modules where the machine lacks them.
"""

import contextlib
import importlib.util
import os
import runpy
import sys
import types


def attribute(name):
    """Any attribute of a module that draws or tabulates."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()


class Anything:
    """Stands for any object of a module that draws or tabulates: every use gives another one."""

    def __getattr__(self, name):
        return attribute(name)

    def __call__(self, *args, **kwargs):
        return Anything()

    def __getitem__(self, key):
        return Anything()

    def __setitem__(self, key, value):
        pass

    def __iter__(self):
        return iter((Anything(), Anything()))

    def __len__(self):
        return 0

    def __sub__(self, other):
        return Anything()

    __truediv__ = __mul__ = __add__ = __sub__


def empty_module(name):
    module = types.ModuleType(name)
    module.__path__ = []
    module.__spec__ = importlib.util.spec_from_loader(name, None, is_package=True)
    module.__getattr__ = attribute
    sys.modules[name] = module
    return module


def without_profiler():
    """Give `triton.profiler` names that do nothing."""
    import triton

    module = empty_module("triton.profiler")
    for name in ("start", "activate", "deactivate", "finalize"):
        setattr(module, name, lambda *args, **kwargs: None)
    module.scope = lambda *args, **kwargs: contextlib.nullcontext()
    triton.profiler = module
    viewer = empty_module("triton.profiler.viewer")
    viewer.parse = lambda *args, **kwargs: (None, None)
    viewer.print_tree = lambda *args, **kwargs: None
    module.viewer = viewer


def at_two_sizes():
    """Let a benchmark keep the first and the last of its sizes."""
    import triton.testing

    start = triton.testing.Benchmark.__init__

    def replacement(self, *args, **kwargs):
        start(self, *args, **kwargs)
        values = list(self.x_vals)
        self.x_vals = values[:1] + values[-1:] if len(values) > 2 else values

    triton.testing.Benchmark.__init__ = replacement


def main():
    side, script = sys.argv[1], sys.argv[2]
    if side == "nereid":
        import nereid

        nereid.install_as_triton()
        import cublas_by_torch

        cublas_by_torch.give()
    for name in ("matplotlib", "pandas", "tabulate"):
        if importlib.util.find_spec(name) is None:
            empty_module(name)
            if name == "matplotlib":
                empty_module("matplotlib.pyplot")
    without_profiler()
    if os.environ.get("CONFORMANCE_SIZES") != "all":
        at_two_sizes()
    sys.argv = sys.argv[2:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
