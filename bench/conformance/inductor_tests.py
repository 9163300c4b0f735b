#!/usr/bin/env python3
"""TorchInductor's own test file with Nereid in the place of its backend.

    inductor_tests.py FILE [--device cpu|cuda] [-j N] [--limit SECONDS] [--only PART]
                      [--out RESULTS]

FILE is test/inductor/test_torchinductor.py of PyTorch's sources, or the file for dynamic shapes
beside it, of a version that the installed PyTorch can import.  Tests of the code that TorchInductor
generates are left out: they ask for its text, its counters or its passes.  The others run one by
one in N processes, each ended after SECONDS in a test; a process that dies is a failed test.
inductor_reasons.txt beside this file names the tests that are known to fail, each with its reason;
any other failure makes the status 1.  RESULTS gets a line of JSON a test.
"""

import argparse
import inspect
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
REASONS = HERE / "inductor_reasons.txt"

# What a test of generated code, or of TorchInductor's own parts, asks for.
OF_GENERATED_CODE = re.compile(
    r"run_and_get|run_fw_bw|_run_and_assert|FileCheck|metrics\.|KernelCount|get_triton_code|"
    r"code_?cache|aot_compile|aoti|fresh_(inductor_)?cache|get_kernel|source_codes|add_needs_|"
    r"custom_lowering|lowering\.|GraphLowering|V\.graph|compile_fx_inner|CompiledFxGraph|"
    r"assert_num_|torch_call_count|post_grad|TRITON_|counters\[[\"']inductor|"
    r"_inductor\.(fx_passes|lowering|ir|scheduler|codegen|debug|graph|utils|exc)|"
    r"config\.patch\(\s*\{?[\"']?(cpp|triton|cpu_backend|aot_inductor)|"
    r"torch\._inductor\.config\.\w+ =")


# ---- a process that runs tests ----


def install_backend() -> None:
    """Calls of TorchInductor's compiler become calls of Nereid's backend."""
    import nereid  # noqa: F401
    import torch
    from torch._dynamo.backends import registry
    from torch._inductor import compile_fx, config

    from nereid.torch_backend import backend

    def compile(module, inputs, *args, **kwargs):
        return backend(module, inputs, options={"fallback_random": bool(config.fallback_random)})

    compile_fx.compile_fx = compile
    torch._dynamo.lookup_backend("inductor")
    registry._COMPILER_FNS["inductor"] = compile


def suites_of(file: str):
    import importlib.util
    import unittest

    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(file))))
    spec = importlib.util.spec_from_file_location("test_torchinductor", file)
    module = sys.modules["test_torchinductor"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    return {test.id().split(".", 1)[1]: test for group in suite for test in group}


def is_of_generated_code(test) -> bool:
    """By the text of its function, which for most classes is a template's."""
    method = getattr(type(test), test._testMethodName)
    template = getattr(sys.modules["test_torchinductor"], "CommonTemplate", None)
    method = getattr(template, re.sub(r"_(cpu|cuda)$", "", test._testMethodName), method)
    try:
        return bool(OF_GENERATED_CODE.search(inspect.getsource(inspect.unwrap(method))))
    except (OSError, TypeError):
        return False


def run_test(test) -> tuple[str, str]:
    import unittest

    result = unittest.TestResult()
    type(test).setUpClass()
    try:
        test.run(result)
    finally:
        type(test).tearDownClass()
    wrong = result.errors + result.failures
    if wrong:
        text = wrong[0][1]
        error = re.search(r"^[\w.]*(Error|Exception|Failure|Exit)\b.*", text, re.M | re.S)
        lines = (error.group() if error else text[-600:]).split("\n\nTo execute this test")[0]
        return "failed", " | ".join(line for line in lines.splitlines() if line.strip())[:600]
    if result.skipped:
        return "skipped", result.skipped[0][1][:200]
    return "passed", ""


def child(file: str, device: str) -> None:
    """Prints the names of the tests, then runs those that it is told, a line of JSON each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    install_backend()
    tests = suites_of(file)
    ours = ("Cpu", "TestFull") if device == "cpu" else ("GPU", "Cuda")
    names = [name for name, test in tests.items()
             if name.split(".")[0].startswith(ours) or f"{ours[0]}Test" in name.split(".")[0]]
    left_out = [name for name in names if is_of_generated_code(tests[name])]
    print(json.dumps({"names": names, "left_out": left_out}), file=answers, flush=True)
    for line in sys.stdin:
        name, begin = line.strip(), time.monotonic()
        outcome, detail = run_test(tests[name])
        print(json.dumps({"test": name, "outcome": outcome, "detail": detail,
                          "seconds": round(time.monotonic() - begin, 2)}), file=answers, flush=True)


# ---- the process that gives out tests ----


class Worker:
    def __init__(self, options):
        command = [sys.executable, __file__, options.file, "--device", options.device, "--child"]
        log = open(options.log, "ab") if options.log else subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=log, text=True, bufsize=1)
        self.test, self.since, self.ready = None, time.monotonic(), False

    def give(self, test: str) -> None:
        self.test, self.since = test, time.monotonic()
        self.process.stdin.write(test + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def read_reasons(device: str) -> dict:
    """{test's name without its class and device: reason} for this device."""
    reasons = {}
    for line in REASONS.read_text().splitlines() if REASONS.exists() else ():
        if line.strip() and not line.startswith("#"):
            devices, test, reason = line.split(None, 2)
            if device in devices.split(","):
                reasons[test] = reason
    return reasons


def plain(name: str) -> str:
    return re.sub(r"^test_|(_dynamic_shapes)?_(cpu|cuda)$", "", name.split(".")[1])


class Run:
    def __init__(self, options):
        self.options, self.queue, self.results = options, None, []
        self.out = open(options.out, "w") if options.out else None

    def collect(self, known: dict) -> None:
        if self.queue is not None:
            return
        left_out = set(known["left_out"])
        self.queue = [name for name in known["names"]
                      if name not in left_out and self.options.only in name]
        print(f"{len(known['names'])} tests, {len(left_out)} of them of generated code")

    def note(self, result: dict) -> None:
        self.results.append(result)
        if self.out:
            print(json.dumps(result), file=self.out, flush=True)

    def answer(self, worker: Worker) -> bool:
        """Takes a line of the worker's; false: it has ended."""
        line = worker.process.stdout.readline()
        if not line:
            if worker.test:
                self.note({"test": worker.test, "outcome": "died",
                           "detail": f"status {worker.process.wait()}"})
            return False
        told = json.loads(line)
        if worker.ready:
            self.note(told)
        else:
            self.collect(told)
            worker.ready = True
        worker.test = None
        return True

    def overdue(self, worker: Worker) -> bool:
        if not worker.test or time.monotonic() - worker.since < self.options.limit:
            return False
        self.note({"test": worker.test, "outcome": "timed out", "detail": ""})
        return True

    def run(self) -> None:
        workers = [Worker(self.options) for _ in range(self.options.j)]
        while workers:
            streams = {worker.process.stdout: worker for worker in workers}
            for stream in select.select(list(streams), [], [], 1)[0]:
                worker = streams[stream]
                alive = self.answer(worker)
                if alive and self.queue:
                    worker.give(self.queue.pop(0))
                    continue
                worker.end()
                workers.remove(worker)
                if not alive and self.queue:
                    workers.append(Worker(self.options))
            for worker in [worker for worker in workers if self.overdue(worker)]:
                worker.end()
                workers.remove(worker)
                workers.append(Worker(self.options))


def report(results: list, device: str) -> int:
    reasons, counts, unexplained = read_reasons(device), {}, 0
    for result in sorted(results, key=lambda result: result["test"]):
        outcome = result["outcome"]
        if outcome not in ("passed", "skipped"):
            reason = reasons.get(plain(result["test"]))
            unexplained += reason is None
            outcome = "explained" if reason else outcome
            print(f"{result['test']}: {reason or result['outcome'] + ': ' + result['detail']}")
        counts[outcome] = counts.get(outcome, 0) + 1
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    return 1 if unexplained or not results else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    parser.add_argument("--log")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.file, options.device)
        return 0
    run = Run(options)
    run.run()
    return report(run.results, options.device)


if __name__ == "__main__":
    sys.exit(main())
