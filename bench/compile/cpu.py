#!/usr/bin/env python3
"""Compiled models and steps of training on a CPU, beside eager PyTorch, TorchInductor and, in
inference, ONNX Runtime.

    cpu.py [--sides eager,inductor,onnx,file,nereid] [--threads N] [--rounds N] [--seconds S]
           [--processor-time] [--beside] [--ahead N] [--ready S] [--busy N] [--alone] [--avx2]
           [--headers DIR] [--kernels DIR] [--json FILE] [NAME...]

Models (cpu_models.py, cpu_vision.py, cpu_text.py) have random weights, in f32, or of eight bits
(cpu_int8.py); NAME is the
beginning of one, with its kind.  A model is a process.  With --beside, processes run beside each
other, each on N cores of its own; with --ahead, N processes make their first calls beside each
other on all cores, and are timed (in turn, or --beside) once all are ready, or S seconds after the
start: a side that is not ready then is left out.  A process's sides have the same weights and
inputs and take turns, round by round, for S seconds at most; a turn is calls for 20 ms that are not
counted, in which threads of another side's library go to sleep, and one that is.  Side onnx is
ONNX Runtime on the exported model, and file is Nereid on the same program as a file: both have
weights as constants, and their first call is without the export.  The table has the
medians and the least of the rounds, and the seconds of the first call, in caches of the process's
own.  Results of a side that differ from eager's by more than TOLERANCE end the process.  With
--processor-time, which is for one thread on a machine that others use, the time is the processor's.
With --busy, N processes that compute all the time share the cores that a model is timed on.
With --alone, each side has a process of its own on N cores, in which it has compiled another
function before.  Its cells are the seconds of the first call, and what the process has more than
before it made the model, in MB: at most, the first call with its compilers in Python included, and
in later calls.  --avx2 restricts Nereid, PyTorch with its libraries, and Inductor's compiler to
AVX2; ONNX Runtime has no such choice.  Inductor needs a C++ compiler; its precompiled headers,
whose time is in no first call, are kept in --headers' folder.  With --kernels, Inductor's libraries
of kernels are kept in that folder, and where it has some, no headers are made: first calls are then
no compiler's time, but the timed calls of many models fit into minutes.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from cpu_int8 import INT8
from cpu_models import MODELS
from cpu_text import TEXT
from cpu_vision import VISION

EXPORTED = ("onnx", "file")  # sides that take an exported program, of inference
# A part of the norm.  An element of gradients whose ReLU is 0 in one side alone, as rounding has
# it, is a share of a channel's sum: eager's own are up to 2e-3 from those in f64, Nereid's 1e-2
# (U-Net).
# Eight bits differ where a sum is rounded otherwise, as between eager and TorchInductor.
OF_INT8 = 3e-2
TOLERANCE = {"inference": 1e-3, "training": 3e-2, "adamw": 1e-3, "sgd": 1e-3}
MODELS = {**MODELS, **VISION, **TEXT, **INT8}
STEPS = ("bert", "resnet50")  # whose optimizers' steps are timed as well
CASES = [f"{name} inference" for name in MODELS]
CASES += [f"{name} training" for name in MODELS if name not in INT8]
CASES += [f"{name} {kind}" for name in STEPS for kind in ("adamw", "sgd")]
UNCOUNTED = 0.02  # seconds


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("names", nargs="*")
    p.add_argument("--sides", default="eager,inductor,nereid")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--seconds", type=float, default=20)
    p.add_argument("--processor-time", action="store_true")
    p.add_argument("--beside", action="store_true")
    p.add_argument("--ahead", type=int, default=0)
    p.add_argument("--ready", type=float, default=1e9)
    p.add_argument("--busy", type=int, default=0)
    p.add_argument("--alone", action="store_true")
    p.add_argument("--avx2", action="store_true")
    p.add_argument("--headers")
    p.add_argument("--kernels")
    p.add_argument("--json")
    p.add_argument("--case", help=argparse.SUPPRESS)
    p.add_argument("--cores", help=argparse.SUPPRESS)
    return p.parse_args()


# ---- one case, in a process of its own ----


class Side:
    """A copy of the model, compiled, and a call or a step of training of it."""

    def __init__(self, name, model, inputs, kind):
        import copy
        import torch
        self.model, self.inputs, self.kind = copy.deepcopy(model), inputs, kind
        self.call = self.model
        if kind in ("adamw", "sgd"):
            self.call = self.optimizer().step
        if name != "eager":
            self.call = torch.compile(self.call, backend=name)
        start = time.perf_counter()
        self.result = self.run()
        self.first = time.perf_counter() - start

    def optimizer(self):
        import torch
        for i, p in enumerate(self.model.parameters()):
            p.grad = torch.randn(p.shape, generator=torch.Generator().manual_seed(i))
        if self.kind == "sgd":
            return torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9,
                                   weight_decay=1e-4)
        return torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def run(self):
        import torch
        if self.kind == "inference":
            with torch.no_grad():
                return [self.call(*self.inputs)]
        if self.kind != "training":
            self.call()
            return [p.detach() for p in self.model.parameters()]
        for p in self.model.parameters():
            p.grad = None
        self.call(*self.inputs).square().mean().backward()
        return [p.grad for p in self.model.parameters()]


class Exported:
    """The exported model by ONNX Runtime or Nereid, and a call of it."""

    def __init__(self, name, file, inputs, threads):
        start = time.perf_counter()
        call = of_onnx(file, inputs, threads) if name == "onnx" else of_nereid(file, inputs)
        self.run = lambda: [call()]
        self.result = self.run()
        self.first = time.perf_counter() - start


def export(name, model, inputs, folder):
    """Recurrent layers stay operators of their own by the older exporter of ONNX alone."""
    import torch
    file = os.path.join(folder, "model.onnx" if name == "onnx" else "model.pt2")
    with torch.no_grad():
        if name == "onnx":
            recurrent = any(isinstance(m, torch.nn.RNNBase) for m in model.modules())
            torch.onnx.export(model, inputs, file, dynamo=not recurrent, verbose=False,
                              external_data=False)
        else:
            torch.export.save(torch.export.export(model, inputs, strict=False), file)
    return file


def of_onnx(file, inputs, threads):
    import onnxruntime
    import torch
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    # Its threads spin within a run, but take no processors from the sides after it.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    given = {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs)}
    return lambda: torch.from_numpy(session.run(None, given)[0])


def of_nereid(file, inputs):
    import nereid
    loaded = nereid.load(file, device="cpu")
    return lambda: loaded(*inputs)


def make(name, model, inputs, args, kind):
    if name not in EXPORTED:
        return Side(name, model, inputs, kind)
    with tempfile.TemporaryDirectory() as folder:
        return Exported(name, export(name, model, inputs, folder), inputs, args.threads)


def tolerance(case):
    name, kind = case.split()
    return OF_INT8 if name in INT8 else TOLERANCE[kind]


def differs(result, right, tolerance):
    least = tolerance * max(y.norm() for y in right)  # gradients that are noise are this small
    return any((x - y).norm() > tolerance * (y.norm() + least) for x, y in zip(result, right))


class Late(BaseException):
    """The parent has waited for long enough."""


def be_late(*_):
    raise Late


def children(process):
    """Those of a process and of its threads, and theirs."""
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            text = task.read_text()
        except OSError:  # it has ended
            continue
        for child in map(int, text.split()):
            found += [child, *children(child)]
    return found


def stop_compilers():
    """Inductor's, which would go on beside the timed calls."""
    compiling = sys.modules.get("torch._inductor.async_compile")
    if compiling and compiling.get_compile_threads() > 1:
        compiling.AsyncCompile.pool().shutdown(wait=False, cancel_futures=True)
    for _ in range(3):  # a thread may have begun another one
        for child in children(os.getpid()):
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.2)


def model_of(case, args):
    """The model, its inputs, and what is done with it."""
    import torch
    name, kind = case.split()
    torch._dynamo.config.allow_rnn = True
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    return model.train(kind == "training"), inputs, kind


def first_calls(case, args):
    import torch
    signal.signal(signal.SIGTERM, be_late)
    model, inputs, kind = model_of(case, args)
    sides = {}
    for side in sorted(args.sides.split(","), key="inductor".__eq__):  # it takes longest
        if side in EXPORTED and kind != "inference":
            continue
        torch._dynamo.reset()
        try:
            if side == "inductor":
                prepare_inductor()
            sides[side] = make(side, model, inputs, args, kind)
        except Late:
            stop_compilers()
            break
        except Exception as problem:  # of another's exporter or compiler
            if side == "nereid":
                raise
            print(f"{case}: {side}: {type(problem).__name__}: {problem}"[:300], file=sys.stderr)
            continue
        if side != "eager" and "eager" in sides and differs(sides[side].result,
                                                            sides["eager"].result,
                                                            tolerance(case)):
            sys.exit(f"{case}: {side} differs from eager")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for s in sides.values():
        s.result = None
    return sides


def measure(case, args, sides):
    clock = time.process_time if args.processor_time else time.perf_counter
    times = {side: [] for side in sides}
    end = time.perf_counter() + args.seconds
    for _ in range(args.rounds):
        if time.perf_counter() > end:
            break
        for side, s in sides.items():
            begin = time.perf_counter()
            while s.run() and time.perf_counter() < begin + UNCOUNTED:
                pass
            start = clock()
            s.run()
            times[side].append(1e3 * (clock() - start))
    return {"case": case, "threads": args.threads,
            **{side: {"median": statistics.median(t), "least": min(t), "first": sides[side].first}
               for side, t in times.items()}}


def resident(field):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) // 1024 for line in f if line.startswith(field))


def small(side):
    """A step of a function that is no model: modules are there afterwards, Inductor's compilers
    have begun, and its headers are made."""
    import torch
    x = torch.randn(64, 64, requires_grad=True)
    backend = side if side in ("inductor", "nereid") else "aot_eager"
    torch.compile(lambda x: (x @ x).sin().sum(), backend=backend)(x).backward()


def made_alone(case, args, folder):
    """The memory of the process before the side is made, and the side; a file comes from another
    process."""
    side = args.sides
    if side in EXPORTED and not os.fork():
        import torch
        model, inputs, _ = model_of(case, args)
        torch.save(inputs, f"{folder}/inputs")
        export(side, model.eval(), inputs, folder)
        os._exit(0)
    import torch
    import torch._inductor.compile_fx
    import nereid.torch_compile
    import onnxruntime
    torch.set_num_threads(args.threads)
    if side == "inductor":
        prepare_inductor()
    small(side)
    if side in EXPORTED:
        os.wait()
        file, = (str(f) for f in pathlib.Path(folder).glob("model.*"))
        inputs = torch.load(f"{folder}/inputs")
        before = resident("VmRSS")
        return before, Exported(side, file, inputs, args.threads)
    before = resident("VmRSS")
    model, inputs, kind = model_of(case, args)
    torch._dynamo.reset()
    return before, Side(side, model, inputs, kind)


def alone(case, args):
    """What a side's first call takes, and what it adds to the process: at most, the first call and
    its compilers in Python included, and in later calls."""
    import ctypes
    import gc
    os.sched_setaffinity(0, map(int, args.cores.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        before, s = made_alone(case, args, folder)
    s.result = None
    most = resident("VmHWM")
    s.run()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")  # VmHWM begins again
    for _ in range(3):
        s.run()
    later = resident("VmHWM")
    return {"first": s.first, "most": max(most, later) - before, "later": later - before}


def case_process(args):
    if args.alone:
        print(json.dumps(alone(args.case, args)), flush=True)
        os._exit(0)
    sides = first_calls(args.case, args)
    print("ready", flush=True)
    cores = sys.stdin.readline().split()
    for thread in os.listdir("/proc/self/task") if cores else []:
        os.sched_setaffinity(int(thread), map(int, cores))
    if "torch._inductor.async_compile" in sys.modules:
        sys.modules["torch._inductor.async_compile"].shutdown_compile_workers()
    print(json.dumps(measure(args.case, args, sides)), flush=True)
    os._exit(0)  # without waiting for what is still compiled


# ---- TorchInductor's precompiled headers ----


def make_headers(folder, restricted):
    """Starts to make the headers, which are where TMPDIR is, unless another run has made them."""
    code = ("import fcntl, pathlib, sys\n"
            "lock = open(sys.argv[1] + '/lock', 'w')\n"
            "fcntl.flock(lock, fcntl.LOCK_EX)\n"
            "made = pathlib.Path(sys.argv[1], 'made')\n"
            "if not made.exists():\n"
            "    import torch\n"
            "    torch.compile(lambda x: x.sin() + 1, backend='inductor')(torch.ones(9))\n"
            "    made.touch()\n")
    return subprocess.Popen([sys.executable, "-c", code, folder],
                            env=dict(os.environ, **restricted, TMPDIR=folder))


def restricted_to_avx2(folder):
    """Variables by which all sides but ONNX Runtime are of AVX2; Inductor's width is that of
    PyTorch's kernels, and its compiler's is the processor's."""
    compiler = pathlib.Path(folder, "avx2-g++")
    compiler.write_text('#!/bin/bash\nexec g++ "${@/-march=native/-march=x86-64-v3}"\n')
    compiler.chmod(0o755)
    return {"NEREID_CPU": "cpu:8", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2",
            "MKL_ENABLE_INSTRUCTIONS": "AVX2", "CXX": str(compiler)}


def prepare_inductor():
    """Waits for the headers; without, its kernels have been compiled."""
    folder = os.environ["CPU_HEADERS"]
    if not folder:
        import torch._inductor.config
        torch._inductor.config.cpp_cache_precompile_headers = False
    while folder and not os.path.exists(f"{folder}/made"):
        time.sleep(0.1)


# ---- all cases ----


def row(r, sides):
    def cell(side, text):
        return text(r[side]) if side in r else "-"

    least = min((r[s]["least"] for s in sides if s != "nereid" and s in r), default=math.nan)
    cells = [r["case"]]
    cells += [cell(s, lambda t: f'{t["median"]:.4g}, {t["least"]:.4g}') for s in sides]
    cells += [cell("nereid", lambda t: f'{least / t["least"]:.2f}')] if "nereid" in sides else []
    cells += [", ".join(cell(s, lambda t: f'{t["first"]:.1f}') for s in sides if s != "eager")]
    return "| " + " | ".join(cells) + " |"


class Case:
    """A process of a case, from its first calls to its times."""

    def __init__(self, case, args, sides, folder, cores=()):
        self.case, self.folder = case, tempfile.TemporaryDirectory(dir=folder)
        threads, cache = str(args.threads), self.folder.name
        env = dict(os.environ, **args.restricted, OMP_NUM_THREADS=threads, NEREID_THREADS=threads,
                   TORCHINDUCTOR_FX_GRAPH_CACHE="0", NEREID_CACHE_DIR=cache,
                   TORCHINDUCTOR_CACHE_DIR=args.kernels or cache,
                   CPU_HEADERS="" if args.compiled else args.headers, TMPDIR=args.headers)
        command = [sys.executable, __file__, "--case", case, "--sides", sides,
                   "--threads", threads, "--rounds", str(args.rounds),
                   "--seconds", str(args.seconds)]
        command += ["--processor-time"] if args.processor_time else []
        command += ["--alone", "--cores", ",".join(map(str, cores))] if cores else []
        command = ["nice"] * bool(args.ahead) + command  # after the headers
        self.process = subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ready(self):
        return self.process.stdout.readline().strip() == "ready"

    def times(self, cores):
        out, _ = self.process.communicate(" ".join(map(str, cores)) + "\n")
        self.folder.cleanup()
        return json.loads(out.splitlines()[-1]) if self.process.returncode == 0 else None


def groups_of_cores(args):
    """Cores of its own for each process, as many as threads, where cases run beside each other."""
    cores = sorted(os.sched_getaffinity(0))
    if not args.beside:
        return [cores]
    return [cores[i:i + args.threads]
            for i in range(0, len(cores) - args.threads + 1, args.threads)]


def show(case, result, args):
    print(row(result, args.sides.split(",")) if result else f"| {case} | failed |", flush=True)
    if result:
        keep(result, args)


def keep(result, args):
    if args.json:
        with pathlib.Path(args.json).open("a") as f:
            f.write(json.dumps(result) + "\n")


def run_alone(case, args, folder, cores):
    sides = [s for s in args.sides.split(",")
             if s not in EXPORTED or case.endswith(" inference")]
    made = {s: Case(case, args, s, folder, cores).times([]) for s in sides}
    cells = [f'{r["first"]:.1f}, {r["most"]}, {r["later"]}' if r else "-"
             for r in (made.get(s) for s in args.sides.split(","))]
    print("| " + " | ".join([case, *cells]) + " |", flush=True)
    keep({"case": case, "threads": args.threads, "alone": made}, args)


def keep_busy(core):
    """A process that computes on that core."""
    p = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    os.sched_setaffinity(p.pid, [core])
    return p


def all_ready(cases, args, folder):
    """Processes of the cases after their first calls."""
    begun = queue.SimpleQueue()

    def begin(case):
        process = Case(case, args, args.sides, folder)
        begun.put(process)
        return process if process.ready() else show(case, None, args)

    pool = concurrent.futures.ThreadPoolExecutor(args.ahead)
    futures = [pool.submit(begin, case) for case in cases]
    concurrent.futures.wait(futures, args.ready)
    for f in futures:
        f.cancel()
    while not begun.empty():
        begun.get().process.terminate()  # which is ignored where it is ready
    return [f.result() for f in futures if not f.cancelled() and f.result()]


def run_all(cases, args, folder):
    free = queue.SimpleQueue()
    groups = groups_of_cores(args)
    for g in groups:
        free.put(g)

    def run(case):
        cores = free.get()
        try:
            if args.alone:
                return run_alone(case, args, folder, cores)
            process = case if args.ahead else Case(case, args, args.sides, folder)
            if not args.ahead and not process.ready():
                return show(case, None, args)
            neighbours = [keep_busy(c) for c in cores[:args.busy]]
            show(process.case, process.times(cores), args)
            for n in neighbours:
                n.kill()
        finally:
            free.put(cores)

    if args.ahead:
        cases = all_ready(cases, args, folder)
    with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
        list(pool.map(run, cases))


def main():
    args = parse()
    if args.case:
        case_process(args)
        return
    sides = args.sides.split(",")
    compiled = ", ".join(s for s in sides if s != "eager")
    cases = list(dict.fromkeys(c for n in args.names or [""] for c in CASES
                               if f" {n}" in f" {c}"))
    if args.alone:
        print(f"| model | {' | '.join(sides)} |")
        print("|" + " --- |" * (len(sides) + 1), flush=True)
    else:
        print(f"| model | {' | '.join(sides)} | of the best | first call, s: {compiled} |")
        print("|" + " --- |" * (len(sides) + 3), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        args.headers = args.headers or f"{folder}/headers"
        pathlib.Path(args.headers).mkdir(parents=True, exist_ok=True)
        args.restricted = restricted_to_avx2(folder) if args.avx2 else {}
        args.compiled = bool(args.kernels) and any(pathlib.Path(args.kernels).glob("*/*.so"))
        if "inductor" in sides and not args.compiled:
            make_headers(args.headers, args.restricted)
        run_all(cases, args, folder)


if __name__ == "__main__":
    main()
