#!/usr/bin/env python3
"""tests/run builds what it runs, and runs the longest first: in a tree with a Makefile of its own,
whose programs of unit tests are shell scripts."""
# tests/run: sleeps
import json, os, pathlib, shutil, subprocess, sys, tempfile

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


def check_run(tree, what, words, status, made, expected, **env):
    """Runs drivers; what make was asked for, the status, and a part of the output."""
    (tree / "made").unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "tests/run", *words], cwd=tree, text=True,
                          env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, **env},
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
    write(tree / "tests/lang" / "makes.py",
          "import os\nprint(int('MAKEFLAGS' not in os.environ), 'passed, 0 failed')\n")
    check_run(tree, "within another make", ["--no-build", "lang/makes"], 0, [],
              "1 passed, 0 failed", MAKEFLAGS="kw -- CFLAGS=-g", MAKELEVEL="2")
    write(tree / "tests/fuzz/graph_text.c", PASSES)
    write(tree / "tests/lang" / "uses.py", 'BUILD = "build"\nRUNS = BUILD,"tests/fuzz/graph_text"\n'
          'PATH = BUILD + "/python"\nprint("1 passed, 0 failed")\n')
    check_run(tree, "a driver of a program and the package", ["lang/uses"], 0,
              ["all", "python", "build/tests/fuzz/graph_text"], "1 passed")


def started(tree, *words):
    """The drivers in the order in which they started, and those that started beside another."""
    (tree / "started").unlink(missing_ok=True)
    subprocess.run([sys.executable, "tests/run", "--no-build", *words, "order"], cwd=tree,
                   env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.DEVNULL, check=True)
    lines = (tree / "started").read_text().split()
    order = list(dict.fromkeys(lines))
    ends = {name: len(lines) - 1 - lines[::-1].index(name) for name in order}
    beside = {name for name in order
              if any(lines.index(o) < lines.index(name) < ends[o] for o in order)}
    return order, beside


def check_order(tree):
    """The longest of the last run start first, those that sleep take no core, and those that
    measure time end a run, alone."""
    write(tree / "build/test_times.json", '{"order/a": 1, "order/b": 3, "order/c": 2, "x/y": 4}')
    for name, seconds, mark in (("a", 1, ""), ("b", 0.5, "# tests/run: alone\n"), ("c", 1.5, ""),
                                ("d", 0.5, "# tests/run: sleeps\n")):
        # Each one notes its start and its end.
        write(tree / "tests" / "order" / f"{name}.py", f"{mark}import time\nnote = lambda: open("
              f"'started', 'a').write('{name}\\n')\nnote()\ntime.sleep({seconds})\nnote()\n"
              "print('1 passed, 0 failed')\n")
    one, beside = started(tree, "-j", "1")
    tally.check(one == ["c", "a", "d", "b"] and not beside, f"one by one: {one}")
    both, beside = started(tree, "-j", "2")
    tally.check(set(both[:3]) == {"a", "c", "d"} and both[3:] == ["b"], f"two at once: {both}")
    tally.check(len(beside) == 2 and "b" not in beside, f"at once: {beside}")
    write(tree / "tests" / "order" / "a.py", "print('1 skipped: no torch\\n0 passed, 0 failed')\n")
    before = json.loads((tree / "build/test_times.json").read_text())["order/a"]
    check_run(tree, "a driver that skips all", ["--no-build", "order/a"], 0, [], "skipped")
    times = json.loads((tree / "build/test_times.json").read_text())
    tally.check(times["order/a"] == before, f"the time of a skipped driver: {times}")
    tally.check(times["order/c"] > times["order/a"] > times["order/b"] and times["x/y"] == 4,
                f"times: {times}")


def check_compiler(tree):
    """Drivers get a quick compiler, but for those that say that they want their own."""
    asks = "[ -x \"$CC\" ] && grep -q -e -O0 \"$CC\" || exit 1\n"
    asks += "echo '1 passed, 0 failed'\n"
    wants = "# tests/run: users' compiler"
    for name, mark, quick in (("python/a", "", True), ("sema/a", wants + " in python\n", True),
                              ("python/b", wants + " in python\n", False),
                              ("sema/b", wants + "\n", False)):
        write(tree / "tests" / name, "#!/bin/sh\n" + mark + asks)
        check_run(tree, name, ["--no-build", name], 0 if quick else 1, [], "1 drivers")
    write(tree / "build" / "tests/sema" / "unit/c", "#!/bin/sh\n" + asks)
    write(tree / "tests/sema" / "unit/c.c", "")
    check_run(tree, "a unit", ["--no-build", "sema/unit/c"], 0, [], "1 drivers")


def check_cache(tree):
    """Drivers of a run share a cache of code that is new; the user's is that of gpu/ alone."""
    fills = ("#!/bin/sh\nmkdir -p \"$NEREID_CACHE_DIR\"\ncd \"$NEREID_CACHE_DIR\" || exit 1\n"
             "[ $(ls | wc -l) = $1 ] || exit 1\ntouch $$\necho '1 passed, 0 failed'\n")
    for i in (0, 1):
        write(tree / "tests" / f"cache/d{i}", fills.replace("$1", str(i)))
    write(tree / "tests" / "gpu/d", "#!/bin/sh\necho \"${NEREID_CACHE_DIR:-the user's}\"\n"
          "echo '1 passed, 0 failed'\n")
    for run in ("a run", "another"):
        check_run(tree, run, ["--no-build", "-j1", "cache/d0", "cache/d1"], 0, [],
                  "2 passed, 0 failed")
    named = tree / "named cache"
    check_run(tree, "a cache that is named", ["--no-build", "cache/d0"], 0, [], "1 passed",
              NEREID_CACHE_DIR=str(named))
    tally.check(len(list(named.iterdir())) == 1, "the cache that is named is used")
    check_run(tree, "GPUs", ["--no-build", "gpu/d"], 0, [], "the user's")


def check_cores(tree):
    """Where all cores have drivers each driver has one, but for those that are about cores."""
    every = len(os.sched_getaffinity(0))
    names = [f"cores/{i}" for i in range(every)]
    for name, mark, wanted in [*((name, "", 1) for name in names[1:]),
                               (names[0], "# tests/run: all cores\n", every)]:
        write(tree / "tests" / f"{name}.py", f"{mark}import os\n"
              f"ok = len(os.sched_getaffinity(0)) == {wanted}\n"
              "print(f'{ok:d} passed, {not ok:d} failed')\nexit(not ok)\n")
    check_run(tree, "a core each", ["--no-build", *names], 0, [], f"{every} passed, 0 failed")


def check_python(tree):
    """Drivers run under a Python that has NumPy; where there is none, that is said at once."""
    bare, real = tree / "bare/bin/python3", pathlib.Path(sys.executable).resolve()
    write(tree / "bare/pyvenv.cfg", f"home = {real.parent}\n"
          "include-system-site-packages = false\n")
    bare.parent.mkdir()
    bare.symlink_to(real)
    write(tree / "tests/lang" / "needs.py", "import numpy\nprint('1 passed, 0 failed')\n")
    for name, variables, status, words in (
            ("this one", {}, 0, "1 passed, 0 failed"),
            ("one that is named", {"PYTHON": sys.executable}, 0, "1 passed, 0 failed"),
            ("none in it", {"PYTHON": str(bare)}, 1, f"no NumPy in {bare}: `sh setup.sh packages`"),
            ("no such file", {"PYTHON": "absent/python3"}, 1, "no NumPy in absent/python3")):
        done = subprocess.run([sys.executable, "tests/run", "--no-build", "lang/needs"], cwd=tree,
                              env={"PATH": "/usr/bin:/bin"} | variables, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tally.check(done.returncode == status and words in done.stdout,
                    f"{name}: status {done.returncode}\n{done.stdout}")
    done = subprocess.run([bare, "tests/run", "--no-build", "lang/needs"], cwd=tree, text=True,
                          env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    debian = pathlib.Path("/usr/bin/python3").exists() and not subprocess.run(
        ["/usr/bin/python3", "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode
    words = "python: /usr/bin/python3" if debian else "no NumPy in the Python found"
    tally.check(words in done.stdout, f"Debian's: status {done.returncode}\n{done.stdout}")


def main():
    with tempfile.TemporaryDirectory() as tree:
        tree = pathlib.Path(tree).resolve()
        (tree / "tests").mkdir()
        shutil.copy2(ROOT / "tests/run", tree / "tests/run")
        (tree / "tests/support").mkdir()
        for name in ("quick_cc.py", "quick_cc.c"):
            shutil.copy2(ROOT / "tests/support" / name, tree / "tests/support")
        write(tree / "Makefile", MAKEFILE)
        check_units(tree)
        check_drivers(tree)
        check_order(tree)
        check_compiler(tree)
        check_cache(tree)
        check_cores(tree)
        check_python(tree)
        write(tree / "Makefile", "all: ; @echo no compiler; false\n")
        check_run(tree, "a build that fails", ["lang/plain"], 1, [], "no compiler")
        (tree / "Makefile").unlink()
        check_run(tree, "the bundle", ["lang/plain"], 0, [], "1 passed")
    return tally.report()


sys.exit(main())
