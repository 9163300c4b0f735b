"""Run suites that others wrote under Triton and under Nereid, and record each case's outcome.

    run.py --copies FOLDER --out RESULTS.jsonl [--suites liger,fla] [--sides triton,nereid]
           [--device cuda] [--workers 12] [--seconds 540] [--seed 1] [--of COMMIT] [--limit N]
           [--configs N] [--gpus 0,1]

Cases run in worker processes (worker.py), which are replaced when they crash or a case outlasts its
limit. The order is a seeded round over the test functions, so that a run cut off anywhere is a fair
sample; a later run with the same results file goes on where this one ended. Triton's side comes
first and has a share of the time; only cases that passed there are then run under Nereid. With
`--sides nereid,triton` it is the other way round: what failed under Nereid is then run under
Triton, which takes less time where little fails; what passes under Nereid is taken to pass there.
"""

import argparse
import collections
import json
import os
import random
import selectors
import signal
import subprocess
import sys
import time

from suites import find

HERE = os.path.dirname(os.path.abspath(__file__))
WEIGHTS = {"fla": 5.0, "triton": 4.0, "liger": 3.0, "tutorials": 2.0}


def function_of(case):
    """The test function of a case: its id without the parameters."""
    return case.split("[")[0]


def sampled(cases, seed):
    """The cases in a seeded order that takes one of each function in turn."""
    by_function = {}
    for case in sorted(cases):
        by_function.setdefault(function_of(case), []).append(case)
    for name, group in by_function.items():
        random.Random(f"{seed} {name}").shuffle(group)
    order = []
    rounds = max((len(group) for group in by_function.values()), default=0)
    for i in range(rounds):
        turn = [group[i] for group in by_function.values() if i < len(group)]
        random.Random(f"{seed} {i}").shuffle(turn)
        order += turn
    return order


class Job:
    """The cases of one suite on one side that are still to be run."""

    def __init__(self, suite, side, runner):
        self.suite = suite
        self.side = side
        self.runner = runner
        self.queue = None  # None until a worker has collected
        self.failures = 0  # workers that ended before they were ready

    def pending(self):
        """Whether a case can be given out now, or collecting is still to be done."""
        return self.queue is None or any(map(self.allowed, self.queue))

    def finished(self):
        if self.queue is None:
            return False
        busy = any(w.job is self and w.case for w in self.runner.workers)
        return not busy and not any(self.allowed(c) for c in self.queue)

    def allowed(self, case):
        if not self.runner.wanted(self.suite.name, case):
            return False
        if self.runner.here_first:
            return self.side == "nereid" or case in self.runner.failed.get(self.suite.name, ())
        passed = self.runner.passed.get(self.suite.name)
        if self.side == "triton" or passed is None:
            return True
        return case in passed

    def take(self):
        """The next case to run, or None."""
        for i, case in enumerate(self.queue or ()):
            if self.allowed(case):
                return self.queue.pop(i)
        return None

    def collected(self, cases):
        if self.queue is not None:
            return
        done = self.runner.done
        known = self.runner.known.get(self.suite.name, ())
        self.queue = [
            case
            for case in sampled(set(cases) | set(known), self.runner.options.seed)
            if (self.suite.name, self.side, case) not in done
        ]
        if self.runner.options.limit:
            del self.queue[self.runner.options.limit :]


class Worker:
    """One process that runs cases of one job."""

    def __init__(self, job, options, number):
        self.job = job
        self.case = None
        self.since = time.monotonic()
        self.ready = False
        ask, self.ask = os.pipe()
        self.tell, tell = os.pipe()
        order = job.suite.order(os.path.abspath(options.copies), job.side, options.device)
        order["ask"], order["tell"] = ask, tell
        if options.pretend:
            order["prelude"].insert(0, os.path.join(HERE, "cases", "cuda_is_cpu.py"))
        if options.refusals:
            order["prelude"].insert(0, os.path.join(HERE, "cases", "compile_only.py"))
            os.environ["CONFORMANCE_REFUSALS"] = os.path.abspath(options.refusals)
        environment = dict(os.environ)
        if options.configs:
            order["prelude"].append(os.path.join(HERE, "cases", "few_configs.py"))
            environment["CONFORMANCE_CONFIGS"] = str(options.configs)
        if options.gpus:
            gpus = options.gpus.split(",")
            environment["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]
        environment.setdefault("OMP_NUM_THREADS", "1" if options.workers > 4 else "2")
        environment.setdefault("TOKENIZERS_PARALLELISM", "false")
        environment["CONFORMANCE_SIDE"] = job.side
        environment["CONFORMANCE_COPIES"] = os.path.abspath(options.copies)
        environment["CONFORMANCE_DEVICE"] = options.device
        if job.side == "nereid":
            first = os.path.join(HERE, "cases", "site")
            environment["PYTHONPATH"] = first + ":" + environment.get("PYTHONPATH", "")
        environment["MPLBACKEND"] = "Agg"
        environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        if options.device == "cpu":
            environment["CUDA_VISIBLE_DEVICES"] = ""
            if job.side == "triton":
                environment["TRITON_INTERPRET"] = "1"
        self.log = os.path.join(options.logs, f"{job.suite.name}.{job.side}.{number}.log")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, os.path.join(HERE, "worker.py"), json.dumps(order)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(ask, tell),
                env=environment,
                start_new_session=True,
            )
        os.close(ask)
        os.close(tell)
        self.buffer = b""

    def request(self, case):
        self.case = case
        self.since = time.monotonic()
        try:
            os.write(self.ask, (case + "\n").encode())
        except BrokenPipeError:
            pass  # the end of `tell` follows

    def end(self):
        """Kill the process and all that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.ask)
        os.close(self.tell)

    def last_words(self):
        with open(self.log, "rb") as log:
            log.seek(0, 2)
            log.seek(max(0, log.tell() - 3000))
            lines = log.read().decode("utf-8", "replace").split("\n")
        lines = [line.strip() for line in lines if line.strip()]
        return lines[-1][:300] if lines else ""


class Runner:
    """All jobs of a run, their workers, and the results file."""

    def __init__(self, options):
        self.options = options
        self.workers = []
        self.selector = selectors.DefaultSelector()
        self.done = set()
        self.passed = {}  # suite to the cases that passed under Triton; absent: any case
        self.known = {}  # suite to the cases that Triton's side collected
        self.failed = {}  # suite to the cases that failed under Nereid
        self.here_first = options.sides.startswith("nereid,")
        self.number = 0
        self.side = ""  # the side that is being run
        self.counts = {}
        self.only = None
        if options.only:
            with open(options.only) as file:
                self.only = set(line.rstrip("\n") for line in file)
        self.read()
        self.out = open(options.out, "a", buffering=1)
        self.texts = open(options.out + ".failures", "a", buffering=1)
        self.jobs = []
        for name in options.suites.split(","):
            for side in options.sides.split(","):
                self.jobs.append(Job(find(name), side, self))
                if side == "triton":
                    self.passed.setdefault(name, set())

    def wanted(self, suite, case):
        if self.options.match and self.options.match not in case:
            return False
        return self.only is None or case in self.only or f"{suite} {case}" in self.only

    def of(self, side):
        return self.options.of if side == "nereid" else self.options.triton

    def read(self):
        """Take in the results so far."""
        if not os.path.exists(self.options.out):
            return
        with open(self.options.out) as file:
            for line in file:
                row = json.loads(line)
                if row["of"] != self.of(row["side"]) or row["device"] != self.options.device:
                    continue
                if row.get("note"):
                    continue
                self.done.add((row["suite"], row["side"], row["case"]))
                if row["side"] == "triton":
                    passed = self.passed.setdefault(row["suite"], set())
                    if row["outcome"] == "passed":
                        passed.add(row["case"])
                        self.known.setdefault(row["suite"], set()).add(row["case"])
                elif row["outcome"] not in ("passed", "skipped", "xfailed"):
                    self.failed.setdefault(row["suite"], set()).add(row["case"])

    def record(self, job, answer):
        text = answer.pop("text", None)
        row = {"suite": job.suite.name, "side": job.side, "of": self.of(job.side)}
        row.update(device=self.options.device, **answer)
        if text:
            self.texts.write(json.dumps({**row, "text": text}) + "\n")
        self.out.write(json.dumps(row) + "\n")
        if row.get("note"):
            return
        key = (job.suite.name, job.side)
        count = self.counts.setdefault(key, {})
        count[row["outcome"]] = count.get(row["outcome"], 0) + 1
        if job.side == "triton" and row["outcome"] == "passed":
            self.passed[job.suite.name].add(row["case"])
            self.known.setdefault(job.suite.name, set()).add(row["case"])
        if job.side == "nereid" and row["outcome"] not in ("passed", "skipped", "xfailed"):
            self.failed.setdefault(job.suite.name, set()).add(row["case"])

    def start_workers(self):
        """Give free slots to the jobs of this side with the fewest workers for their weight."""
        while len(self.workers) < self.options.workers:
            best = None
            for job in self.jobs:
                if job.side != self.side:
                    continue
                active = sum(w.job is job for w in self.workers)
                if job.queue is None and active:
                    continue  # one worker collects first
                if job.failures > 3 or (active and not job.pending()):
                    continue
                if job.queue is not None and job.finished():
                    continue
                waiting = len(job.queue) if job.queue is not None else 1
                if active >= max(1, waiting):
                    continue
                weight = self.options.weights.get(job.suite.name, 1.0)
                score = (active + (0 if active else -1)) / weight
                if best is None or score < best[0]:
                    best = (score, job)
            if best is None:
                return
            self.number += 1
            worker = Worker(best[1], self.options, self.number)
            self.workers.append(worker)
            self.selector.register(worker.tell, selectors.EVENT_READ, worker)

    def drop(self, worker):
        self.selector.unregister(worker.tell)
        worker.end()
        self.workers.remove(worker)

    def heard(self, worker):
        """Take in what a worker wrote; its end, too."""
        data = os.read(worker.tell, 1 << 20)
        if not data:
            code = worker.process.wait()
            if worker.case:
                error = f"ended with {code}: {worker.last_words()}"
                answer = {"case": worker.case, "outcome": "crashed", "error": error}
                answer["seconds"] = round(time.monotonic() - worker.since, 3)
                self.record(worker.job, answer)
            elif not worker.ready:
                worker.job.failures += 1
                if worker.job.failures == 1:
                    print(f"{worker.job.suite.name} {worker.job.side}: {worker.last_words()}")
            self.drop(worker)
            return
        worker.buffer += data
        while b"\n" in worker.buffer:
            line, worker.buffer = worker.buffer.split(b"\n", 1)
            answer = json.loads(line)
            if "ready" in answer:
                self.collected(worker, answer)
            else:
                worker.case = None
                dying = answer.pop("dying", False)
                self.record(worker.job, answer)
                if dying:
                    self.drop(worker)
                    return

    def collected(self, worker, answer):
        job = worker.job
        worker.ready = True
        if job.queue is None:
            for file, error in answer["broken"].items():
                note = {"case": file, "outcome": "broken", "note": True, "error": error}
                self.record(job, note)
            count = {"case": "", "outcome": str(len(answer["ready"])), "note": True}
            sizes = collections.Counter(map(function_of, answer["ready"]))
            functions = len(sizes)
            self.record(job, {**count, "functions": dict(sizes)})
            took = time.monotonic() - worker.since
            print(
                f"{job.suite.name} {job.side}: {len(answer['ready'])} cases of {functions} "
                f"functions, {len(answer['broken'])} files broken, collected in {took:.0f} s",
                flush=True,
            )
        job.collected(answer["ready"])

    def feed(self):
        """Give a case to each worker that waits; end those for which none is left."""
        for worker in list(self.workers):
            if not worker.ready or worker.case:
                continue
            case = worker.job.take()
            if case is not None:
                worker.request(case)
            elif worker.job.finished() or self.other_needs(worker.job):
                self.drop(worker)

    def other_needs(self, job):
        """Whether a slot is better used by another job: this one waits and has workers to spare."""
        idle = [w for w in self.workers if w.job is job and w.ready and not w.case]
        return len(idle) > 1 and any(
            j is not job and j.side == self.side and j.queue and j.failures <= 3 and j.pending()
            for j in self.jobs
        )

    def check_limits(self):
        now = time.monotonic()
        for worker in list(self.workers):
            limit = worker.job.suite.limit * self.options.patience
            if worker.case and now - worker.since > limit:
                answer = {"case": worker.case, "outcome": "timeout", "seconds": limit}
                self.record(worker.job, {**answer, "error": f"more than {limit:.0f} s"})
                self.drop(worker)
            elif not worker.ready and now - worker.since > 300 * self.options.patience:
                worker.job.failures += 1
                self.drop(worker)

    def run(self):
        """Run each side's jobs until they are done or the side's time is up."""
        sides = self.options.sides.split(",")
        start = time.monotonic()
        for i, side in enumerate(sides):
            self.side = side
            last = i == len(sides) - 1
            share = 1.0 if last else self.options.split
            self.run_side(start + self.options.seconds * share)

    def run_side(self, end):
        said = time.monotonic()
        try:
            while time.monotonic() < end:
                self.start_workers()
                self.feed()
                if not self.workers:
                    break
                for key, _ in self.selector.select(timeout=0.5):
                    if key.data in self.workers:
                        self.heard(key.data)
                self.check_limits()
                if time.monotonic() - said > 30:
                    said = time.monotonic()
                    self.say()
        finally:
            for worker in list(self.workers):
                self.drop(worker)
            self.say()

    def say(self):
        parts = []
        for (suite, side), count in sorted(self.counts.items()):
            text = " ".join(f"{n} {outcome}" for outcome, n in sorted(count.items()))
            parts.append(f"{suite} {side}: {text}")
        print(time.strftime("%H:%M:%S ") + "; ".join(parts), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--copies", required=True, help="folder of the fetched copies")
    parser.add_argument("--out", required=True, help="results, a JSON object a line; continued")
    parser.add_argument("--suites", default="liger,fla,triton,tutorials,unsloth,mamba")
    parser.add_argument("--sides", default="triton,nereid")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--pretend", action="store_true", help="give CPU tensors for CUDA's")
    parser.add_argument("--refusals", default="", help="only compile; what was said, to this file")
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--of", default="", help="Nereid's commit; results of another don't count")
    parser.add_argument("--triton", default="3.6.0", help="Triton's version, likewise")
    parser.add_argument("--limit", type=int, default=0, help="cases a suite and side at most")
    parser.add_argument("--match", default="", help="only cases whose id contains this")
    parser.add_argument("--only", default="", help="file of ids: only these")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on each case's limit")
    parser.add_argument("--split", type=float, default=0.6, help="the first side's share of time")
    parser.add_argument("--configs", type=int, default=0, help="of an autotuned kernel, at most")
    parser.add_argument("--gpus", default="", help="numbers of the GPUs that workers take in turn")
    parser.add_argument("--weights", default="", help="shares of the workers: fla=5,triton=4")
    parser.add_argument("--logs", default="", help="folder of the workers' output")
    options = parser.parse_args()
    pairs = (part.split("=") for part in options.weights.split(",") if part)
    options.weights = {**WEIGHTS, **{name: float(value) for name, value in pairs}}
    options.logs = options.logs or options.out + ".logs"
    os.makedirs(options.logs, exist_ok=True)
    if not options.of and "nereid" in options.sides:
        command = ["git", "-C", HERE, "rev-parse", "--short", "HEAD"]
        options.of = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    Runner(options).run()


if __name__ == "__main__":
    main()
