#!/usr/bin/env python3
"""The distribution: its wheel, installed into a new virtual environment of each Python found
($PYTHON, and python3.10 to python3.15 in the path), where the other drivers of this folder run; and
the archive of the sources, which is built without re2c, bison and protoc-c.

    wheel.py [DRIVER...]     those drivers only

Under $PYTHON all of them run already with build/python, whose files are the wheel's, byte by byte.
There only those run again that are about the place of files.
"""
import os, pathlib, re, shutil, subprocess, sys, tarfile, tempfile, zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
PYTHON = os.environ.get("PYTHON", sys.executable)
sys.path.insert(0, str(ROOT / "tests/support"))
import tally

MOST_BYTES = 7.4e6
# What finds the program, entry points, modules and their sources beside the package.
PLACES = ("autotune", "drop_in", "examples", "models")
GLIBC = 28
NEWEST = 15  # of the versions of Python 3 that are looked for
NO_TOOLS = {tool: "false" for tool in ("RE2C", "BISON", "PROTOC_C")}
# What make tells the makes below it, which this one is not.
CLEAN = {name: value for name, value in os.environ.items()
         if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONPATH", "CC", "CFLAGS")}


def run(*command, cwd=ROOT, **variables):
    """Status and output of a command."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=CLEAN | variables, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="backslashreplace")
    return done.returncode, done.stdout


def succeeds(what, *command, **options):
    """Checks that it does, and gives its output."""
    try:
        status, output = run(*command, **options)
    except OSError as error:
        status, output = 127, str(error)
    tally.check(status == 0, f"{what}: status {status}\n{output[-3000:]}")
    return output.strip() if status == 0 else None


def missing():
    """The reason for which no wheel can be built here."""
    if b"__asan_init" in (BUILD / "nereid").read_bytes():
        return "the build has sanitizers"
    if BUILD != ROOT / "build":
        return "setup.py builds in build/"
    for module in ("pip", "setuptools", "wheel"):
        if run(PYTHON, "-c", f"import {module}")[0]:
            return f"no {module} in {PYTHON}"


def pythons():
    """$PYTHON first, then others by their versions."""
    found = {}
    words = [PYTHON, *(f"python3.{minor}" for minor in range(10, NEWEST + 1))]
    for word in words:
        status, text = run(word, "-c", "import sys; print('%d.%d' % sys.version_info[:2])") \
            if shutil.which(word) else (1, "")
        if not status:
            found.setdefault(text.strip(), word)
    return found


def build_wheel(folder, tree=ROOT, **variables):
    succeeds("pip wheel", PYTHON, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps",
             "--disable-pip-version-check", "-w", folder, ".", cwd=tree, **variables)
    return next(folder.glob("*.whl"), None)


def check_wheel(wheel):
    version = re.escape(run("python/link/version")[1].strip())
    form = rf"nereid_compiler-{version}-cp310-abi3-manylinux_2_(\d+)_{os.uname().machine}\.whl"
    name = re.fullmatch(form, wheel.name)
    tally.check(name, f"the wheel's name: {wheel.name}")
    tally.check(name and int(name[1]) <= GLIBC, f"the C library that it needs: {wheel.name}")
    size = wheel.stat().st_size
    tally.check(size <= MOST_BYTES, f"the wheel has {size} bytes, the limit is {MOST_BYTES:.0f}")
    print(f"{wheel.name}: {size / 1e6:.2f} MB")
    made = BUILD / "python/nereid"
    expected = {f"nereid/{path.relative_to(made)}": path.read_bytes() for path in made.rglob("*")
                if path.is_file() and "__pycache__" not in path.parts}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()
                  if ".dist-info/" not in name}
    for name in sorted({*expected, *packed}):
        tally.check(expected.get(name) == packed.get(name),
                    f"{name} differs between the wheel and build/python, or is in one only")


def check_symbols():
    """Nothing of the extension can collide with other libraries of its process."""
    extension = BUILD / "python/nereid/_nereid.abi3.so"
    names = re.findall(r"(?m) [A-TV-Z] (\w+)$", run("nm", "-D", extension)[1])
    tally.check(names == ["PyInit__nereid"], f"exported names: {names}")
    names = re.findall(r"(?m) U (_Py\w+|Py_\w*Internal\w*)$", run("nm", "-D", extension)[1])
    stable = {"_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct",
              "_Py_EllipsisObject", "_Py_NotImplementedStruct"}
    names = {name for name in names if not name.endswith("_SizeT")}
    tally.check(not names - stable, f"names outside of the stable ABI: {names - stable}")


LIGHT = """
import sys, nereid
heavy = {"numpy", "torch", "inspect", "ast", "typing", "re", "json", "sqlite3"} & set(sys.modules)
print(nereid.__version__, *sorted(heavy))
"""


def environment(folder, python, wheel):
    """A virtual environment with the wheel, and with the packages that the Python itself has."""
    succeeds("venv", python, "-m", "venv", "--without-pip", "--system-site-packages", folder)
    inside = folder / "bin/python"
    where = "import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))"
    status, packages = run(python, "-c", where)
    if not status:
        pathlib.Path(site(inside), "packages.pth").write_text(packages)
    # The pip of another version of Python works for some.
    own = PYTHON if run(python, "-m", "pip", "--version")[0] else python
    pip = [own, "-m", "pip", "--python", inside, "--disable-pip-version-check"]
    before = older(folder, wheel)
    for version in (before, wheel):
        succeeds("pip install", *pip, "install", "-q", "--no-index", "--no-deps", version)
    before.unlink()
    return inside, pip


def older(folder, wheel):
    """The same wheel as if the commit before had been packed."""
    version = wheel.name.split("-")[1]
    before = "0.0.1.dev1+g12345678"
    path = folder / wheel.name.replace(version, before)
    with zipfile.ZipFile(wheel) as packed, zipfile.ZipFile(path, "w") as written:
        for name in packed.namelist():
            written.writestr(name.replace(version, before),
                             packed.read(name).replace(version.encode(), before.encode()))
    return path


def check_installed(folder, inside):
    version = run(BUILD / "nereid", "--version")[1].strip()
    for command in ([folder / "bin/nereid"], [inside, "-m", "nereid"]):
        text = succeeds("the program", *command, "--version", cwd=folder)
        tally.check(text == version, f"{command[-1]} --version: {text}, not {version}")
    # -S: without what the packages of other distributions import at the start of Python.  All names
    # of Python that the extension uses are bound at once, also those that no test calls.
    found = succeeds("import", inside, "-I", "-S", "-c", f"import sys; sys.path.insert(0, "
                     f"{str(site(inside))!r}){LIGHT}", cwd=folder, LD_BIND_NOW="1")
    own = run("python/link/version")[1].strip()
    tally.check(found == own and own.startswith(version.split()[1]),
                f"version, and heavy modules that the import of nereid imports: {found}")


def site(inside):
    return run(inside, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))")[1].strip()


def run_drivers(folder, inside, names):
    """The other drivers of this folder, for which the installed package is what make made."""
    shadow = folder / "build"
    shadow.mkdir()
    for path in BUILD.iterdir():
        if path.name != "python":
            (shadow / path.name).symlink_to(path)
    (shadow / "python").symlink_to(site(inside))
    for driver in sorted((ROOT / "tests/python").glob("*.py")):
        if driver.name == "wheel.py" or not os.access(driver, os.X_OK):
            continue
        if names and driver.stem not in names:
            continue
        compiler = {"CC": os.environ["CC"]} if "CC" in os.environ else {}  # of tests/run
        status, output = run(inside, driver, NEREID_BUILD=str(shadow), PYTHON=str(inside),
                             **compiler)
        last = re.search(r"(?:^|\n)(\d+) passed, (\d+) failed\n$", output)
        ok = last and last[2] == "0" and status == 0
        tally.passed += int(last[1]) if last else 0
        print(f"  {driver.stem}: {last[0].strip() if last else f'status {status}'}")
        tally.check(ok, f"{driver.stem} in {inside}:\n{output[-4000:]}")


def check_uninstall(folder, pip):
    succeeds("pip uninstall", *pip, "uninstall", "-q", "-y", "nereid-compiler")
    left = [str(path) for path in folder.rglob("*nereid*") if "build" not in path.parts]
    tally.check(not left, f"pip uninstall leaves {left}")


def check_sources(folder):
    """Objects are taken from this build: the tools' files are made again, and all is linked."""
    command = "import setuptools.build_meta as b; print(b.build_sdist(%r))" % str(folder)
    if succeeds("sdist", PYTHON, "-c", command) is None:
        return
    archive = next(folder.glob("nereid*.tar.gz"))
    own = run("python/link/version")[1].strip()
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.2f} MB")
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    tree = next(path for path in folder.iterdir() if path.is_dir())
    others = shutil.ignore_patterns("tests", "examples", "bench", "wheel", "torch-*")
    shutil.copytree(BUILD, tree / "build", symlinks=True, dirs_exist_ok=True, ignore=others)
    for name in ("parser/lexer.c", "parser/grammar.c", "import/onnx/onnx.pb-c.c"):
        (tree / "build" / name).unlink()
    wheel = build_wheel(folder, tree, **NO_TOOLS)
    if wheel:
        tally.check(own in wheel.name, f"the archive's version: {wheel.name}, not {own}")
        # This number is made from all sources.
        here, there = (run(path / "build/python/nereid/bin/nereid", "--version")[1]
                       for path in (ROOT, tree))
        tally.check(here == there, f"the archive's sources differ: {here} {there}")


def main():
    reason = missing()
    if reason:
        print(f"1 skipped: {reason}")
        return tally.report()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        wheel = build_wheel(folder)
        if not wheel:
            return tally.report()
        check_wheel(wheel)
        check_symbols()
        for version, python in pythons().items():
            print(f"Python {version}: {python}")
            at = folder / f"python{version}"
            inside, pip = environment(at, python, wheel)
            check_installed(at, inside)
            if run(inside, "-c", "import numpy")[0]:
                print("  drivers skipped: no NumPy")
            else:
                run_drivers(at, inside, sys.argv[1:] or (PLACES if python == PYTHON else ()))
            check_uninstall(at, pip)
        (folder / "sources").mkdir()
        check_sources(folder / "sources")
    return tally.report()


sys.exit(main())
