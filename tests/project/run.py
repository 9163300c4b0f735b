#!/usr/bin/env python3
"""tests/run builds what it runs: in a tree with a Makefile of its own, whose programs of unit tests
are shell scripts."""
import pathlib, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import tally

MAKEFILE = """
.RECIPEPREFIX = >
all python:
>@echo $@ >> made
build/tests/%: tests/%.c
>@mkdir -p $(@D)
>@echo $@ >> made
>@cp $< $@ && chmod +x $@
"""
PASSES = "#!/bin/sh\necho '1 passed, 0 failed'\n"
FAILS = "#!/bin/sh\necho '0 passed, 1 failed'\nexit 1\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def check_run(tree, what, words, status, made, expected):
    """Runs drivers; what make was asked for, the status, and a part of the output."""
    (tree / "made").unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "tests/run", *words], cwd=tree, text=True,
                          env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = sorted((tree / "made").read_text().split()) if (tree / "made").exists() else []
    tally.check(done.returncode == status and lines == sorted(made) and expected in done.stdout,
                f"{what}: status {done.returncode}, made {lines}, not {made}\n{done.stdout}")


def check_units(tree):
    folder = tree / "tests/lang/unit"
    unit, source = "build/tests/lang/unit/tile", folder / "tile.c"
    write(source, PASSES)
    write(folder / "interp.c", PASSES)
    check_run(tree, "a new unit", ["lang/unit/tile"], 0, ["all", unit], "1 passed, 0 failed")
    check_run(tree, "once more", ["lang/unit/tile"], 0, ["all"], "1 passed, 0 failed")
    write(source, FAILS)
    check_run(tree, "without make", ["--no-build", "lang/unit/tile"], 0, [], "1 passed, 0 failed")
    check_run(tree, "a stale program", ["lang/unit/tile"], 1, ["all", unit], "failed: lang")
    write(source, PASSES)
    check_run(tree, "a folder", ["lang/unit"], 0, ["all", "build/tests/lang/unit/interp", unit],
              "2 passed, 0 failed")


def check_drivers(tree):
    write(tree / "tests/lang" / "plain.py", "print('1 passed, 0 failed')\n")
    check_run(tree, "a driver", ["lang/plain"], 0, ["all"], "1 passed")
    write(tree / "tests/fuzz/graph_text.c", PASSES)
    write(tree / "tests/lang" / "uses.py", 'BUILD = "build"\nRUNS = BUILD,"tests/fuzz/graph_text"\n'
          'PATH = BUILD + "/python"\nprint("1 passed, 0 failed")\n')
    check_run(tree, "a driver of a program and the package", ["lang/uses"], 0,
              ["all", "python", "build/tests/fuzz/graph_text"], "1 passed")


def main():
    with tempfile.TemporaryDirectory() as tree:
        tree = pathlib.Path(tree).resolve()
        (tree / "tests").mkdir()
        shutil.copy2(ROOT / "tests/run", tree / "tests/run")
        write(tree / "Makefile", MAKEFILE)
        check_units(tree)
        check_drivers(tree)
        write(tree / "Makefile", "all: ; @echo no compiler; false\n")
        check_run(tree, "a build that fails", ["lang/plain"], 1, [], "no compiler")
        (tree / "Makefile").unlink()
        check_run(tree, "the bundle", ["lang/plain"], 0, [], "1 passed")
    return tally.report()


sys.exit(main())
