#!/usr/bin/env python3
"""runtime/support/environment.h has a row for each variable that the sources read, and no other."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ["lang", "parser", "sema", "lower", "codegen", "runtime", "graph", "import",
         "tiling", "decompose", "planner", "model", "cli", "python"]
# Functions that read the variable which their caller names.
READERS = r"(?:getenv|add_variable)"


def sources():
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.[ch]")):
            yield path, path.read_text()


def main():
    failures, names = [], set()
    for path, text in sources():
        for variable, call in re.findall(rf'\b{READERS}\((?:k, )?(?:"(\w+)"|([^)]*))\)', text):
            if variable:
                names.add(variable)
            elif call != "name" and not call.endswith("*name"):
                failures.append(f"{path.relative_to(ROOT)}: getenv({call}) of no known name")
    header = "runtime/support/environment.h"
    table = (ROOT / header).read_text()
    rows = set(re.findall(r"(?m)^  X\((\w+),", table))
    failures += [f"{header}: {name} is missing" for name in sorted(names - rows)]
    failures += [f"{header}: nothing reads {name}" for name in sorted(rows - names)]
    print("".join(f"FAIL {text}\n" for text in failures), end="")
    print(f"{len(names & rows)} passed, {len(failures)} failed")
    return bool(failures) or not names


sys.exit(main())
