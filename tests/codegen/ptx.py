#!/usr/bin/env python3
"""The kernels in tests/codegen that have a .ptx.

On every target ptxas assembles it, and refuses it with a lower `.version`; the examples need no
spills on those that they are made for.

    ptx.py [NAME...]     only kernels whose name contains one of NAME
"""
import concurrent.futures, os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/codegen"
sys.path.append(str(ROOT / "tests/support"))
from rename import command  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
PTXAS = (os.environ.get("NEREID_PTXAS") or shutil.which("ptxas")
         or shutil.which("/usr/local/cuda/bin/ptxas"))
TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")
NO_SPILLS = ("sm_80", "sm_90a")
VERSIONS = (70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90)


def compile_ptx(args, folder):
    """(PTX, "") or (None, what went wrong)"""
    done = subprocess.run([NEREID, "compile", *args], cwd=folder, capture_output=True, text=True)
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


def spilled(done):
    return re.search(r"[1-9]\d* bytes spill", done.stderr)


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


def is_of_another(problem, target):
    """Is it the refusal of IR text that has a schedule, which is for one target?"""
    scheduled = re.search(r"the IR text was scheduled for (\w+) with", problem)
    return scheduled and scheduled[1] != target


def test_target(path, target):
    text, problem = compile_ptx(with_target(command(path), target), path.parent)
    if problem:
        other = is_too_old(problem, target) or is_of_another(problem, target)
        return "" if other else problem
    done = assemble(text, target, ["-v"])
    if done.returncode:
        return done.stderr
    spills = spilled(done)
    if spills and ".minnctapersm" not in text:  # as the runtime does: ptx_registers.h there
        alone = re.sub(r"^(\.reqntid.*)$", r"\1\n.minnctapersm 1", text, flags=re.M)
        spills = spilled(assemble(alone, target, ["-v"]))
    if spills and target in NO_SPILLS:
        return spills[0] + "s"
    lower = lowered(text)
    if lower and assemble(lower, target, []).returncode == 0:
        return f"assembles as {lower.split(chr(10))[0]} too"
    return ""


# ---- all ----


def main():
    only = sys.argv[1:]
    paths = [p for p in sorted(GOLDEN.rglob("*.[ap]*[sy]"))
             if p.with_suffix(".ptx").exists() and any(name in p.stem for name in only or [""])]
    tests = [(path, target) for path in paths for target in TARGETS]
    if not PTXAS:
        print(f"{len(tests)} skipped: no ptxas")
        tests = []
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(test, pool.submit(test_target, *test)) for test in tests]
        for (path, target), job in jobs:
            problem = job.result()
            failed += bool(problem)
            if problem:
                print(f"FAIL {path.stem} {target}: {problem.rstrip()}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
