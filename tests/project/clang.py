#!/usr/bin/env python3
"""Clang compiles the sources that ask what a CPU has: compilers know different names of that."""
import pathlib, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("lang parser sema lower codegen runtime graph import tiling decompose "
         "planner model cli").split()
OPTIONS = ["-std=c11", "-D_GNU_SOURCE", "-I.", "-Ibuild", "-iquote", "runtime", "-iquote",
           "lang/base", "-Wall", "-Wextra", "-fsyntax-only"]


def main():
    if not shutil.which("clang"):
        print("1 skipped: no clang\n1 passed, 0 failed")
        return 0
    passed = failed = 0
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.c")):
            text = file.read_text()
            if "__builtin_cpu_" not in text and "<cpuid.h>" not in text:
                continue
            done = subprocess.run(["clang", *OPTIONS, str(file)], cwd=ROOT, text=True,
                                  capture_output=True)
            ok = not done.returncode and not done.stderr
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print(f"FAIL {file.relative_to(ROOT)}\n{done.stderr}")
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


sys.exit(main())
