#!/usr/bin/env python3
"""Rules of `make lint` that read C and Markdown, each on a text that breaks it."""
import pathlib, runpy, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import c_rules  # noqa: E402
from tally import check, report  # noqa: E402

LINT = runpy.run_path(str(ROOT / "tests/project/lint"))


def circles(**files):
    return list(c_rules.circles({f"room/{name}.c": text for name, text in files.items()}))


def check_circles():
    calls = lambda name, other: f"int {name}(int x) {{\n  return {other}(x);\n}}\n"
    check(circles(a=calls("f", "g"), b=calls("g", "f")) == [["room/a.c", "room/b.c"]],
          "two files that call each other")
    found = circles(a=calls("f", "g"), b=calls("g", "h"), c=calls("h", "f"), d=calls("i", "f"))
    check(found == [["room/a.c", "room/b.c", "room/c.c"]], f"three files, and one above: {found}")
    check(not circles(a=calls("f", "g"), b=calls("g", "h")), "one direction is no circle")
    check(not circles(a="int f(void) {\n  return 0;\n}\n" + calls("k", "g"),
                      b="static F *const table[] = {f};\n" + calls("g", "h")),
          "a table's row is no call")
    check(not circles(a=calls("f", "g"), b="/* f(1) */\n" + calls("g", "puts(\"f(2)\") + x.f")),
          "comments, strings and members are no calls")
    check(not circles(a=calls("f", "g"), b=calls("g", "h") + "static " + calls("f", "h")),
          "a static function of that name is the file's own")


def check_headers():
    one = {"room/a.h": "int f(int x);\n", "room/a.c": "#include \"room/a.h\"\nint f(int x) {\n}\n",
           "room/b.c": "#include \"room/a.h\"\n"}
    check([row[::2] for row in c_rules.small_headers(one)] == [("room/a.h", "room/b.c")],
          "a header for one client")
    check(not list(c_rules.small_headers(one | {"room/c.c": one["room/b.c"]})), "for two clients")
    by = one | {"room/b.h": one["room/b.c"], "room/c.c": "#include \"room/b.h\"\n",
                "room/d.c": "#include \"room/b.h\"\n"}
    check(not list(c_rules.small_headers(by)), "for the clients of a header that includes it")


def table_failures(text):
    """What check_tables says of a page."""
    failures = LINT["failures"]
    failures.clear()
    LINT["check_tables"](ROOT / "page.md", text)
    return list(failures)


def check_tables():
    head = "| a | b |\n| --- | --- |\n"
    check(not table_failures(head + "| 1 | `x \\| y` |\n\n| c |\n| --- |\n| 3 |\n"), "two tables")
    check(len(table_failures(head + "| 1 | two\nlines |\n")) == 1, "a row of two lines")
    check("3 cells" in table_failures(head + "| 1 | `x | y` |\n")[0], "a bar within a cell")
    check(not table_failures("```\n| no table\n```\n"), "code")


check_circles()
check_headers()
check_tables()
sys.exit(report())
