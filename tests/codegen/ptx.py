#!/usr/bin/env python3
"""The kernels in tests/codegen that have a .ptx.

On every target ptxas assembles it, and refuses it with a lower `.version`; the examples need no
spills on those that they are made for.  A kernel whose identifiers are all renamed has the same
PTX up to names: nothing is recognised by its name or its text.

    ptx.py [NAME...]     only kernels whose name contains one of NAME
"""
import ast, concurrent.futures, os, pathlib, re, shlex, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/codegen"
NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
PTXAS = (os.environ.get("NEREID_PTXAS") or shutil.which("ptxas")
         or shutil.which("/usr/local/cuda/bin/ptxas"))
TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")
NO_SPILLS = ("sm_80", "sm_90a")
VERSIONS = (70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90)


def command(path):
    """What tests/support/golden.py says behind `nereid compile`."""
    if path.suffix == ".args":
        return shlex.split(path.read_text(), comments=True)
    return [path.name] + shlex.split(" ".join(re.findall(r"(?m)^# nereid:(.*)", path.read_text())))


def compile_ptx(args):
    """(PTX, "") or (None, what went wrong)"""
    done = subprocess.run([NEREID, "compile", *args], cwd=GOLDEN, capture_output=True, text=True)
    return (done.stdout, "") if done.returncode == 0 else (None, done.stderr)


def with_target(args, target):
    at = args.index("--target") if "--target" in args else len(args)
    return args[:at] + ["--target", target] + args[at + 2:]


# ---- assembling ----


def assemble(text, target, options):
    with tempfile.TemporaryDirectory() as tmp:
        source, out = pathlib.Path(tmp, "k.ptx"), pathlib.Path(tmp, "k.cubin")
        source.write_text(text)
        return subprocess.run([PTXAS, *options, "-arch", target, "-o", out, source],
                              capture_output=True, text=True)


def lowered(text):
    """The text with the `.version` before its own; None for the first."""
    version = int("".join(re.match(r"\.version (\d+)\.(\d)\n", text).groups()))
    at = VERSIONS.index(version)
    lower = VERSIONS[at - 1]
    return at and text.replace(text.split("\n")[0], f".version {lower // 10}.{lower % 10}", 1)


def is_too_old(problem, target):
    """Is it the refusal of an instruction that later targets alone have?"""
    needed = re.search(r"needs? sm_(\d+) or later; the target is (\w+)$", problem, re.M)
    return needed and needed[2] == target and int(target.strip("sm_a")) < int(needed[1])


def test_target(path, target):
    text, problem = compile_ptx(with_target(command(path), target))
    if problem:
        return "" if is_too_old(problem, target) else problem
    done = assemble(text, target, ["-v"])
    if done.returncode:
        return done.stderr
    spills = re.search(r"[1-9]\d* bytes spill", done.stderr)
    if spills and target in NO_SPILLS:
        return spills[0] + "s"
    lower = lowered(text)
    if lower and assemble(lower, target, []).returncode == 0:
        return f"assembles as {lower.split(chr(10))[0]} too"
    return ""


# ---- renaming ----


class Rename(ast.NodeTransformer):
    """Every name that the file itself binds becomes another one of the same kind of use."""

    def __init__(self, names):
        self.names = {name: f"id_{i}" for i, name in enumerate(sorted(names))}

    def new(self, name):
        return self.names.get(name, name)

    def visit_Name(self, node):
        node.id = self.new(node.id)
        return node

    def visit_arg(self, node):
        node.arg = self.new(node.arg)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node):
        node.name = self.new(node.name)
        return self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name):  # of a function of this file
            for keyword in node.keywords:
                keyword.arg = self.new(keyword.arg)
        return self.generic_visit(node)


def bound_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def rename_command(args, source, rename):
    """The same arguments for the renamed file."""
    _, _, kernel = args[0].partition(":")
    out = [source + (":" + rename.new(kernel) if kernel else "")]
    for i, arg in enumerate(args[1:]):
        if args[i] == "--sig":
            pairs = (pair.partition("=") for pair in arg.split(","))
            arg = ",".join(rename.new(name) + "=" + type_ for name, _, type_ in pairs)
        elif args[i] == "-D":
            name, _, value = arg.partition("=")
            value = "fn:" + rename.new(value[3:]) if value.startswith("fn:") else value
            arg = rename.new(name) + "=" + value
        out.append(arg)
    return out


def normal(text):
    """PTX without places, its names numbered in the order of their first use."""
    text = re.sub(r"(?m)^(\t\.loc .*|\.file .*)\n", "", text)
    entry = re.search(r"\.entry (\w+)\(", text)[1]
    seen = {}
    name = lambda found: f"N{seen.setdefault(found[0], len(seen))}"
    return re.sub(rf"%[\w$]+|\bp_\w+|\$?\b{entry}\b", name, text)


def test_names(path):
    args = command(path)
    tree = ast.parse((GOLDEN / args[0].partition(":")[0]).read_text())
    rename = Rename(set(bound_names(tree)))
    with tempfile.TemporaryDirectory() as tmp:
        source = os.path.join(tmp, "renamed.py")
        pathlib.Path(source).write_text(ast.unparse(rename.visit(tree)))
        renamed, problem = compile_ptx(rename_command(args, source, rename))
    own, other = compile_ptx(args)
    if problem or other:
        return problem + other
    return "" if normal(own) == normal(renamed) else "the PTX depends on names"


# ---- all ----


def main():
    only = sys.argv[1:]
    paths = [p for p in sorted(GOLDEN.glob("*.[ap]*[sy]"))
             if p.with_suffix(".ptx").exists() and any(name in p.stem for name in only or [""])]
    tests = [(test_names, path, ()) for path in paths]
    targets = [(test_target, path, (target,)) for path in paths for target in TARGETS]
    if PTXAS:
        tests += targets
    else:
        print(f"{len(targets)} skipped: no ptxas")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(t, pool.submit(t[0], t[1], *t[2])) for t in tests]
        for (test, path, more), job in jobs:
            problem = job.result()
            failed += bool(problem)
            if problem:
                print(f"FAIL {test.__name__} {path.stem} {' '.join(more)}: {problem.rstrip()}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
