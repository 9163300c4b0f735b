"""Make the tables of conformance.md from one or several results files of run.py.

    report.py --copies FOLDER [--of COMMIT] [--device cuda] [--into FILE] RESULTS.jsonl ...

With --into the tables replace those between the lines `<!-- DEVICE -->` and `<!-- end -->` there.
Counted are the cases that passed under Triton and were then run under Nereid. The copies are read
to tell apart the test functions that look at stages of Triton's own compiler, and those that need
what later work brings.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import re
import sys

from suites import APART, SUITES, find


def function_of(case):
    return case.split("[")[0]


class Sources:
    """The text of test functions, for what they look at."""

    def __init__(self, copies):
        self.copies = copies
        self.files = {}

    def functions(self, suite, file):
        """The text of each top-level function (and method) of a test file, by name."""
        path = os.path.join(self.copies, find(suite).folder, file)
        if path not in self.files:
            texts = {}
            if os.path.exists(path):
                with open(path) as source:
                    text = source.read()
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.FunctionDef):
                        texts[node.name] = ast.get_source_segment(text, node) or ""
            self.files[path] = texts
        return self.files[path]

    def text(self, suite, case):
        parts = function_of(case).split("::")
        return self.functions(suite, parts[0]).get(parts[-1], "")

    def apart(self, suite, case, row):
        """The heading under which a case is listed apart, or ""; `row` is its result here."""
        if suite not in APART:
            return ""
        text = self.text(suite, case)
        for heading, where, pattern in APART[suite]:
            subject = {"case": case, "text": text, "error": row.get("error", "")}[where]
            if re.search(pattern, subject):
                return heading
        return ""


def read(files, device, of):
    """Results as {suite: {side: {case: row}}}, and the notes of collecting."""
    table, notes, commits = {}, [], []
    for name in files:
        with open(name) as file:
            for line in file:
                row = json.loads(line)
                if row["device"] != device:
                    continue
                if row["side"] == "nereid":
                    if of and row["of"] != of:
                        continue
                    if row["of"] not in commits:
                        commits.append(row["of"])
                if row.get("note"):
                    notes.append(row)
                    continue
                sides = table.setdefault(row["suite"], {"triton": {}, "nereid": {}})
                sides[row["side"]][row["case"]] = row  # a later run of a case counts
    return table, notes, commits


def cause(row):
    """An error with its numbers and names of values made alike."""
    text = row.get("error", "") or row["outcome"]
    if row["outcome"] == "timeout":
        return "timeout"
    text = re.sub(r"(/[\w.\-+]+)+/", "", text)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"0x[0-9a-f]+", "N", text)
    text = re.sub(r"\d+(\.\d+)?(e[+-]?\d+)?", "N", text)
    if row["outcome"] == "crashed":
        text = "crash: " + text
    return text[:160]


def estimate(suite_notes, sides, counted):
    """The share of all cases that passes here of those that pass under Triton, as a number or None:
    each test function of the sample counts as its cases do among all.

    `counted` has (case, passed here) of the cases that were run on both sides.
    """
    sizes = {}
    for note in suite_notes:
        for name, n in note.get("functions", {}).items():
            sizes[name] = max(n, sizes.get(name, 0))
    if not sizes:
        return None
    run, there, both, here = {}, {}, {}, {}
    for case, row in sides["triton"].items():
        name = function_of(case)
        run[name] = run.get(name, 0) + 1
        there[name] = there.get(name, 0) + (row["outcome"] == "passed")
    for case, ok in counted:
        name = function_of(case)
        both[name] = both.get(name, 0) + 1
        here[name] = here.get(name, 0) + ok
    weights = {f: sizes.get(f, 1) * there.get(f, 1) / run.get(f, 1) for f in both}
    whole = sum(weights.values())
    return sum(weights[f] * here[f] / both[f] for f in both) / whole if whole else None


def take_as_passing(sides):
    """Let cases that pass here count as passing under Triton where they were not run there; gives
    how many failed here and have no result there, which are not counted.
    """
    left = 0
    for case, row in sides["nereid"].items():
        if case in sides["triton"]:
            continue
        if row["outcome"] == "passed":
            sides["triton"][case] = row
        left += row["outcome"] not in ("passed", "skipped", "xfailed")
    return left


def percent(part, whole):
    return f"{100.0 * part / whole:.1f}%" if whole else "none"


def escaped(text):
    return text.replace("|", "\\|").replace("`", "'")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", nargs="+")
    parser.add_argument("--copies", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--of", default="")
    parser.add_argument("--alone", action="store_true", help="count all cases of Nereid's side")
    parser.add_argument(
        "--here-first", action="store_true", help="what passes here is taken to pass under Triton"
    )
    parser.add_argument("--list", action="store_true", help="each failing case, on stderr")
    parser.add_argument("--into", default="", help="the page whose tables are replaced")
    options = parser.parse_args()
    if not options.into:
        report(options)
        return
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        report(options)
    with open(options.into) as file:
        page = file.read()
    before, _, after = page.partition(f"<!-- {options.device} -->\n")
    _, end, after = after.partition("<!-- end -->")
    if not end:
        raise SystemExit(f"{options.into} has no tables for {options.device}")
    with open(options.into, "w") as file:
        file.write(f"{before}<!-- {options.device} -->\n{text.getvalue()}{end}{after}")


def report(options):
    """Print the tables."""
    table, notes, commits = read(options.results, options.device, options.of)
    sources = Sources(options.copies)
    aims = {suite.name: suite.aim for suite in SUITES}

    print(f"Device `{options.device}`; Nereid at {', '.join(commits) or 'no commit'}.\n")
    if options.alone:
        print("| suite | run | skipped | passed | share | share of all, estimated |")
        print("| --- | --- | --- | --- | --- | --- |")
    else:
        print(
            "| suite | collected | run under Triton | pass there "
            "| of those run here | pass here | share | share of all, estimated | aim |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    failures, lists, own_failures = {}, {}, {}
    for suite in [s.name for s in SUITES if s.name in table]:
        sides = table[suite]
        apart = {}
        if options.here_first:
            own_failures[suite] = take_as_passing(sides)
        passing = [c for c, r in sides["triton"].items() if r["outcome"] == "passed"]
        if options.alone:
            passing = [c for c, r in sides["nereid"].items() if r["outcome"] != "skipped"]
        counted = []
        for case in passing:
            row = sides["nereid"].get(case)
            if row is None:
                continue
            heading = sources.apart(suite, case, row)
            ok = row["outcome"] == "passed"
            if heading:
                here = apart.setdefault(heading, [0, 0])
                here[0] += 1
                here[1] += ok
            else:
                counted.append((case, ok))
            if not ok:
                failures.setdefault((suite, heading), {}).setdefault(cause(row), []).append(case)
                lists.setdefault(suite, []).append((case, row))
        own = [n for n in notes if n["suite"] == suite and not n["case"]]
        collected = max((int(n["outcome"]) for n in own), default=0)
        good = sum(ok for _, ok in counted)
        if options.alone:
            skipped = len(sides["nereid"]) - len(passing)
            share = percent(good, len(counted))
            whole = percent(estimate(own, sides, counted) or 0, 1)
            print(f"| {suite} | {len(counted)} | {skipped} | {good} | {share} | {whole} |")
        else:
            run = len(sides["triton"])
            all_cases = estimate(own, sides, counted)
            print(
                f"| {suite} | {collected} | {run} | {len(passing)} | {len(counted)} | {good} "
                f"| {percent(good, len(counted))} "
                f"| {'none' if all_cases is None else percent(all_cases, 1)} | {aims[suite]} |"
            )
        for heading, (n, ok) in sorted(apart.items()):
            if options.alone:
                print(f"| {suite}: {heading} | {n} | | {ok} | {percent(ok, n)} | |")
            else:
                print(f"| {suite}: {heading} | | | | {n} | {ok} | {percent(ok, n)} | | apart |")
    for suite, left in own_failures.items():
        print(f"\n{suite}: {left} cases that failed here were not run under Triton: none counts.")
    print("\nFailures by cause:\n")
    print("| suite | cases | cause | one of them |")
    print("| --- | --- | --- | --- |")
    for (suite, heading), causes in sorted(failures.items()):
        name = suite + (": " + heading if heading else "")
        for text, cases in sorted(causes.items(), key=lambda item: -len(item[1])):
            print(f"| {name} | {len(cases)} | {escaped(text)} | `{escaped(cases[0])[-110:]}` |")
    broken = [n for n in notes if n["case"]]
    if broken:
        print("\nFiles that can't be collected:\n")
        print("| suite | side | file | error |")
        print("| --- | --- | --- | --- |")
        seen = set()
        for n in broken:
            key = (n["suite"], n["side"], n["case"])
            if key not in seen:
                seen.add(key)
                print(f"| {n['suite']} | {n['side']} | {n['case']} | {escaped(n['error'])[:160]} |")
    if options.list:
        for suite, rows in lists.items():
            for case, row in rows:
                print(f"{suite} {case}\t{row['outcome']}\t{row.get('error', '')}", file=sys.stderr)


if __name__ == "__main__":
    main()
