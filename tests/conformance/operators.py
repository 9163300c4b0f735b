#!/usr/bin/env python3
"""Every operator on every pair of dtypes, and on numbers, has Triton's type and value.

    operators.py [--devices interp,nest,cpu/7] [DTYPE...]    only with these dtypes of x

cpu/7 stands for a seventh of the values; the C compiler would take a minute for all.

operators/table_3.6.txt and table_3.9.txt have what these versions of Triton do (operators/make.py);
of 3.9 values are compared on the first device alone.  A kernel for each dtype of x
compares the types of all forms, with operands that are tiles and scalars, as it is compiled; others
store results, which are compared with exact arithmetic (operators/values.py).
"""
import argparse, collections, concurrent.futures, os, pathlib, re, subprocess, sys, tempfile
import zlib

import numpy as np

from kernelgen.execute import binding, executor
from kernelgen.model import TL, Array, decode, encode, is_float, storage
from operators.forms import DTYPES, TILE, edges, forms, variable_lines

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
MOST_ERRORS = 20  # that a compile shows
FORMS_OF_A_KERNEL = 200
HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel({}):\n"
INPUTS = [f"{letter}_{dtype}" for letter in "xz" for dtype in DTYPES]


def kernel_text(parameters, lines):
    return HEAD.format(", ".join(parameters)) + "".join(f"    {line}\n" for line in lines)


def one_of(form, choices):
    return choices[zlib.crc32(repr(form).encode()) % len(choices)]


# ---- types ----

def errors_of(x, lines, folder):
    """The errors of a kernel with these lines, by line."""
    path = pathlib.Path(folder) / f"types_{x}.py"
    loads = variable_lines(x, DTYPES)
    path.write_text(kernel_text(INPUTS, loads + lines))
    signature = ",".join(f"{name}=*{name[2:]}" for name in INPUTS)
    command = [NEREID, "compile", path, "--sig", signature,
               "--emit", "tile"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    before = HEAD.count("\n") + 1 + len(loads)
    errors = {int(line) - before: message for line, message in
              re.findall(r"^\S*\.py:(\d+):\d+: error: (.*)", run.stderr, re.M)}
    silent = not errors and not run.stdout.startswith("kernel @")
    if run.returncode != bool(errors) or silent or any(i >= len(lines) or i < 0 for i in errors):
        sys.exit(f"operators.py: {path}: status {run.returncode}\n{run.stderr[-2000:]}")
    return errors


def check_accepted(x, forms, folder):
    """How many forms in all shapes, and texts on those that are refused or of another type."""
    wanted = [(form.text(tiles), form.dtype) for form in forms for tiles in form.shapes()]
    lines = [f"tl.static_assert(({text}).dtype == {TL[dtype]})" for text, dtype in wanted]
    errors = errors_of(x, lines, folder)
    return len(wanted), [f"{wanted[i][0]} is no {wanted[i][1]}: {message}"
                         for i, message in errors.items()]


def check_refused(x, forms, folder):
    """One of the shapes of each form; as many in a kernel as errors are shown."""
    texts = [form.text(one_of(form, form.shapes())) for form in forms]
    problems = []
    for first in range(0, len(texts), MOST_ERRORS):
        part = texts[first:first + MOST_ERRORS]
        errors = errors_of(x, part, folder)
        problems += [f"{text} is accepted" for i, text in enumerate(part) if i not in errors]
    return len(texts), problems


# ---- values ----

class Results:
    """A kernel that stores results of forms, as kernelgen's executors run it."""
    def __init__(self, x, forms, seed):
        self.seed = seed  # that says for which width of vectors cpu compiles
        self.grid, self.warps, self.stages, self.scalars = 1, 4, 1, {}
        self.stored = [(form, tiles) for form in forms for tiles in
                       sorted({form.shapes()[0], one_of(form, form.shapes())})]
        self.slots, self.errors = [], {}
        self.wanted = [form.results(tiles) for form, tiles in self.stored]
        sizes = collections.Counter()
        for form, _ in self.stored:
            self.slots.append(sizes[form.dtype])
            sizes[form.dtype] += TILE
        self.arrays = {name: Array(name[2:], "edges") for name in INPUTS}
        for dtype, size in sizes.items():
            self.arrays[f"o_{dtype}"] = Array(dtype, "zeros")
            self.arrays[f"o_{dtype}"].need(size)
            self.errors[f"o_{dtype}"] = 0
        self.lines = variable_lines(x, DTYPES)
        for (form, tiles), slot in zip(self.stored, self.slots):
            index = f"{slot} + i" if any(tiles) else f"{slot}"
            self.lines.append(f"tl.store(o_{form.dtype} + {index}, {form.text(tiles)})")

    def parameters(self):
        return list(self.arrays)

    def text(self):
        return kernel_text(self.arrays, self.lines)

    def data(self):
        return {name: array.data() if array.kind == "zeros" else
                encoded(edges(array.dtype, name[0] == "z"), array.dtype)
                for name, array in self.arrays.items()}

    def problems(self, outputs, device):
        for (form, tiles), slot, want in zip(self.stored, self.slots, self.wanted):
            got = decode(outputs[f"o_{form.dtype}"][slot:slot + len(want)], form.dtype)
            bad = np.flatnonzero(~same(got, want, form, device))
            if len(bad):
                i = bad[0]
                a = [(o.numbers * TILE)[i] for o in form.operands(tiles)]
                yield (f"{form.text(tiles)} ({form.cell}): {len(bad)} of {len(want)}, first for "
                       f"{a}: {got[i]}, not {want[i]}")


def encoded(numbers, dtype):
    return encode(np.array(numbers), dtype) if is_float(dtype) else \
        np.array(numbers, storage(dtype))


def same(got, want, form, device):
    if not is_float(form.dtype):
        return got == np.array(want, storage(form.dtype))
    want = np.array(want)
    if device == "cuda" and form.cell == "fdiv.f32":  # 2 ulp
        with np.errstate(invalid="ignore"):  # of infinities
            near = np.abs(got - want) <= 2.0 ** -22 * np.abs(want)
    else:
        near = (got == want) & (np.signbit(got) == np.signbit(want))
    return near | (got == want) & np.isinf(want) | np.isnan(got) & np.isnan(want)


def check_values(x, forms, runs):
    total, problems = 0, []
    for first in range(0, len(forms), FORMS_OF_A_KERNEL):
        kernel = Results(x, forms[first:first + FORMS_OF_A_KERNEL], first // FORMS_OF_A_KERNEL)
        total += len(kernel.stored)
        try:
            outputs = runs.run(kernel, kernel.data())
            problems += kernel.problems(outputs, runs.name)
        except binding.Error as error:
            problems.append(str(error))
    return total, [f"{runs.name}: {problem}" for problem in problems]


def check(x, language, devices, folder):
    """How many checks of forms with that dtype of x passed, and texts on those that did not."""
    (pathlib.Path(folder) / "pyproject.toml").write_text(
        f'[project]\ndependencies = ["triton=={language}.*"]\n')
    mine = [form for form in forms(language) if form.x == x]
    valid = [form for form in mine if form.cell != "-"]
    checks = [check_accepted(x, valid, folder),
              check_refused(x, [form for form in mine if form.cell == "-"], folder)]
    for device in devices.split(","):
        name, _, part = device.partition("/")
        checks.append(check_values(x, valid[::int(part or 1)], executor(name, folder)))
    problems = [f"FAIL {language} x {x}: {problem}" for _, found in checks for problem in found]
    return sum(total for total, _ in checks) - len(problems), problems


def check_here(task):
    with tempfile.TemporaryDirectory() as folder:
        return check(*task, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", default="interp,nest,cpu/7")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("dtypes", nargs="*", default=DTYPES)
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        quick_compiler(folder, "-O0", cached=False)
        tasks = [(x, "3.6", options.devices) for x in options.dtypes]
        tasks += [(x, "3.9", options.devices.split(",")[0]) for x in options.dtypes]
        for good, problems in pool.map(check_here, tasks):
            passed, failed = passed + good, failed + len(problems)
            print("".join(problem + "\n" for problem in problems[:MOST_ERRORS]), end="")
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
