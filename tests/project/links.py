#!/usr/bin/env python3
"""The files and pages that documentation names exist, and docs/architecture.md names each folder.

Names are links to files, and paths in backticks that begin with a room or another folder at the
top: `graph/ops/op_table.h`, `lang/std/*.py`, `tests/run`.  A path with a word in capitals, such as
`lower/NAME.c`, is an example.
"""
import pathlib, re, runpy, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINT = runpy.run_path(str(ROOT / "tests/project/lint"))
TOP = [*LINT["ROOMS"], "tests", "bench", "docs", "examples"]
PATH = re.compile(rf"`((?:{'|'.join(TOP)})/[\w./*-]+)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def exists(page, name):
    """Is it a file, a folder, a pattern of some, or a driver by its name?"""
    return any(any(folder.glob(n)) for folder in (ROOT, page.parent)
               for n in (name.rstrip("/"), name + ".c", name + ".py"))


def names(page):
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text())
    for name in PATH.findall(text):
        if not re.search(r"/[A-Z]{3,}\b", name.removesuffix("README.md")):
            yield name, exists(page, name)
    for name in LINK.findall(text):
        yield name, (page.parent / name).exists()


def main():
    passed, failures = 0, []
    pages = [*sorted(ROOT.glob("*.md")), ROOT / "tests/README.md",
             *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for name, found in names(page):
            passed += found
            if not found:
                failures.append(f"{page.relative_to(ROOT)}: there is no {name}")
    architecture = (ROOT / "docs/architecture.md").read_text()
    for room, stages in LINT["STAGES"].items():
        for stage in stages:
            found = f"`{room}/{stage}`" in architecture
            passed += found
            if not found:
                failures.append(f"docs/architecture.md does not name `{room}/{stage}`")
    for text in failures:
        print(f"FAIL {text}")
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


sys.exit(main())
