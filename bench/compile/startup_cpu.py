"""Seconds of first calls on a CPU, of models and of OpInfo's operators, beside TorchInductor.

`startup.py --device cpu` runs it.  A case is a model of architectures.py (its forward pass, or a
step of training in bf16 autocast), a sample of an operator (its forward pass, or forward and
gradient), or a function of `together`, which is many operators in one graph.  A process has caches
of its own, empty at its start, two cores and two threads; it measures one model, or GROUP operators
one after the other.  Both sides measure a case on the same cores, in turns.  A process compiles a
small function first, which is not counted: by it TorchInductor compiles its headers, and either
side imports what it needs.

A case is over where Nereid's first call takes longer than TorchInductor's by more than NOISE, or
longer than LIMIT.
"""

from __future__ import annotations

import collections
import importlib.util
import json
import os
import pathlib
import queue
import selectors
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
SIDES = ("nereid", "inductor")
GROUP = 12  # operators of a process
LIMIT = 20.0  # seconds that no first call may take
NOISE = 0.2  # seconds by which a call on busy cores differs from itself
STOP = 120.0  # seconds after which a case is given up
START = 300.0  # seconds until a process has imported all and compiled its small function
CASES = ("together", "models", "operators")


# ---- cases, in a process of a side ----


def together() -> dict:
    """name: (function, its tensors)."""
    import torch
    import torch.nn.functional as F

    def special(x):
        s = torch.special
        p, u = x.abs() + 0.1, torch.sigmoid(x)
        return [s.airy_ai(x), s.bessel_j0(x), s.bessel_j1(x), s.bessel_y0(p), s.bessel_y1(p),
                s.digamma(p), s.entr(p), s.erf(x), s.erfc(x), s.erfcx(x), s.erfinv(u), s.exp2(x),
                s.expm1(x), s.gammainc(p, p + 1), s.gammaincc(p, p + 1), s.gammaln(p), s.i0(x),
                s.i0e(x), s.i1(x), s.i1e(x), s.log1p(p), s.log_ndtr(x), s.logit(u),
                s.modified_bessel_k0(p), s.modified_bessel_k1(p), s.ndtr(x), s.ndtri(u),
                s.spherical_bessel_j0(x), s.zeta(p + 1, p), s.polygamma(1, p), torch.sinc(x)]

    def pools(x):
        line, box = x.flatten(2)[..., :64], x.unflatten(1, (4, 2)).transpose(1, 2)
        found = [F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 1, 1),
                 F.adaptive_avg_pool2d(x, (7, 5)), F.adaptive_max_pool2d(x, (7, 5)),
                 F.lp_pool2d(x, 2, 3), F.max_pool1d(line, 3), F.avg_pool1d(line, 4),
                 F.max_pool3d(box, 2), F.avg_pool3d(box, 2)]
        return [part.square().sum() for part in found]

    def sorts(x):
        wide = x.flatten()[:256].double()
        return [wide.sort()[0], wide.topk(9)[0], wide.cumprod(0), wide.cummax(0)[0],
                wide.logcumsumexp(0), wide.median(), wide.kthvalue(7)[0]]

    return {"31 special functions": (special, (torch.randn(1000),)),
            "10 poolings": (pools, (torch.randn(2, 8, 32, 32),)),
            "7 orders of 256 numbers of 64 bits": (sorts, (torch.randn(2, 8, 32, 32),))}


def gradients(outputs, leaves) -> None:
    import torch

    some = [out for out in outputs if torch.is_tensor(out) and out.requires_grad]
    total = sum(out.float().sum() if not out.is_complex() else out.abs().sum() for out in some)
    if some:
        torch.autograd.grad(total, leaves, allow_unused=True)


class Side:
    """Measures the cases that standard input names, a line of JSON each: [kind, name, mode]."""

    def __init__(self, side: str, threads: int):
        import torch
        from torch._functorch import config

        self.torch, self.side = torch, side
        torch.set_num_threads(threads)
        sys.path.insert(0, str(HERE))
        config.enable_autograd_cache = True
        if side == "nereid":
            import nereid  # noqa: F401
        self.functions = self.operators = None

    def compile(self, function):
        return self.torch.compile(function, backend=self.side)

    def timed(self, call) -> float:
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    def start(self) -> float:
        def small(x):
            return (x.sin() + 1).sum()

        x = self.torch.randn(64, requires_grad=True)
        return self.timed(lambda: self.compile(small)(x).backward())

    def one_together(self, name: str, mode: str) -> list:
        torch = self.torch
        self.functions = self.functions or together()
        function, tensors = self.functions[name]
        if mode == "forward":
            call = self.compile(function)
            with torch.no_grad():
                return [("", self.timed(lambda: call(*tensors)))]
        leaves = [tensor.clone().requires_grad_() for tensor in tensors]
        gradients(function(*leaves), leaves)
        call = self.compile(function)
        return [("", self.timed(lambda: gradients(call(*leaves), leaves)))]

    def one_model(self, name: str, mode: str) -> list:
        import models

        torch = self.torch
        module, args, kwargs = models.build(name, False, "cpu")
        call = self.compile(module)
        if mode == "forward":
            module.eval()
            with torch.no_grad():
                module(*args, **kwargs)
                return [("", self.timed(lambda: call(*args, **kwargs)))]
        module.train()

        def step():
            with torch.autocast("cpu", torch.bfloat16):
                loss = models.loss_of(call(*args, **kwargs), models.SEED)
            loss.backward()

        return [("", self.timed(step))]

    def one_operator(self, name: str, mode: str, samples: int) -> list:
        import opinfo_worker as worker

        torch = self.torch
        if not self.operators:
            worker.invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
            self.operators = {worker.name_of(op): op for op in worker.invocations.op_db}
        case = worker.Case(self.operators[name],
                           {"device": "cpu", "dtype": "float32", "layout": "plain",
                            "samples": samples})
        dtype, found = case.dtype(), []
        for sample, train in self.samples(case, dtype, mode):
            try:
                worker.Result(case.function, sample, train)
            except Exception:  # eager PyTorch does not take it
                continue

            def function(*args, **kwargs):
                return case.function(*args, **kwargs)

            call = torch.compile(function, backend=self.side, dynamic=False)
            found.append((sample.label(), self.timed(lambda: worker.Result(call, sample, train))))
            torch._dynamo.reset()
        return found

    def samples(self, case, dtype, mode: str) -> list:
        if not dtype:
            return []
        samples, train = case.samples(dtype)
        wanted = mode == "gradient"
        return [(sample, wanted) for sample in samples] if train or not wanted else []

    def one(self, kind: str, name: str, mode: str, samples: int) -> list:
        self.torch._dynamo.reset()
        self.torch.manual_seed(0)
        if kind == "together":
            return self.one_together(name, mode)
        if kind == "models":
            return self.one_model(name, mode)
        return self.one_operator(name, mode, samples)


def child(side: str, threads: int, samples: int) -> None:
    """Answers, a line of JSON each: {"ready": seconds}, then for a case {"case", "seconds"}."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    measuring = Side(side, threads)
    out.write(json.dumps({"ready": measuring.start()}) + "\n")
    for line in sys.stdin:
        case = json.loads(line)
        row = {"case": case}
        try:
            row["seconds"] = measuring.one(*case, samples)
        except Exception as error:
            row["problem"] = f"{type(error).__name__}: {error}"[:300]
        out.write(json.dumps(row) + "\n")
    out.flush()
    os._exit(0)


# ---- processes ----


class Process:
    """A side's, on `cores`; None is what it says after its end, or if it takes too long."""

    def __init__(self, side: str, cores: list, folder: str, options):
        names = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "NEREID_CACHE_DIR")
        caches = {name: f"{folder}/{name.lower()}" for name in names}
        n = str(len(cores))
        self.log = open(f"{folder}/errors", "w")
        command = ["taskset", "-c", ",".join(map(str, cores)), sys.executable,
                   str(HERE / "startup.py"), "--device", "cpu", "--child", side, "--samples",
                   str(options.samples), "--threads", n]
        self.process = subprocess.Popen(
            command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            start_new_session=True, env={**os.environ, **caches, "OMP_NUM_THREADS": n,
                                         "TORCHINDUCTOR_COMPILE_THREADS": n,
                                         "CUDA_VISIBLE_DEVICES": ""})
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def hear(self, seconds: float):
        if not self.selector.select(timeout=seconds):
            return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, case: list, seconds: float) -> dict:
        try:
            self.process.stdin.write(json.dumps(case) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"problem": "the process ended"}
        begin = time.monotonic()
        row = self.hear(seconds)
        if row:
            return row
        late = time.monotonic() - begin > 0.9 * seconds
        return {"problem": f"more than {seconds:.0f} s" if late else "the process ended"}

    def end(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.log.close()


def measure_group(side: str, group: list, cores: list, options, write) -> None:
    """Cases that end a process are given up, and the others have a new one."""
    left = list(group)
    while left and time.monotonic() < options.end:
        with tempfile.TemporaryDirectory(prefix="nereid-startup-", ignore_cleanup_errors=True
                                         ) as folder:
            process = Process(side, cores, folder, options)
            ready = process.hear(min(START, max(1.0, options.end - time.monotonic())))
            if not ready:
                process.end()
                return
            start = ready["ready"]
            while left:
                stop = min(STOP, options.end - time.monotonic())
                if stop <= 0:
                    break
                row = process.ask(left[0], stop)
                if "problem" in row and stop < STOP:  # the time of the whole run is over
                    break
                write({"side": side, "case": left.pop(0), "start": start, **row})
                if "case" not in row:
                    break
            process.end()


# ---- all of them ----


def modes(kind: str, names: list) -> list:
    return [[kind, name, mode] for name in names for mode in ("forward", "gradient")]


def operator_names() -> list:
    command = ("from torch.testing._internal.common_methods_invocations import op_db\n"
               "print(*(f'{op.name}.{op.variant_test_name}'.rstrip('.') for op in op_db))")
    done = subprocess.run([sys.executable, "-c", command], text=True, stdout=subprocess.PIPE,
                          check=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    return done.stdout.split()


def model_cases() -> list:
    sys.path.insert(0, str(HERE))
    import architectures

    modules = sorted({entry.library for entry in architectures.TABLE.values()})
    missing = [name for name in modules if not importlib.util.find_spec(name)]
    if missing:
        print(f"models of {', '.join(missing)} are left out: not installed")
    return [["models", name, mode] for name, entry in architectures.TABLE.items()
            if entry.library not in missing
            for mode in (("forward", "gradient") if entry.train else ("forward",))]


def groups(options) -> list:
    """The cases that a process measures, what matters most first."""
    index, count = map(int, options.of.split("/"))
    found = []
    if "together" in options.cases:
        found += [[case] for case in modes("together", list(together()))]
    if "models" in options.cases:
        found += [[case] for case in model_cases()]
    if "operators" in options.cases:
        names = operator_names()
        for i in range(0, len(names), GROUP):
            found.append(modes("operators", names[i:i + GROUP]))
    wanted = set(filter(None, options.names.split(",")))
    if wanted:
        found = [[case for case in group if case[1] in wanted] for group in found]
    return [group for group in found if group][index - 1::count]


def read(path: str) -> list:
    found = pathlib.Path(path)
    return [json.loads(line) for line in found.read_text().splitlines()] if found.exists() else []


def run(options) -> None:
    options.end = time.monotonic() + options.seconds
    done = {(row["side"], *row["case"]) for row in read(options.results)}
    tasks: queue.SimpleQueue = queue.SimpleQueue()
    for i, group in enumerate(groups(options)):
        tasks.put((i, group))
    cores, lock = sorted(os.sched_getaffinity(0)), threading.Lock()
    pairs = [cores[i:i + 2] for i in range(0, max(1, len(cores) - 1), 2)]

    def write(row: dict) -> None:
        with lock, open(options.results, "a") as file:
            file.write(json.dumps(row) + "\n")

    def work(pair: list) -> None:
        while time.monotonic() < options.end:
            try:
                i, group = tasks.get_nowait()
            except queue.Empty:
                return
            for side in SIDES[::-1] if i % 2 else SIDES:
                left = [case for case in group if (side, *case) not in done]
                measure_group(side, left, pair, options, write)

    workers = [threading.Thread(target=work, args=(pair,)) for pair in pairs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(report(read(options.results)))


# ---- report ----


def paired(rows: list) -> dict:
    """(kind, name, mode, sample): {side: seconds}; problems by case and side."""
    found, problems = collections.defaultdict(dict), {}
    for row in rows:
        if "problem" in row:
            problems[(*row["case"], row["side"])] = row["problem"]
        for sample, seconds in row.get("seconds", ()):
            found[(*row["case"], sample)][row["side"]] = seconds
    return found, problems


def is_over(times: dict) -> bool:
    ours = times.get("nereid", 0.0)
    return ours > LIMIT or ours > times.get("inductor", float("inf")) + NOISE


def line_of(case: tuple, times: dict) -> str:
    kind, name, mode, sample = case
    told = " | ".join(f"{times[side]:.2f}" if side in times else "" for side in SIDES)
    ratio = f"{times['nereid'] / times['inductor']:.2f}" if len(times) == 2 else ""
    return f"| {name} | {mode} | {sample[:80].replace('|', chr(92) + '|')} | {told} | {ratio} |"


HEAD = ["| case | mode | sample | nereid, s | inductor, s | ratio |",
        "| --- | --- | --- | ---: | ---: | ---: |"]


def summary(kind: str, mode: str, found: dict) -> str:
    both = [times for case, times in found.items()
            if case[0] == kind and case[2] == mode and len(times) == 2]
    if not both:
        return f"| {kind} | {mode} | 0 | | | | | | |"
    told = [f"{measure(times[side] for times in both):.2f}" for side in SIDES
            for measure in (statistics.median, sum, max)]
    return f"| {kind} | {mode} | {len(both)} | {' | '.join(told)} |"


def report(rows: list) -> str:
    found, problems = paired(rows)
    measures = ("median", "sum", "longest")
    lines = ["| " + " | ".join(["cases", "mode", "measured", *(f"{side}: {measure}, s"
             for side in SIDES for measure in measures)]) + " |",
             "| --- | --- |" + " ---: |" * (1 + 2 * len(measures))]
    lines += [summary(kind, mode, found) for kind in CASES for mode in ("forward", "gradient")]
    starts = {side: [row["start"] for row in rows if row["side"] == side] for side in SIDES}
    told = ", ".join(f"{side} {statistics.median(s):.2f} s" for side, s in starts.items() if s)
    lines += ["", f"The small function that a process compiles first: {told}.", ""]
    for kind in CASES[:2]:
        some = sorted((case, times) for case, times in found.items() if case[0] == kind)
        lines += [*HEAD, *(line_of(*pair) for pair in some), ""] if some else []
    over = sorted(((case, times) for case, times in found.items() if is_over(times)),
                  key=lambda pair: -pair[1]["nereid"])
    lines += [f"Over TorchInductor's first call by {NOISE} s, or over {LIMIT:.0f} s: {len(over)} "
              f"of {len(found)}.", "", *HEAD, *(line_of(*pair) for pair in over), ""]
    longest = sorted(((case, times) for case, times in found.items() if "nereid" in times),
                     key=lambda pair: -pair[1]["nereid"])[:20]
    lines += ["The longest:", "", *HEAD, *(line_of(*pair) for pair in longest), "", "Problems:", ""]
    lines += [f"- {' '.join(case)}: {problem}" for case, problem in sorted(problems.items())]
    return "\n".join(lines)
