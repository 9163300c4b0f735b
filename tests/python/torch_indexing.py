#!/usr/bin/env python3
"""Random programs of indexing operators, random numbers and views that are written, through
torch.compile(backend="nereid") against eager PyTorch: errors, shapes, dtypes, strides, values,
gradients, what is written, and which results share memory.

    torch_indexing.py [--count N] [--seed S] [--first I] [--jobs J] [--device cuda]
    torch_indexing.py --only 17,18 --seed S          these programs, as one graph

Program i of a seed is a function of both.  Forty are a graph; of one that fails, the programs
are tried alone, or halves if it does not say which are wrong.  What fails
with PyTorch's backends aot_eager or aot_eager_decomp_partition too is told, and no failure of ours.
A process that dies is one, and the programs after it go on.
"""
import argparse, atexit, importlib.util, json, os, pathlib, shutil, subprocess, sys, tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
import quick_cc, tally

BATCH = 40
SLICE = 10  # batches a process
WRONG = 16  # one program in so many has a mistake, and some of those are right nevertheless
SECONDS = 600  # that a batch may take


# ---- a process that runs programs ----


def difference(got, want, values=True):
    for what in ("shape", "dtype"):
        if getattr(got, what) != getattr(want, what):
            return f"{what} {getattr(got, what)}, not {getattr(want, what)}"
    steps = [[step for step, n in zip(x.stride(), x.shape) if n > 1] for x in (got, want)]
    if steps[0] != steps[1] and want.numel():
        return f"strides {got.stride()}, not {want.stride()}"
    if not values:
        return None
    import torch

    nan = got.dtype.is_floating_point
    same = torch.allclose(got, want, 0, 0, True) if nan else torch.equal(got, want)
    return None if same else f"{got}, not {want}"


def sharing(tensors):
    """Which of the tensors have the same memory."""
    places = [x.untyped_storage().data_ptr() if x.numel() else -i for i, x in enumerate(tensors)]
    return [places.index(place) for place in places]


class Runner:
    """Graphs of programs, compiled and eager."""

    def __init__(self, seed, device):
        import logging

        import torch

        import torch_programs
        self.torch, self.seed = torch, seed
        self.make, torch_programs.DEVICE = torch_programs.Maker, device
        torch.set_num_threads(1)
        torch._dynamo.config.capture_dynamic_output_shape_ops = True
        self.warnings = []
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: self.warnings.append(record.getMessage()[:600])
        logging.getLogger("nereid.torch_backend").addHandler(handler)

    def mode(self, number):
        """How programs are run, which is the same for all of a batch."""
        import random

        r = random.Random(f"{self.seed} {number // BATCH}")
        return (r.choice(("inference", "inference", "training")), r.random() < 0.25,
                r.random() < 0.5)

    def program(self, number):
        kind, _, _ = self.mode(number)
        wrong = number % WRONG == WRONG - 1
        return self.make(self.seed * 1000003 + number, kind == "inference", wrong)

    def inputs_of(self, program, kind):
        given = program.copies()
        if kind == "training":
            given = [x.requires_grad_() if x.is_floating_point() else x for x in given]
        return given

    def results(self, call, inputs, kind):
        """What each program gives: tensors, and gradients after them."""
        self.torch.manual_seed(7)
        found = [list(x) if isinstance(x, (list, tuple)) else [x] for x in call(inputs)]
        if kind != "training":
            return found
        floats = [x for values in found for x in values if x.requires_grad]
        if floats:
            sum((x * (i % 3 + 1)).sum().float() for i, x in enumerate(floats)).backward()
        return [values + [x.grad for x in given if x.requires_grad and x.grad is not None]
                for values, given in zip(found, inputs)]

    def compiled(self, every, number, backend):
        _, is_open, eager_numbers = self.mode(number)
        options = {"options": {"fallback_random": eager_numbers}} if backend == "nereid" else {}
        self.torch._dynamo.reset()
        self.warnings.clear()
        return self.torch.compile(every, backend=backend, fullgraph=True, dynamic=is_open,
                                  **options)

    def check(self, numbers, backend):
        """{program: what is wrong} of the programs as one graph; None as a program: of which is
        not known."""
        kind, is_open, eager_numbers = self.mode(numbers[0])
        made = [self.program(i) for i in numbers]

        def every(inputs):
            return [program.call(tensors) for program, tensors in zip(made, inputs)]

        wanted_of = [self.inputs_of(program, kind) for program in made]
        wanted = self.results(every, wanted_of, kind)
        call, found = self.compiled(every, numbers[0], backend), {}
        for time in range(2):
            if time and is_open and self.grow(made, kind):
                wanted_of = [self.inputs_of(program, kind) for program in made]
                wanted = self.results(every, wanted_of, kind)
            inputs = [self.inputs_of(program, kind) for program in made]
            got = self.results(call, inputs, kind)
            if self.warnings:
                return {None: self.warnings[0]}
            for i, program, *parts in zip(numbers, made, got, wanted, inputs, wanted_of):
                exact = program.law is None or eager_numbers or backend != "nereid"
                problem = self.problem(program, exact, *parts)
                found.update({} if problem is None else {i: f"call {time}, {problem}"})
        return found

    def grow(self, made, kind):
        """Other sizes for the programs that have a meaning with twice the rows; whether there is
        one."""
        grown = False
        for program in made:
            small = program.inputs
            program.inputs = [self.torch.cat([x, x]) if x.dim() else x for x in small]
            try:
                if program.writes or program.law:
                    raise ValueError
                self.results(lambda tensors: [program.call(tensors[0])],
                             [self.inputs_of(program, kind)], kind)
                grown = True
            except (RuntimeError, IndexError, ValueError):
                program.inputs = small
        return grown

    @staticmethod
    def problem(program, exact, got, wanted, inputs, wanted_inputs):
        """What is wrong with a program's results, or with what it wrote."""
        if len(got) != len(wanted):
            return f"{len(got)} results and gradients, not {len(wanted)}"
        for i, (a, b) in enumerate(zip(got, wanted)):
            problem = difference(a, b, exact)
            if problem is None and i == 0 and not exact and not program.law(a.detach()).all():
                problem = f"numbers {a}"
            if problem:
                return f"result {i}: {problem}"
        for i, (a, b) in enumerate(zip(inputs, wanted_inputs)):
            problem = difference(a, b)
            if problem:
                return f"input {i}: {problem}"
        shared = [sharing([*given, *found]) for given, found in ((inputs, got), (
            wanted_inputs, wanted))]
        return None if shared[0] == shared[1] else (
            f"inputs and results share memory as {shared[0]}, not {shared[1]}")

    def eager_error(self, number):
        kind, program = self.mode(number)[0], self.program(number)
        try:
            self.results(lambda tensors: [program.call(tensors[0])],
                         [self.inputs_of(program, kind)], kind)
        except (RuntimeError, IndexError, ValueError) as error:
            return error
        return None

    def check_error(self, number, want, backend):
        """A program that eager mode refuses is refused."""
        kind, program = self.mode(number)[0], self.program(number)
        call = self.compiled(lambda tensors: [program.call(tensors[0])], number, backend)
        try:
            got = self.results(call, [self.inputs_of(program, kind)], kind)
        except Exception:
            return {}
        return {number: f"{got[0]}, where eager mode raises {want}"}

    def problems(self, numbers, backend="nereid"):
        want = self.eager_error(numbers[0]) if len(numbers) == 1 else None
        try:
            if want is not None:
                return self.check_error(numbers[0], want, backend)
            return self.check(numbers, backend)
        except Exception as error:
            text = str(error).partition("\n\nWhile executing")[0]
            return {None: f"{type(error).__name__}: {text[:600]}"}

    def failures(self, numbers):
        """[(programs, what is wrong, is it PyTorch's)]: each that fails alone, else a few."""
        problems = self.problems(numbers)
        if not problems:
            return []
        if len(numbers) == 1:
            return [(numbers, *problems.values(), self.is_others(numbers))]
        found = self.alone(numbers, problems)
        bad = {one for which, *_ in found for one in which}
        if bad and bad == set(problems):
            return found
        if bad:
            return found + self.failures([i for i in numbers if i not in bad])
        half = len(numbers) // 2
        found = self.failures(numbers[:half]) + self.failures(numbers[half:])
        return found or [(numbers, f"together: {problems}", self.is_others(numbers))]

    def alone(self, numbers, problems):
        """The failures of programs that are wrong by themselves; where it is not known which are,
        of those that fail without us."""
        if None not in problems:
            return [failure for i in problems for failure in self.failures([i])]
        others = ((i, self.problems([i], "aot_eager")) for i in numbers)
        return [([i], *problem.values(), True) for i, problem in others if problem]

    def is_others(self, numbers):
        return any(self.problems(numbers, backend)
                   for backend in ("aot_eager", "aot_eager_decomp_partition"))

    def text(self, numbers):
        program = self.program(numbers[0])
        shapes = [tuple(x.shape) for x in program.inputs]
        return f"{program.text} of {shapes}, {self.mode(numbers[0])}"


def graphs_of(runner, numbers):
    """The programs that are a graph each time: those of a batch, one that eager mode refuses."""
    for at in sorted({i // BATCH for i in numbers}):
        batch = [i for i in numbers if i // BATCH == at]
        alone = [i for i in batch if len(batch) > 1 and runner.eager_error(i) is not None]
        yield from filter(None, [[i for i in batch if i not in alone], *([i] for i in alone)])


def work(args):
    """Runs programs; each line that it prints is a JSON object."""
    import faulthandler

    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, True)
    quick_cc.quick_compiler(folder, cached=False)
    runner = Runner(args.seed, args.device)
    for graph in graphs_of(runner, [int(word) for word in args.only.split(",")]):
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        print(json.dumps({"begin": graph}), flush=True)
        failures = [(which, f"{runner.text(which)}: {problem}", others)
                    for which, problem, others in runner.failures(graph)]
        print(json.dumps({"end": graph, "failures": failures}), flush=True)
        faulthandler.cancel_dump_traceback_later()


# ---- the process that starts them ----


class Tests:
    """Counts what processes tell."""

    def __init__(self, args):
        self.args, self.lock, self.failing = args, threading.Lock(), []
        self.done = self.others = 0

    def start(self, numbers):
        """The lines of a process that runs the programs, and how it ended."""
        command = [sys.executable, __file__, "--worker", "--seed", str(self.args.seed), "--device",
                   self.args.device, "--only", ",".join(map(str, numbers))]
        ended = subprocess.run(command, capture_output=True, text=True,
                               env={**os.environ, "OMP_NUM_THREADS": "1"})
        lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        return lines, ended

    def count(self, graph, failures):
        bad = {i for which, *_ in failures for i in which}
        with self.lock:
            tally.passed += len(set(graph) - bad)
            self.done += len(graph)
            for which, text, others in failures:
                only = ",".join(map(str, which))
                text = f"program {only} of seed {self.args.seed}: {text}"
                if others:
                    print(f"aot_eager fails as well: {text}", flush=True)
                    self.others += len(which)
                else:
                    self.failing.append(only)
                    tally.check(False, text)

    def run(self, numbers):
        """Runs programs in a process, and in others what is left when it dies."""
        lines, ended = self.start(numbers)
        begun, left = None, set(numbers)
        for line in lines:
            begun = line.get("begin")
            left -= set(begun or ())
            if begun is None:
                self.count(line["end"], line["failures"])
        if begun is None and not left:
            return
        dead = begun or sorted(left)[:1]
        if len(dead) > 1:
            for i in dead:
                self.run([i])
        else:
            self.count(dead, [(dead, f"the process ended with {ended.returncode}: "
                               f"{ended.stderr[-1500:]}", False)])
        if left - set(dead):
            self.run(sorted(left - set(dead)))

    def run_slice(self, first):
        self.run(list(range(first, min(first + BATCH * SLICE, self.args.first + self.args.count))))
        with self.lock:
            print(f"{self.done} of {self.args.count}, {len(self.failing)} failing",
                  file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    parser.add_argument("--worker", action="store_true")
    args = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    if args.worker:
        return work(args)
    tests = Tests(args)
    if args.only:
        tests.run([int(word) for word in args.only.split(",")])
    else:
        with ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(tests.run_slice, range(args.first, args.first + args.count,
                                                 BATCH * SLICE)))
    if tests.failing:
        print("again: torch_indexing.py --seed", args.seed, "--only", " | ".join(tests.failing))
    if tests.others:
        print(f"{tests.others} skipped: AOTAutograd's own, with aot_eager too")
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
