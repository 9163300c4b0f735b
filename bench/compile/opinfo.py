"""Run OpInfo's samples of each operator by torch.compile(backend="nereid") and by eager PyTorch.

    opinfo.py --out RESULTS.jsonl [--device cpu|cuda] [--dtype float32|bfloat16] [--samples 4]
              [--layout channels_last|transposed|expanded|stepped] [--of I/N] [--names a,b]
              [--workers 1] [--limit 120] [--seconds S] [--commit C]
    opinfo.py --report RESULTS.jsonl ... [--into bench/compile.md]

Values, dtypes, shapes, strides, writes to inputs and gradients are compared, by --layout with
operands that have another layout in memory than OpInfo's. Operators run in
worker processes (opinfo_worker.py), which are replaced when they crash or an operator outlasts its
limit.
A later run with the same results file does the operators that it lacks; with --commit those that it
lacks of that commit. A report takes the last row of an operator; with --into it replaces the lines
between `<!-- opinfo DEVICE DTYPE -->` and `<!-- end -->` of the page.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
START = 180  # seconds until a worker is ready
RECYCLE = 80  # operators after which a worker is replaced


class Worker:
    """One process, and the operator that it runs."""

    def __init__(self, options, number):
        tell, out = os.pipe()
        order = {"device": options.device, "dtype": options.dtype, "samples": options.samples,
                 "layout": options.layout, "tell": out}
        environment = dict(os.environ)
        environment["PYTHONPATH"] = f"{BUILD / 'python'}:{environment.get('PYTHONPATH', '')}"
        environment.setdefault("OMP_NUM_THREADS", "1")
        if options.device == "cpu":
            environment["CUDA_VISIBLE_DEVICES"] = ""
        self.log = open(f"{options.out}.{number}.log", "wb")
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "opinfo_worker.py"), json.dumps(order)],
            stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, pass_fds=(out,),
            env=environment, start_new_session=True)
        os.close(out)
        self.tell, self.buffer = tell, b""
        self.names, self.op, self.row, self.done = None, None, None, 0
        self.since = time.monotonic()

    def give(self, op):
        self.op, self.row, self.since = op, None, time.monotonic()
        self.process.stdin.write((op + "\n").encode())
        self.process.stdin.flush()

    def lines(self):
        """What it wrote; None at its end."""
        data = os.read(self.tell, 1 << 20)
        if not data:
            return None
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def last_words(self):
        with open(self.log.name, errors="replace") as log:
            lines = [line.strip() for line in log if line.strip()]
        return lines[-1][:300] if lines else ""

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.tell)
        self.log.close()
        os.unlink(self.log.name)


class Runner:
    def __init__(self, options):
        self.options = options
        self.done = {row["op"] for row in read([options.out]) if self._counts(row)}
        self.out = open(options.out, "a", buffering=1)
        self.queue = None
        self.workers, self.number, self.failures = [], 0, 0
        self.selector = selectors.DefaultSelector()

    def _counts(self, row):
        options = self.options
        return ((row["device"], row["asked"]) == (options.device, options.asked)
                and (not options.commit or row["commit"] == options.commit))

    def take_names(self, names):
        i, n = map(int, self.options.of.split("/"))
        wanted = [name for name in self.options.names.split(",") if name]
        names = [name for name in names if not wanted or name in wanted
                 or name.split(".")[0] in wanted]
        self.queue = [name for name in names[i - 1::n] if wanted or name not in self.done]

    def record(self, row, outcome=""):
        row.update(device=self.options.device, asked=self.options.asked,
                   commit=self.options.commit)
        if outcome:
            row.setdefault("errors", []).append(
                {"sample": row.pop("at", ""), "text": outcome, "below": []})
        self.out.write(json.dumps(row) + "\n")
        state = "WRONG" if row["wrong"] else "error" if row["errors"] else (
            "falls back" if row["fallbacks"] or row["breaks"] else "")
        if state:
            first = (row["wrong"] + row["errors"] or [row["fallbacks"]])[0:1]
            print(f"{row['op']}: {state} {str(first)[:250]}", flush=True)

    def lose(self, worker, why):
        row = worker.row or {"op": worker.op, "right": 0, "eager": 0, "wrong": [], "errors": [],
                             "fallbacks": {}, "breaks": 0, "random": "", "dtype": "?",
                             "seconds": 0}
        self.record(row, why)

    def drop(self, worker):
        self.selector.unregister(worker.tell)
        self.workers.remove(worker)
        worker.end()

    def hear(self, worker):
        lines = worker.lines()
        if lines is None:
            code = worker.process.wait()
            if worker.op:
                self.lose(worker, f"the process ended with {code}: {worker.last_words()}")
            elif worker.names is None:
                self.failures += 1
                print(worker.last_words(), flush=True)
            self.drop(worker)
            return
        for line in lines:
            if "ready" in line:
                worker.names = line["ready"]
                if self.queue is None:
                    self.take_names(worker.names)
            elif line["whole"]:
                self.record(line["row"])
                worker.op, worker.done = None, worker.done + 1
            else:
                worker.row = line["row"]

    def feed(self):
        for worker in list(self.workers):
            late = time.monotonic() - worker.since
            if worker.op and late > self.options.limit:
                self.lose(worker, f"more than {self.options.limit} s")
                self.drop(worker)
            elif worker.names is None and late > START:
                self.failures += 1
                self.drop(worker)
            elif worker.names is not None and not worker.op:
                if not self.queue or worker.done >= RECYCLE:
                    self.drop(worker)
                else:
                    worker.give(self.queue.pop(0))

    def run(self):
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end and self.failures < 3:
            waiting = 1 if self.queue is None else len(self.queue)
            while len(self.workers) < self.options.workers and waiting > 0:
                self.number += 1
                waiting -= 1
                worker = Worker(self.options, f"{os.getpid()}.{self.number}")
                self.workers.append(worker)
                self.selector.register(worker.tell, selectors.EVENT_READ, worker)
                if self.queue is None:
                    break
            if not self.workers:
                break
            for key, _ in self.selector.select(timeout=0.5):
                self.hear(key.data)
            self.feed()
        for worker in list(self.workers):
            self.drop(worker)


def read(files):
    rows = []
    for name in files:
        if os.path.exists(name):
            with open(name) as file:
                rows += [json.loads(line) for line in file]
    return rows


def cause(text):
    text = re.sub(r"(/[\w.\-+]+)+/", "", text)
    return re.sub(r"\d+(\.\d+)?(e[+-]?\d+)?", "N", text)[:140].replace("|", "\\|")


def beneath(problem):
    """torch.compile's own part that fails on the sample without our compiler."""
    return problem["below"][0] if problem["below"] else ""


def group(row):
    """The line of the summary that an operator counts in."""
    if not row["dtype"]:
        return "no such dtype"
    problems = row["wrong"] + row["errors"]
    if not row["right"] and not problems:
        return "no samples that eager runs"
    for kind in ("wrong", "errors"):
        if any(not beneath(problem) for problem in row[kind]):
            return {"wrong": "wrong", "errors": "failing"}[kind]
    if problems:
        return "apart: torch.compile itself differs or fails"
    return "right, with fallback" if row["fallbacks"] or row["breaks"] else "right"


def without_pytorch(rows):
    """How many of the operators that run have no node that PyTorch runs, in any of their samples;
    where torch.compile itself differs or fails, too."""
    ran = [row for row in rows if not group(row).startswith("no ")]
    ours = sum(not row["fallbacks"] and not row["breaks"] for row in ran)
    share = 100 * ours / max(len(ran), 1)
    return f"\nNo node by PyTorch: {ours} of {len(ran)} operators, {share:.1f}%."


def table(title, rows):
    if not rows:
        return []
    return [f"\n{title}\n", "| " + " | ".join(rows[0]) + " |", "|" + " --- |" * len(rows[0]),
            *("| " + " | ".join(map(str, row)) + " |" for row in rows[1:])]


def listing(rows, kind, title):
    found = [("operator", "samples", "first of them", "difference or error")]
    for row in rows:
        problems = [p for p in row[kind] if not beneath(p)]
        if problems:
            found.append((f"`{row['op']}`", len(problems),
                          problems[0]["sample"][:100].replace("|", "\\|"),
                          cause(problems[0]["text"])))
    return table(title, found if len(found) > 1 else [])


def summary(rows):
    """The lines of the report on one device and dtype."""
    groups = collections.Counter(map(group, rows))
    run = sum(n for name, n in groups.items() if not name.startswith("no "))
    trained = [row for row in rows if row.get("train") and group(row) != "no such dtype"]
    lines = [f"{len(rows)} operators, {len(trained)} of them with gradients; "
             f"{sum(row['right'] for row in rows)} samples are right, "
             f"{sum(len(row['wrong']) for row in rows)} differ, "
             f"{sum(len(row['errors']) for row in rows)} fail.\n",
             "| operators | number | share |", "| --- | --- | --- |"]
    lines += [f"| {name} | {n} | {100 * n / run:.1f}% |" if not name.startswith("no ")
              else f"| {name} | {n} | |" for name, n in groups.most_common()]
    lines.append(without_pytorch(rows))
    random = sorted(row["op"] for row in rows if row["random"])
    lines += ["\nCompared by shape and statistics alone (random numbers, or undefined values): "
              + ", ".join(f"`{name}`" for name in random) + "."] if random else []
    lines += listing(rows, "wrong", "Wrong:") + listing(rows, "errors", "Failing:")
    falls = collections.defaultdict(list)
    for row in rows:
        for target, reason in row["fallbacks"].items():
            falls[target, reason].append(row["op"])
        if row["breaks"]:
            falls["(graph break)", "TorchDynamo does not trace it"].append(row["op"])
    order = sorted(falls.items(), key=lambda item: (-len(item[1]), item[0]))
    lines += table("Nodes that PyTorch runs:", [("node", "reason", "operators", "of them")] + [
        (f"`{target}`", cause(reason), len(ops), ", ".join(f"`{op}`" for op in ops[:4]))
        for (target, reason), ops in order] if order else [])
    apart = [("operator", "part", "sample", "difference or error")]
    for row in rows:
        for problem in (row["wrong"] + row["errors"])[:1]:
            if group(row).startswith("apart"):
                apart.append((f"`{row['op']}`", beneath(problem),
                              problem["sample"][:80].replace("|", "\\|"), cause(problem["text"])))
    return lines + table("torch.compile itself differs or fails, without Nereid:",
                         apart if len(apart) > 1 else [])


def report(files, into):
    last = {}
    for row in read(files):
        last.setdefault((row["device"], row["asked"]), {})[row["op"]] = row
    for (device, dtype), rows in last.items():
        rows = [rows[name] for name in sorted(rows)]
        commits = ", ".join(sorted({row["commit"] for row in rows if row["commit"]}))
        head = f"Device `{device}`, {dtype}" + (f", at {commits}" if commits else "")
        text = "\n".join([head + ": " + summary(rows)[0], *summary(rows)[1:]]) + "\n"
        if not into:
            print(text)
            continue
        page = pathlib.Path(into).read_text()
        before, mark, after = page.partition(f"<!-- opinfo {device} {dtype} -->\n")
        _, end, after = after.partition("<!-- end -->")
        if not end:
            raise SystemExit(f"{into} has no place for {device} {dtype}")
        pathlib.Path(into).write_text(before + mark + text + end + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", help="results, a JSON object a line; continued")
    parser.add_argument("--report", nargs="+", metavar="RESULTS")
    parser.add_argument("--into", default="", help="the page whose tables are replaced")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--layout", default="plain", help="of operands: "
                        "channels_last, transposed, expanded (along an axis), stepped")
    parser.add_argument("--samples", type=int, default=4, help="of an operator; 0: all")
    parser.add_argument("--of", default="1/1", metavar="I/N", help="this part of the operators")
    parser.add_argument("--names", default="", help="these operators, though they were run")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds for one operator")
    parser.add_argument("--seconds", type=float, default=1e9, help="for the whole run")
    parser.add_argument("--commit", default="", help="the commit, for the record")
    parser.add_argument("--compiler", default="-O0", help="of CPU kernels: the level; '' as usual")
    options = parser.parse_args()
    options.asked = options.dtype + ("" if options.layout == "plain" else f" {options.layout}")
    if options.report:
        report(options.report, options.into)
        return
    if not options.out:
        parser.error("--out or --report is needed")
    with tempfile.TemporaryDirectory() as folder:
        if options.device == "cpu" and options.compiler:
            sys.path.insert(0, str(ROOT / "tests" / "support"))
            from quick_cc import quick_compiler

            kept = os.environ.get("NEREID_CACHE_DIR")
            quick_compiler(kept or folder, options.compiler)
        Runner(options).run()


if __name__ == "__main__":
    main()
