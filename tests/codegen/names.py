#!/usr/bin/env python3
"""Identifiers mean nothing to the printers of PTX and C.

Every identifier of the kernels in tests/codegen and of the cases of tests/conformance becomes
another one: plain names, words of C and PTX, macros of all headers, names of helpers and of what
the printers make, the names in the kernel's own C and PTX, and letters beyond ASCII.  The text is
the same up to names, it compiles, and on device cpu the values of the cases are NumPy's.

    names.py [NAME...]     only kernels and cases whose name contains one of NAME
"""
import ast, concurrent.futures, os, pathlib, random, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/codegen"
sys.path += [str(ROOT / "tests/support"), str(ROOT / "tests/conformance")]
import cases, numeric, rename  # noqa: E402
from quick_cc import quick_compiler  # noqa: E402

NEREID = numeric.NEREID
PTXAS = (os.environ.get("NEREID_PTXAS") or shutil.which("ptxas")
         or shutil.which("/usr/local/cuda/bin/ptxas"))
PLAIN = [f"id_{i}" for i in range(300)]
MACROS = rename.header_macros()
POOLS = {"plain": PLAIN, "words": rename.WORDS, "macros": MACROS, "ptx": rename.PTX_WORDS,
         "unicode": rename.UNICODE, "all": rename.WORDS + rename.PTX_WORDS + rename.UNICODE,
         "own": None}  # of the kernel's own text


def compile_text(args, kind, folder):
    """(text, "") or (None, what went wrong)"""
    cpu = ["--target", "cpu:8"] if kind == "c" else []
    at = args.index("--target") if cpu and "--target" in args else len(args)
    args = args[:at] + args[at + 2:] + cpu if cpu else args
    done = subprocess.run([NEREID, "compile", *args, "--emit", kind], cwd=folder,
                          capture_output=True, text=True)
    return (done.stdout, "") if done.returncode == 0 else (None, done.stderr)


# ---- texts up to names ----


def normal_ptx(text):
    """Without what has the file's name or the kernel's as a string."""
    text = re.sub(r"(?m)^(\t\.loc .*|\.file .*|\.global .*)\n", "", text)
    return [re.sub(r"%[\w$]+|\b(?:p_|map\$)[\w$]+|(?<=\.entry )[\w$]+", "\0\\g<0>\0", text)]


def normal_c(text):
    """The kernel's functions, without comments and strings."""
    text = text[text.index("\n/* Kernel "):]
    text = re.sub(r"/\*.*?\*/|\"(\\.|[^\"])*\"", "", text, flags=re.S)
    return re.sub(r"\b[A-Za-z_][\w$]*", "\0\\g<0>\0", text).split("\n}\n")


def difference(own, other):
    """None if in each function one map of names, to names of their own, makes the texts equal."""
    for function, renamed in zip(own, other, strict=True):
        a, b = function.split("\0"), renamed.split("\0")
        if a[::2] != b[::2]:
            return "another text"
        to, back = {}, {}
        for x, y in zip(a[1::2], b[1::2]):
            if to.setdefault(x, y) != y or back.setdefault(y, x) != x:
                return f"{x} and {y} also are {to[x]} and {back[y]}"
    return None


# ---- what the texts are put through ----


def syntax_error(text, kind, folder):
    if kind == "c":
        path = pathlib.Path(folder, "k.c")
        path.write_text(text)
        command = ["cc", "-std=gnu11", "-fsyntax-only", "-fwrapv", "-Wno-psabi", path]
    elif PTXAS:
        path = pathlib.Path(folder, "k.ptx")
        path.write_text(text)
        target = re.search(r"\.target (\w+)", text)[1]
        command = [PTXAS, "-O0", "-arch", target, "-o", "/dev/null", path]
    else:
        return ""
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr[:2000] if done.returncode or (kind == "c" and done.stderr) else ""


def pool_of(name, own):
    return re.findall(r"[^\W\d]\w*", own) if POOLS[name] is None else POOLS[name]


def test_text(path, kind, pool):
    args = rename.command(path)
    source = path.parent / args[0].partition(":")[0]
    own, problem = compile_text(args, kind, path.parent)
    if problem:
        return problem
    renaming = rename.renaming(ast.parse(source.read_text()), pool_of(pool, own),
                               random.Random(f"{path.stem} {pool}"))
    normal = normal_c if kind == "c" else normal_ptx
    with tempfile.TemporaryDirectory() as tmp:
        renamed = os.path.join(tmp, "renamed.py")
        rename.renamed_source(source, renaming, renamed)
        text, problem = compile_text(renaming.command(args, renamed), kind, path.parent)
        problem = problem or syntax_error(text, kind, tmp)
    return problem or difference(normal(own), normal(text))


def renamed_case(case, renaming, file):
    """The case with arguments of the new names."""
    def make(rng, **params):
        args, defines, grid, expected = case.make(rng, **params)
        rename_all = lambda d: {renaming.new(name): value for name, value in d.items()}
        args = {name: re.sub(r"^&\w+", lambda m: "&" + renaming.new(m[0][1:]), value)
                if isinstance(value, str) else value for name, value in rename_all(args).items()}
        defines = {name: renaming.value(str(v)) for name, v in rename_all(defines).items()}
        return args, defines, renaming.words(str(grid)), rename_all(expected)
    return case._replace(file=file, kernel=renaming.new(case.kernel), make=make)


def test_values(case, pool):
    own = POOLS["all"] + MACROS if POOLS[pool] is None else POOLS[pool]
    renaming = rename.renaming(ast.parse(pathlib.Path(case.file).read_text()), own,
                               random.Random(f"{case.name} {pool}"))
    with tempfile.TemporaryDirectory() as tmp:
        file = os.path.join(tmp, "renamed.py")
        rename.renamed_source(case.file, renaming, file)
        return numeric.check((renamed_case(case, renaming, file), "cpu"))


# ---- all ----


def all_tests(only):
    chosen = lambda name: not only or any(word in name for word in only)
    for kind in ("ptx", "c"):
        for path in sorted(GOLDEN.rglob("*.[ap]*[sy]")):
            source = rename.command(path)[0].partition(":")[0]
            if not source.endswith(".py"):  # IR text, whose names are not a language's
                continue
            if path.with_suffix(f".{kind}").exists() and chosen(path.stem):
                for pool in POOLS:
                    yield test_text, (path, kind, pool)
    for i, case in enumerate(cases.CASES):
        if chosen(case.name) and (not case.devices or "cpu" in case.devices):
            yield test_values, (case, list(POOLS)[i % len(POOLS)])


def main():
    if not PTXAS:
        print("1 skipped: no ptxas")
    tests, failed = list(all_tests(sys.argv[1:])), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(test, args, pool.submit(test, *args)) for test, args in tests]
        for test, args, job in jobs:
            problem = job.result()
            failed += bool(problem)
            if problem:
                about = " ".join(getattr(a, "stem", getattr(a, "name", a)) for a in args)
                print(f"FAIL {test.__name__} {about}: {problem.rstrip()}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed > 0


with tempfile.TemporaryDirectory() as compiled:
    quick_compiler(compiled, "-O0")
    sys.exit(main())
