"""Kernels as files: what a failure is printed as, and what is kept of those that were mended.

A file is the kernel's text below lines that say how it is launched:

    # warps 4, stages 2, grid 1, n0 13
    # x0: f64[227] small -8 8, seed 3
    # o0: f64[3] zeros, error 0, seed 0
    # o1: f64[3] zeros within x0 2, seed 0
"""
import re

from .model import Array, Kernel


class Found(Kernel):
    """A kernel whose text was read."""
    def text(self):
        return self.source

    def parameters(self):
        taken = re.findall(r"\w+", re.search(r"(?s)def kernel\((.*?)\)", self.source)[1])
        return [name for name in [*self.arrays, *self.scalars] if name in taken]


def describe(kernel):
    used = kernel.parameters()
    launch = dict(warps=kernel.warps, stages=kernel.stages, grid=kernel.grid)
    launch.update((n, v) for n, v in kernel.scalars.items() if n in used)
    lines = [", ".join(f"{name} {value}" for name, value in launch.items())]
    for name, a in kernel.arrays.items():
        if name in used or name in kernel.memory():
            bounds = f" {a.lo} {a.hi}" if a.kind == "small" else ""
            bounds += f" within {a.within[0]} {a.within[1]}" if a.within else ""
            more = f"error {kernel.errors[name]!r}, " if name in kernel.errors else ""
            more += f"seed {a.seed}"
            lines.append(f"{name}: {a.dtype}[{a.count}] {a.kind}{bounds}, {more}")
    return "".join(f"# {line}\n" for line in lines) + kernel.text()


def read(path):
    kernel = Found(path.stem)
    kernel.source = path.read_text()
    head, *arrays = re.findall(r"(?m)^# (.*)", kernel.source)
    for name, value in re.findall(r"(\w+) (\d+)", head):
        if name in ("warps", "stages", "grid"):
            setattr(kernel, name, int(value))
        else:
            kernel.scalars[name] = int(value)
    for line in arrays:
        name, dtype, count, kind, bounds, base, at, more = re.fullmatch(
            r"(\w+): (\w+)\[(\d+)\] (\w+)((?: -?\d+)*)(?: within (\w+) (\d+))?, (.*)",
            line).groups()
        a = kernel.arrays[name] = Array(dtype, kind, within=(base, int(at)) if base else None)
        a.count = int(count)
        if bounds:
            a.lo, a.hi = map(int, bounds.split())
        for what, value in re.findall(r"(error|seed) ([^\s,]+)", more):
            if what == "error":
                kernel.errors[name] = float(value)
            else:
                a.seed = int(value)
    return kernel
