#!/usr/bin/env python3
"""The budget of lines that tests/project/lint holds: a room that exceeds it fails, and so does a
commit that raises a number without a reason."""
import collections, pathlib, runpy, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

LINT = runpy.run_path(str(ROOT / "tests/project/lint"))
ROOMS = LINT["ROOMS"]
AUTHOR = ["-c", "user.name=x", "-c", "user.email=x@example.org"]


def commit(tree, lines, message):
    """The budget of each room is `lines`, in a commit with that message."""
    (tree / "tests/project").mkdir(parents=True, exist_ok=True)
    (tree / "tests/project/budget.txt").write_text("".join(f"{room} {lines}\n" for room in ROOMS))
    for words in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-qm", message]):
        subprocess.run(["git", *words], cwd=tree, check=True)


def failures(tree, lines):
    return list(LINT["budget_failures"](tree, collections.Counter(dict.fromkeys(ROOMS, lines))))


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        commit(tree, 100, "tests: hold a budget")
        check(not failures(tree, 100), "the first commit needs no reason")
        found = failures(tree, 101)
        check(len(found) == len(ROOMS) and "allows 100" in found[0], f"over the budget: {found}")
        commit(tree, 120, "graph: add a table")
        found = failures(tree, 101)
        check(len(found) == 1 and "says why" in found[0], f"raised without a reason: {found}")
        commit(tree, 90, "graph: remove a table")
        check(not failures(tree, 90), "a lower budget needs no reason")
        commit(tree, 130, "graph: add a table\n\nBudget: a table of operators replaces the rules.")
        check(not failures(tree, 130), "the message says why")
    budget = LINT["budget_of"]((ROOT / "tests/project/budget.txt").read_text())
    check(sorted(budget) == sorted(ROOMS), f"rooms with a budget: {sorted(budget)}")
    return report()


sys.exit(main())
