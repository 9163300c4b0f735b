#!/usr/bin/env python3
"""Random kernels on all executors, compared with the reference interpreter.

    random_kernels.py [COUNT] [--seed S] [--devices nest,cpu] [--jobs N] [--no-shrink]
    random_kernels.py --show SEED

Kernel i is a function of i alone (kernelgen/).  Processes of their own run them, many each, so that
a crash or an endless loop is a failure like others.  On device cpu they are spread over the widths
that a CPU may have; device cpu:8 is one of them, and device program is that of the program $NEREID.
A kernel that fails is made smaller and printed; with --keep DIR it is also written there, with its
inputs and a command that runs it.
"""
import argparse, itertools, json, os, pathlib, re, select, shlex, subprocess, sys, tempfile
import threading, time

from kernelgen import generate
from kernelgen.found import describe, read
from kernelgen.shrink import apply, shrink

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402

TIMEOUT_S = 60
# Kernels that failed once; they run first.
FOUND = pathlib.Path(__file__).resolve().parent / "kernelgen" / "mended"


# ---- the process that runs kernels ----

def work(devices, folder):
    """Reads jobs, one a line: [seed or file, edits]; answers each with its problem, or null."""
    from kernelgen.execute import Comparison, Lost
    comparison = Comparison(devices, folder)
    print("null", flush=True)
    for line in sys.stdin:
        seed, edits = json.loads(line)
        try:
            print(json.dumps(comparison.problem(kernel_of(seed, edits))), flush=True)
        except Lost as error:
            print(json.dumps({"lost": str(error)}), flush=True)


def kernel_of(seed, edits):
    if isinstance(seed, str):
        return read(pathlib.Path(seed))
    return apply(generate(seed), edits)


class Worker:
    def __init__(self, devices, folder):
        self.devices, self.folder, self.process = devices, folder, None

    def start(self):
        command = [sys.executable, __file__, "--work", self.folder, "--devices", self.devices]
        self.errors = open(os.path.join(self.folder, "errors"), "w+")
        # A library with sanitizers needs their own loaded before it (`make stress`).
        preload = os.environ.get("NEREID_PRELOAD")
        environment = dict(os.environ)
        if preload:
            environment.update(LD_PRELOAD=preload, ASAN_OPTIONS="detect_leaks=0")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, env=environment)
        problem = self.read()
        if problem:
            raise NoDevice(problem)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.errors.close()
        self.process = None

    def read(self):
        ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT_S)
        line = self.process.stdout.readline() if ready else b""
        if line:
            answer = json.loads(line)
            if isinstance(answer, dict):
                self.stop()
                return answer["lost"]
            return answer
        status = "no end" if not ready else f"status {self.process.wait()}"
        self.errors.seek(0)
        text = self.errors.read()[-2000:].strip()
        self.stop()
        return f"crash: {status}\n{text}"

    def problem(self, seed, edits=()):
        if not self.process or self.process.poll() is not None:
            self.stop()
            self.start()
        try:
            self.process.stdin.write((json.dumps([seed, list(edits)]) + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()


class NoDevice(Exception):
    """A worker could not open its devices."""


# ---- all kernels ----

def kind(problem):
    """What failures that have the same cause probably share: the message without its numbers."""
    device, _, text = problem.partition(": ")
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    line = lines[-1] if device == "crash" else lines[0]
    line = re.sub(r"^\S*:\d+:\d+: ", "", line)
    return re.sub(r"\d+(\.\d+)?", "N", f"{device}: {line}")[:120]


class Campaign:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        found = sorted(map(str, FOUND.glob("*.py"))) if options.found else []
        seeds = range(options.seed, options.seed + options.count)
        self.seeds = itertools.chain(found, seeds)
        self.lock = threading.Lock()
        self.done, self.kinds = 0, {}
        self.end = time.monotonic() + options.seconds if options.seconds else None

    def run(self):
        threads = [threading.Thread(target=self.take, args=(i,)) for i in range(self.options.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        failed = sum(self.kinds.values())
        for name, n in sorted(self.kinds.items(), key=lambda item: -item[1]):
            print(f"{n:6} {name}")
        print(f"{self.done - failed} passed, {failed} failed")
        return bool(failed)

    def take(self, i):
        folder = os.path.join(self.folder, str(i))
        os.mkdir(folder)
        worker = Worker(self.options.devices, folder)
        while not self.end or time.monotonic() < self.end:
            with self.lock:
                seed = next(self.seeds, None)
            if seed is None:
                break
            try:
                problem = worker.problem(seed)
            except NoDevice as problem:
                with self.lock:
                    print(f"FAIL {problem}", flush=True)
                    self.done += 1
                    self.kinds["no device"] = self.kinds.get("no device", 0) + 1
                break
            with self.lock:
                self.done += 1
            if problem:
                self.report(worker, seed, problem)
        worker.stop()

    def report(self, worker, seed, problem):
        name, edits = kind(problem), []
        with self.lock:
            self.kinds[name] = self.kinds.get(name, 0) + 1
            known = self.kinds[name] > self.options.each
        if known:
            return
        if self.options.shrink and isinstance(seed, int):
            def same(edits):
                found = worker.problem(seed, edits)
                return found and kind(found) == name
            edits = shrink(lambda: generate(seed), same)
            problem = worker.problem(seed, edits) or problem
        kernel = kernel_of(seed, edits)
        where = f" in {keep(kernel, self.options.keep)}" if self.options.keep else ""
        head = "\n".join(line[:200] for line in problem.splitlines()[:9])
        with self.lock:
            print(f"FAIL seed {seed}{where}: {head}\n{describe(kernel)}\n", flush=True)


def keep(kernel, folder):
    """Writes the kernel, its inputs, and a command that runs it."""
    import numpy as np
    from kernelgen import decode
    to = pathlib.Path(folder) / str(kernel.seed)
    to.mkdir(parents=True, exist_ok=True)
    (to / "kernel.py").write_text(kernel.text())
    words = ["nereid", "run", "kernel.py", "--grid", str(kernel.grid), "--num-warps",
             str(kernel.warps), "--num-stages", str(kernel.stages)]
    for name in kernel.parameters():
        a = kernel.arrays.get(name)
        if a and a.kind != "zeros":
            x = decode(a.data(), a.dtype)
            narrow = a.dtype == "bf16" or a.dtype[:2] == "f8"
            np.save(to / f"{name}.npy", x.astype(np.float32) if narrow else a.data())
            words.append(f"{name}=@{name}.npy" + (f":{a.dtype}" if narrow else ""))
        else:
            words.append(f"{name}=zeros:{a.dtype}[{a.count}]" if a else
                         f"{name}={kernel.scalars[name]}")
    (to / "command").write_text(shlex.join(words) + ' "$@"\n')
    return to


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=120)
    parser.add_argument("--seed", type=int, help="the first one; without it, the mended first")
    parser.add_argument("--devices", default="nest,cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, help="begin no kernel after that time")
    parser.add_argument("--cc", default="-O0", metavar="OPTION", help="for the C compiler")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    parser.add_argument("--each", type=int, default=1, help="failures of a kind that are printed")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.found = options.seed is None
    options.seed = options.seed or 0
    return options


def main():
    options = parse()
    if options.work:
        return work(options.devices.split(","), options.work)
    if options.show is not None:
        return print(describe(generate(options.show)))
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder, options.cc, cached=False)
        return Campaign(options, folder).run()


if __name__ == "__main__":
    sys.exit(main())
