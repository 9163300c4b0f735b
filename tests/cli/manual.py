#!/usr/bin/env python3
"""`nereid man`: pages have all that the help and the tables have, and are clean for groff and for
mandoc, where these are installed."""
import os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
LINTS = {"groff": ["groff", "-man", "-ww", "-Tutf8"], "mandoc": ["mandoc", "-T", "lint", "-W",
                                                                "warning"]}


def run(*arguments):
    return subprocess.run([NEREID, *arguments], capture_output=True, text=True)


def plain(roff):
    """The text of a page, without fonts and escapes."""
    roff = re.sub(r"\\f[BIR]", "", roff)
    for escape, text in ((r"\-", "-"), (r"\&", ""), (r"\(aq", "'"), (r"\(ti", "~"), (r"\e", "\\")):
        roff = roff.replace(escape, text)
    return roff


def commands():
    return re.findall(r"(?m)^  ([a-z]+) +\S.*$", run("help").stdout.split("\nExit")[0])


def check_command(name, text):
    shown = run("help", name).stdout
    for option in re.findall(r"(?m)^  ((?:-\w, )?--?[\w-]+)(?: |$)", shown):
        tally.check(re.search(rf"(?m)^{re.escape(option)}( |$)", text), f"{name}: {option}")
    description = shown.split("\n\n")[1].replace("`", "")
    tally.check(description in text, f"{name}: its description")
    for status in "012":
        tally.check(re.search(rf"(?m)^\.TP\n{status}\n", text), f"{name}: status {status}")


def check_lint(path):
    for tool, command in LINTS.items():
        if not shutil.which(tool):
            continue
        done = subprocess.run([*command, str(path)], capture_output=True, text=True)
        told = done.stderr + (done.stdout if tool == "mandoc" else "")
        tally.check(done.returncode == 0 and not told, f"{tool}: {told}")


with tempfile.TemporaryDirectory() as folder:
    pages = pathlib.Path(folder)
    tally.check(run("man", "-o", folder).returncode == 0, "pages are written")
    names = commands()
    tally.check(len(names) > 8 and "man" not in names, f"commands: {names}")
    tally.check({p.name for p in pages.iterdir()} ==
                {"nereid.1", *(f"nereid-{n}.1" for n in names)}, "a page a command")
    program = plain((pages / "nereid.1").read_text())
    for name in names:
        page = (pages / f"nereid-{name}.1").read_text()
        tally.check(run("man", name).stdout == page, f"{name}: the page alone")
        check_command(name, plain(page))
        tally.check(f"nereid-{name}(1)" in program, f"nereid.1: {name}")
    table = (ROOT / "runtime/support/environment.h").read_text()
    variables = re.findall(r"(?m)^  X\((\w+),", table)
    for variable in variables:
        tally.check(re.search(rf"(?m)^\.TP\n{variable}\n", program), f"nereid.1: {variable}")
    tally.check(len(variables) > 15 and "`" not in program and "](" not in program, "no Markdown")
    for path in sorted(pages.iterdir()):
        check_lint(path)
    for tool in LINTS:
        if not shutil.which(tool):
            print(f"{len(names) + 1} skipped: no {tool}")
    tally.check(run("man", "nothing").returncode == 2, "a page of no command")
    done = run("man", "-o", folder + "/none")
    tally.check(done.returncode == 1 and done.stderr.count("\n") == 1, f"no folder: {done.stderr}")
sys.exit(tally.report())
