#!/usr/bin/env python3
"""Clang compiles the sources that ask what a CPU has: compilers know different names of that."""
import os, pathlib, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", ROOT / "build/nereid")
ROOMS = ("lang parser sema lower codegen runtime graph import tiling decompose "
         "planner model cli").split()
OPTIONS = ["-std=c11", "-D_GNU_SOURCE", "-I.", "-Ibuild", "-iquote", "runtime", "-iquote",
           "lang/base", "-Wall", "-Wextra", "-fsyntax-only"]
PROJECTS = "model/aot/runtime"  # files of projects, which are C beside what a build writes
GRAPH = 'def forward(self, x: "f32[32]"):\n    y = torch.ops.aten.relu.default(x)\n    return y\n'


def compiles(command, folder, name) -> bool:
    done = subprocess.run(["clang", *command], cwd=folder, text=True, capture_output=True)
    ok = not done.returncode and not done.stderr
    if not ok:
        print(f"FAIL {name}\n{done.stderr}")
    return ok


def project_compiles() -> bool:
    """The device of a project for several CPUs, whose runs ask what there is."""
    with tempfile.TemporaryDirectory() as folder:
        graph, out = pathlib.Path(folder, "relu.py"), pathlib.Path(folder, "out")
        graph.write_text(GRAPH)
        subprocess.run([NEREID, "build", graph, "--target", "cpu:4,cpu:8", "-o", out], check=True,
                       stdout=subprocess.DEVNULL)
        return compiles(["-std=c11", "-Wall", "-Wextra", "-fsyntax-only", "device.c"], out,
                        "device.c of a project")


def main():
    if not shutil.which("clang"):
        print("1 skipped: no clang\n1 passed, 0 failed")
        return 0
    passed = failed = 0
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.c")):
            if file.relative_to(ROOT).as_posix().startswith(PROJECTS):
                continue
            text = file.read_text()
            if "__builtin_cpu_" not in text and "<cpuid.h>" not in text:
                continue
            ok = compiles([*OPTIONS, str(file)], ROOT, file.relative_to(ROOT))
            passed, failed = passed + ok, failed + (not ok)
    ok = project_compiles()
    passed, failed = passed + ok, failed + (not ok)
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


sys.exit(main())
