#!/usr/bin/env python3
"""Seconds of a first torch.compile, part by part, and microseconds of a call of what it gives.

    startup.py [RESULTS] [--device cuda|cpu] [--small] [--kinds infer,train,resnet50-train]
               [--sides nereid,inductor,aot] [--seconds N] [--alone]
    startup.py RESULTS --device cpu [--cases together,models,operators] [--names A,B] [--of I/N]
               [--samples N] [--seconds N]
    startup.py --report RESULTS [--device cpu]

On a CPU without --kinds, first calls of models and of OpInfo's operators are measured beside
TorchInductor (startup_cpu.py), on each pair of the cores that the process may use; cases that
RESULTS has are not measured again.  The rest of this page is about --kinds.

A run is a process with its own folder of caches: empty in the cold run, as the cold one left it in
the warm one.  Kinds are BERT's inference, a training step of it, one of ResNet-50 (workloads.py),
and "tiny", a few small operators, whose calls cost what Python and launches cost.  Sides are:

    nereid      the backend as it is, whose graphs with gradients are in PyTorch's cache
    traced      the backend with options={"cache_autograd": False}
    inductor    PyTorch's own backend
    aot         "aot_eager_decomp_partition": TorchDynamo and AOTAutograd with PyTorch's operators,
                so that what it takes is the floor of the others

Measured parts never overlap.  While a process measures, the next one imports what it needs, on one
core; with --alone it does so afterwards.  RESULTS gets a line of JSON a run.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import startup_cpu

DYNAMO, AUTOGRAD = "Dynamo", "AOTAutograd"
HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("infer", "train", "resnet50-train")
SIDES = ("nereid", "inductor", "aot", "traced")
BACKENDS = {"traced": ("nereid", {"cache_autograd": False}),
            "aot": ("aot_eager_decomp_partition", None)}
CALLS = 200


# ---- one run, in a process of its own ----


class Clock:
    """Seconds in functions, by name, without those of functions inside that are counted too.
    `beside` has those of threads that compile while PyTorch goes on."""

    def __init__(self):
        self.spent, self.beside = collections.defaultdict(float), collections.defaultdict(float)
        self.of_thread = threading.local()

    def wrap(self, owner, name: str, label: str) -> None:
        inner = getattr(owner, name)

        def timed(*args, **kwargs):
            compiler = threading.current_thread().name == "nereid compiler"
            spent = self.beside if compiler else self.spent
            inside = self.of_thread.__dict__.setdefault("inside", [])
            begin = time.perf_counter()
            inside.append(0.0)
            try:
                return inner(*args, **kwargs)
            finally:
                whole = time.perf_counter() - begin
                spent[label] += whole - inside.pop()
                if inside:
                    inside[-1] += whole

        setattr(owner, name, timed)


def watch(side: str, clock: Clock) -> None:
    """TorchDynamo, AOTAutograd, and what a backend does inside of them."""
    from torch._dynamo import convert_frame, output_graph

    clock.wrap(convert_frame, "_compile", DYNAMO)
    clock.wrap(output_graph.OutputGraph, "call_user_compiler", AUTOGRAD)
    if side == "inductor":
        from torch._inductor import compile_fx

        clock.wrap(compile_fx, "_compile_fx_inner", "backend")
    elif side in ("nereid", "traced"):
        watch_ours(clock)


def watch_ours(clock: Clock) -> None:
    from nereid import torch_backend
    from nereid.torch_backend.cache import stored
    from nereid.torch_backend.decompositions import table
    from nereid.torch_backend.segments import program, segment

    class Graph:
        """The extension's, whose methods' times are counted."""

        def __init__(self, *args):
            self.graph = made(*args)
            clock.wrap(self, "compile", "compile in C")

        def compile(self, *args):
            return self.graph.compile(*args)

    made = segment._nereid.Graph

    class Extension:
        Graph = None

        def __getattr__(self, name):
            return getattr(extension, name)

    extension = segment._nereid
    segment._nereid = Extension()
    segment._nereid.Graph = Graph
    clock.wrap(segment._nereid, "Graph", "read the text")
    clock.wrap(torch_backend, "_compile", "the rest of ours")
    clock.wrap(torch_backend, "keep_attention", "find attention")
    clock.wrap(table, "decompositions", "import decompositions")
    clock.wrap(stored.StoredProgram, "post_compile", "load programs")
    clock.wrap(program, "partition", "partition")
    clock.wrap(program.Program, "finish", "wait for code")
    clock.wrap(program.Program, "_compile_function", "write the program")
    clock.wrap(segment.SegmentPlan, "text", "write the text")
    clock.wrap(segment.Compiled, "__init__", "prepare calls")


class Case:
    """A model and a step of it."""

    def __init__(self, kind: str, options):
        import torch
        import workloads

        self.kind, self.device = kind, options.device
        torch.manual_seed(0)
        self.train = kind.endswith("train")
        if kind == "tiny":
            layers = [torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8)]
            self.model, self.inputs = torch.nn.Sequential(*layers), None
            self.args = (torch.randn(4, 32, device=options.device),)
        else:
            make = workloads.TRAIN["resnet50"] if kind == "resnet50-train" else workloads.bert
            self.model, self.inputs = make(options.device, self.train, options.small)
        self.model.to(options.device).train(self.train)
        if kind == "infer":
            self.model.to(torch.bfloat16)
        for part in self.model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        self.loss_of, self.first = workloads.loss_of, workloads.first_tensor

    def compile(self, side: str) -> None:
        import torch

        backend, options = BACKENDS.get(side, (side, None))
        self.call = self.model
        if side != "eager":
            self.call = torch.compile(self.model, backend=backend, options=options)

    def step(self):
        import torch

        if self.kind == "tiny":
            with torch.no_grad():
                return self.call(*self.args)
        if not self.train:
            with torch.no_grad():
                return self.first(self.call(**self.inputs))
        with torch.autocast(self.device, torch.bfloat16):
            loss = self.loss_of(self.call(**self.inputs))
        loss.backward()
        self.model.zero_grad(set_to_none=True)
        return loss

    def wait(self):
        import torch

        if self.device == "cuda":
            torch.cuda.synchronize()

    def timed(self) -> float:
        begin = time.perf_counter()
        self.step()
        self.wait()
        return time.perf_counter() - begin

    def host(self, count: int) -> float:
        """Seconds of a call until Python goes on: of a few calls at a time, so that none waits."""
        few = 4 if self.kind != "tiny" else 50
        times = []
        for _ in range(max(1, count // few)):
            self.wait()
            begin = time.perf_counter()
            for _ in range(few):
                self.step()
            times.append((time.perf_counter() - begin) / few)
        self.wait()
        return statistics.median(times)


def measure(side: str, kind: str, options) -> dict:
    """Times of a first and of later calls; imports and CUDA's start are over before."""
    begin = time.perf_counter()
    import torch
    import torch._dynamo
    import torch._functorch.aot_autograd

    row = {"import torch": time.perf_counter() - begin}
    ours = side in ("nereid", "traced")
    if ours:
        begin = time.perf_counter()
        from nereid import torch_backend

        torch_backend._programs.keep()
        row["import nereid"] = time.perf_counter() - begin
    elif side == "inductor":
        import torch._inductor.compile_fx
    sys.path.insert(0, str(HERE))
    case = Case(kind, options)
    warm = torch.randn(64, 64, device=options.device)
    (warm @ warm).sum().item()
    case.wait()
    print("ready", flush=True)
    sys.stdin.readline()
    clock = Clock()
    if side != "eager":
        watch(side, clock)
    case.compile(side)
    row["first"] = case.timed()
    row["second"] = case.timed()
    row |= {"parts": dict(clock.spent), "beside": dict(clock.beside)}
    row["host us"] = case.host(CALLS if kind == "tiny" else 20) * 1e6
    row["call"] = min(case.timed() for _ in range(3))
    if ours:
        row["hits"] = torch._dynamo.utils.counters["aot_autograd"]["autograd_cache_hit"]
        row["kernels"] = [segment.executable.info["kernels"] for program in torch_backend._programs
                          for segment in program.segments]
        row["stored"] = [segment.executable.info["stored"] for program in torch_backend._programs
                         for segment in program.segments]
        row["by PyTorch"] = sum(len(program.reasons) for program in torch_backend._programs)
    return row


# ---- all of them ----


def start(side: str, kind: str, folder: str, options):
    names = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "NEREID_CACHE_DIR", "CUDA_CACHE_PATH")
    caches = {name: f"{folder}/{side}-{kind}/{name.lower()}" for name in names}
    command = [sys.executable, __file__, "--one", side, kind, "--device", options.device]
    return subprocess.Popen(command + ["--small"] * options.small, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, **caches})


def finish(process, left: float) -> dict:
    while True:
        line = process.stdout.readline()
        if not line or line == "ready\n":
            break
    try:
        out, errors = process.communicate("go\n", timeout=max(1.0, left))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"problem": "out of time"}
    if process.returncode:
        return {"problem": errors[-1500:]}
    return json.loads(out.strip().rsplit("\n", 1)[-1])


def runs(options) -> list:
    """(side, kind, state), what matters most first."""
    return [(side, kind, state) for kind in options.kinds
            for side in (options.sides if kind != "tiny" else ("eager", *options.sides))
            for state in (("cold",) if side in ("aot", "eager") or kind == "tiny"
                          else ("cold", "warm"))]


def run_all(options) -> None:
    results = pathlib.Path(options.results) if options.results else None
    end, left, rows = time.monotonic() + options.seconds, runs(options), []
    with tempfile.TemporaryDirectory(prefix="nereid-startup-") as folder:
        waiting = None
        while left and time.monotonic() < end:
            side, kind, state = left.pop(0)
            process = waiting or start(side, kind, folder, options)
            waiting = start(*left[0][:2], folder, options) if left and not options.alone else None
            row = {"side": side, "kind": kind, "state": state, "device": options.device}
            row |= finish(process, end - time.monotonic())
            rows.append(row)
            if results:
                with results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            print(line_of(row), flush=True)
        if waiting:
            waiting.kill()
            waiting.communicate()
    print(report(rows))


# ---- report ----


def seconds_of(row: dict) -> list:
    """Of a first call: TorchDynamo, AOTAutograd, the backend, and the rest, which is the run."""
    parts = row["parts"]
    known = [parts.get(DYNAMO, 0.0), parts.get(AUTOGRAD, 0.0),
             sum(seconds for name, seconds in parts.items() if name not in (DYNAMO, AUTOGRAD))]
    return [*known, row["first"] - sum(known)]


def line_of(row: dict) -> str:
    head = f"{row['side']} {row['kind']} {row['state']}"
    if "problem" in row:
        return f"{head}: {row['problem']}"
    parts, beside = (", ".join(f"{name} {seconds:.3f}" for name, seconds in row[key].items())
                     for key in ("parts", "beside"))
    return (f"{head}: first {row['first']:.2f} s, second {row['second']:.3f} ({parts}; beside: "
            f"{beside}); call {row['call'] * 1e3:.2f} ms, of Python {row['host us']:.0f} us; "
            f"kernels {row.get('kernels', '')}, hits {row.get('hits', '')}")


def report(rows: list) -> str:
    heads = ("model", "side", "caches", "first call, s", "Dynamo", "AOTAutograd", "backend",
             "first run", "a call, ms", "until Python goes on, ms")
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for row in rows:
        if "problem" in row:
            continue
        told = " | ".join(f"{seconds:.2f}" for seconds in (row["first"], *seconds_of(row)))
        lines.append(f"| {row['kind']} | {row['side']} | {row['state']} | {told} | "
                     f"{row['call'] * 1e3:.3f} | {row['host us'] / 1e3:.3f} |")
    return "\n".join(lines)


def words(known):
    def parse(text: str) -> list:
        found = text.split(",")
        if not set(found) <= set(known):
            raise argparse.ArgumentTypeError(f"of {', '.join(known)}")
        return found

    return parse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("results", nargs="?")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--small", action="store_true", help="few layers")
    parser.add_argument("--kinds", type=words((*KINDS, "tiny")))
    parser.add_argument("--sides", default=list(SIDES), type=words(SIDES))
    parser.add_argument("--alone", action="store_true", help="no imports beside measurements")
    parser.add_argument("--seconds", type=float, default=220.0)
    parser.add_argument("--cases", default=list(startup_cpu.CASES), type=words(startup_cpu.CASES))
    parser.add_argument("--names", default="", help="these cases alone")
    parser.add_argument("--of", default="1/1", metavar="I/N", help="this part of the cases")
    parser.add_argument("--samples", type=int, default=2, help="of an operator")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--child", choices=startup_cpu.SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=2, help=argparse.SUPPRESS)
    parser.add_argument("--report", metavar="RESULTS")
    options = parser.parse_args()
    of_cpu = options.device == "cpu" and not options.kinds
    options.kinds = options.kinds or list(KINDS)
    if options.child:
        startup_cpu.child(options.child, options.threads, options.samples)
    elif options.report:
        rows = [json.loads(line) for line in pathlib.Path(options.report).read_text().splitlines()]
        print(startup_cpu.report(rows) if of_cpu else report(rows))
    elif of_cpu and not options.one:
        if not options.results:
            parser.error("RESULTS is needed")
        startup_cpu.run(options)
    elif options.one:
        print(json.dumps(measure(*options.one, options)))
    else:
        run_all(options)


if __name__ == "__main__":
    main()
