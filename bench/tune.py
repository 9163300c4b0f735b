"""How good the tuner's model is: its predictions beside measured times of every candidate.

    python3 bench/tune.py MEASURED... [--set problems ...] [--target sm_90a] [--worst N]

MEASURED is what the bench tune_sweep has printed on a device of that target, for the problems of
bench/tune_problems.py (--set, --seed and --most are that program's).  For each problem the model
orders the candidates as the tuner's search does, where those of one code are one candidate;
`first` is how often its first choice is within 5% of the fastest one, `best of 4` the same for the
fastest of its first four, `kept` the geometric mean of fastest by chosen. `inside`: how often a
measured time lies between the ends of the error bar. A third of the problems, by a hash of their
names, was never looked at while the model was worked on.
"""
import argparse, hashlib, math, os, subprocess, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def read_measured(paths):
    times = {}
    for line in (line for path in paths for line in open(path)):
        words = line.rstrip("\n").split("\t")
        if len(words) >= 8 and words[2] != "fail":
            times[words[0], words[1]] = float(words[2])
    return times


def predict(options):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        command = ["python3", str(ROOT / "bench" / "tune_problems.py"), "--set", options.set,
                   "--seed", str(options.seed), "--most", str(options.most)]
        f.write(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        f.flush()
        build = os.environ.get("NEREID_BUILD", str(ROOT / "build"))
        program = os.path.join(build, "bench", "tune_sweep")
        text = subprocess.run([program, f.name, "--predict", options.target], check=True, cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = {}
    for line in text.splitlines():
        words = line.split("\t")
        if len(words) == 3:
            facts = dict(w.split("=") for w in words[2].split())
            found[words[0], words[1]] = facts
    return found


class Problem:
    def __init__(self, name):
        self.name, self.family, self.candidates = name, name.split("/")[0], []
        self.held_out = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 == 0

    def judge(self):
        self.candidates.sort(key=lambda c: c["place"])
        tried = {c["code"]: c for c in reversed(self.candidates)}
        times = [c["measured"] for c in self.candidates if tried[c["code"]] is c]
        self.best = min(c["measured"] for c in self.candidates)
        self.first, self.four = self.best / times[0], self.best / min(times[:4])


def collect(measured, predicted):
    problems = {}
    for key, facts in predicted.items():
        if key not in measured:
            continue
        p = problems.setdefault(key[0], Problem(key[0]))
        p.candidates.append(dict(config=key[1], measured=measured[key], bound=facts["bound"],
                                 code=facts["code"], place=int(facts["place"]),
                                 us=float(facts["us"]), low=float(facts["low"]),
                                 high=float(facts["high"])))
    for p in problems.values():
        p.judge()
    return [problems[name] for name in sorted(problems)]


def share(found):
    found = list(found)
    return f"{100 * sum(found) / len(found):.0f}%" if found else "-"


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def row(name, problems):
    if not problems:
        return
    all_of = [c for p in problems for c in p.candidates]
    near = [abs(math.log(c["us"] / c["measured"])) for p in problems for c in p.candidates
            if c["measured"] < 1.5 * p.best]
    print(f"| {name} | {len(problems)} | {len(all_of)} | "
          f"{share(p.first >= 0.95 for p in problems)} | "
          f"{share(p.four >= 0.95 for p in problems)} | "
          f"{mean([p.first for p in problems]):.3f} | {mean([p.four for p in problems]):.3f} | "
          f"{100 * sorted(near)[len(near) // 2]:.0f}% | "
          f"{share(c['low'] <= c['measured'] <= c['high'] for c in all_of)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", nargs="+")
    parser.add_argument("--set", default="problems")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--worst", type=int, default=0)
    options = parser.parse_args()
    problems = collect(read_measured(options.measured), predict(options))
    print("| problems | number | candidates | first | best of 4 | kept | kept of 4 | error | "
          "inside |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    row("all", problems)
    for family in sorted({p.family for p in problems}):
        row(family, [p for p in problems if p.family == family])
    row("worked with", [p for p in problems if not p.held_out])
    row("held out", [p for p in problems if p.held_out])
    for bound in ("memory", "cache", "tensor", "issue", "latency"):
        found = [c for p in problems for c in p.candidates if c["bound"] == bound]
        inside = share(c["low"] <= c["measured"] <= c["high"] for c in found)
        print(f"bound by {bound}: {len(found)} candidates, {inside} inside")
    for p in sorted(problems, key=lambda p: p.first)[:options.worst]:
        chosen, best = p.candidates[0], min(p.candidates, key=lambda c: c["measured"])
        print(f"\n{p.name}: {p.first:.2f}, of four {p.four:.2f}")
        for c in (chosen, best):
            print(f"  {c['config']}: {c['us']:.1f} us predicted ({c['bound']}), "
                  f"{c['measured']:.1f} measured")


if __name__ == "__main__":
    main()
