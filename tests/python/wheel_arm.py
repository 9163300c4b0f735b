#!/usr/bin/env python3
"""The package for 64-bit Arm, cross-compiled into build/arm: what its files need of a system, and
the program's texts by emulation, which are those of this machine's program.

Skipped where there is no aarch64-linux-gnu-gcc with the static libraries for Arm, or no qemu-user
(support/cross_arm.py).
"""
import os, pathlib, re, shlex, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
sys.path.insert(0, str(ROOT / "tests/support"))
import cross_arm, tally

FILES = ["build/arm/python/nereid/_nereid.abi3.so", str(cross_arm.PROGRAM.relative_to(ROOT))]
GLIBC = 28
KERNELS = ["vector_add", "softmax", "layer_norm_forward", "rotary"]  # of tests/codegen
# These texts are the same on every machine that prints them.
STAGES = [["--emit", "tile"], ["--emit", "ptx"], ["--emit", "c", "--target", "cpu:8"]]


def build():
    printed = cross_arm.build(*FILES)
    tally.check(not printed, f"it is built: {printed}")
    return not printed


def check_file(name):
    command = [cross_arm.PREFIX + "readelf", "-hVdW", name]
    text = subprocess.run(command, cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE).stdout
    tally.check("AArch64" in text, f"{name} is for Arm")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    known = re.compile(r"lib(c|m|dl|pthread)\.so\.\d+|ld-linux-aarch64\.so\.1")
    tally.check(all(map(known.fullmatch, needed)), f"{name} needs {needed}")
    newest = max(map(int, re.findall(r"GLIBC_2\.(\d+)", text)))
    tally.check(newest <= GLIBC, f"{name} needs glibc 2.{newest}")


def check_texts():
    folder = ROOT / "tests/codegen"
    programs = [NEREID], [*cross_arm.emulator(), str(cross_arm.PROGRAM)]
    for kernel in KERNELS:
        words = shlex.split((folder / f"{kernel}.args").read_text(), comments=True)
        for stage in STAGES:
            here, there = (subprocess.run([*program, "compile", *words, *stage],
                                          cwd=folder, text=True, capture_output=True)
                           for program in programs)
            same = here.stdout == there.stdout != "" and there.returncode == 0
            tally.check(same, f"{kernel} {' '.join(stage)}: {there.stderr[-500:]}")


def main():
    reason = cross_arm.missing()
    if reason:
        print(f"1 skipped: {reason}")
        tally.check(True, "")
    elif build():
        for name in FILES:
            check_file(name)
        check_texts()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
