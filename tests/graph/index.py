#!/usr/bin/env python3
"""Indices out of range in graphs: `index.py [--devices interp,nest,cpu]`.

index/forms.py has the calls that take indices, and index/raises.txt for which of them
PyTorch raises (index/make.py writes it, where there is PyTorch).  A few calls are one graph; of
each in turn one index is out of range, through the C API.  Where PyTorch raises, the run must name
node, index and position; elsewhere an index that counts from the end gives what the one gives that
it stands for.  Sizes are fixed, and symbols; modes are default and eager.
"""
import argparse, ctypes, os, pathlib, re, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
os.environ.setdefault("NEREID_LIBRARY", str(BUILD.absolute() / "libnereid.so"))
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/graph/index")]
from forms import ARRAYS, FORMS, IGNORED, MOVED  # noqa: E402

KINDS = {"float32": "f32", "int32": "i32", "int64": "i64"}
GROUP = 6  # forms of a graph, of which each run computes all


def raises():
    """By form: the indices that were tried, and whether PyTorch raises."""
    table = {}
    for line in (ROOT / "tests/graph/index/raises.txt").read_text().splitlines():
        name, value, verdict = line.split()
        table.setdefault(name, {})[int(value)] = verdict == "raises"
    return table


def annotation(name, array, symbols):
    sizes = [f"{name}_{i}" if symbols else str(n) for i, n in enumerate(array.shape)]
    return f'{name}: "{KINDS[array.dtype.name]}[{", ".join(sizes)}]"'


def statements(name, call):
    *before, last = re.sub(r"\bi\b", f"i_{name}", call).split("; ")
    lines = [f"{word} = torch.ops.aten.{rest}" for word, rest in (b.split(" = ") for b in before)]
    if last.endswith("[0]"):
        lines.append(f"{name} = torch.ops.aten.{last[:-3]}")
        return [*lines, f"r_{name} = {name}[0]"], f"r_{name}"
    return [*lines, f"{name} = torch.ops.aten.{last}"], name


def graph_text(forms, symbols):
    parameters = [annotation(n, a, symbols) for n, a in ARRAYS.items()]
    parameters += [annotation(f"i_{name}", index, symbols) for name, _, index, _ in forms]
    lines, results = [], []
    for name, call, *_ in forms:
        more, result = statements(name, call)
        lines += more
        results.append(result)
    body = "".join(f"        {line}\n" for line in lines)
    return (f"class G(torch.nn.Module):\n    def forward(self, {', '.join(parameters)}):\n{body}"
            f"        return ({', '.join(results)},)\n")


def aligned(array):
    """A copy that kernels read where it is."""
    room = np.empty(array.nbytes + 16, np.uint8)
    first = -room.ctypes.data % 16
    copy = room[first:first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Runner:
    def __init__(self, binding, error, forms, path, device, mode):
        self.error = error
        self.model = binding.Model(path, device, mode)
        self.inputs = [aligned(a) for a in ARRAYS.values()]
        self.indices = {name: aligned(index) for name, _, index, _ in forms}
        self.inputs += self.indices.values()
        self.run = self.model.bind([(a.ctypes.data, KINDS[a.dtype.name], a.shape)
                                    for a in self.inputs])

    def result(self, number):
        """A copy of the bytes of output `number`, or the message of the failure."""
        try:
            t = self.run()[number]
        except self.error as error:
            return str(error)
        n = int(np.prod([t.shape[i] for i in range(t.ndim)]))
        return ctypes.string_at(t.data, n * t.dtype.bits // 8)


def expected_message(name, index, value, size, negative):
    least = -size if negative else 0
    place = [n - 1 for n in index.shape]
    shown = f"m_{name}" if name in MOVED else f"i_{name}"
    return (f"{name}: index {value + MOVED.get(name, 0)} at {place} of {shown} is out of range: "
            f"{least} to {size - 1}, for an axis of {size} elements")


def check_form(runner, number, form, table, what):
    name, _, index, size = form
    used = runner.indices[name]
    negative = not table.get(-1, True) and name not in MOVED
    for value, raised in table.items():
        used.reshape(-1)[-1] = value
        got = runner.result(number)
        if raised:  # a check of the first index alone is of a slice, where sizes are symbols
            got = str(got).replace(f" of {name}_slice ", f" of i_{name} ")
            check(got == expected_message(name, index, value, size, negative), (what, name, got))
        else:
            check(isinstance(got, bytes), (what, name, value, got))
        if value < 0 and not raised and value != IGNORED.get(name) and name not in MOVED:
            used.reshape(-1)[-1] = value % size
            check(runner.result(number) == got, (what, name, value, "another result"))
    used[...] = index
    check(isinstance(runner.result(number), bytes), (what, name, "a later run"))


def check_device(binding, core, folder, name, mode, symbols):
    path = folder / f"{'symbols' if symbols else 'sizes'}.py"
    device = core.Device(name)
    table = raises()
    for first in range(0, len(FORMS), GROUP):
        forms = FORMS[first:first + GROUP]
        path.write_text(graph_text(forms, symbols))
        runner = Runner(binding, core.Error, forms, path, device, mode)
        for number, form in enumerate(forms):
            check_form(runner, number, form, table[form[0]], (name, mode, symbols))
        runner.model.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,nest,cpu")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder, "-O0")
        import binding as core
        import graph_binding
        graph_binding.DEVICES.update(interp=1, nest=1)
        for device in args.devices.split(","):
            check_device(graph_binding, core, pathlib.Path(folder), device, "default", True)
        check_device(graph_binding, core, pathlib.Path(folder), "interp", "default", False)
        check_device(graph_binding, core, pathlib.Path(folder), "interp", "eager", False)
    return report()


if __name__ == "__main__":
    sys.exit(main())
