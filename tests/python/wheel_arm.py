#!/usr/bin/env python3
"""The package for 64-bit Arm, cross-compiled into build/arm: what its files need of a system, and
the program's texts by emulation, which are those of this machine's program.

Skipped where there is no aarch64-linux-gnu-gcc with the static libraries for Arm, or no qemu-user.
ARM_CPPFLAGS and ARM_LDFLAGS tell where these are, ARM_SYSROOT the folder of Arm's C library.
"""
import os, pathlib, re, shlex, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
sys.path.insert(0, str(ROOT / "tests/support"))
import tally

PREFIX = "aarch64-linux-gnu-"
FILES = ["build/arm/python/nereid/_nereid.abi3.so", "build/arm/python/nereid/bin/nereid"]
GLIBC = 28
SYSROOT = os.environ.get("ARM_SYSROOT", "/usr/aarch64-linux-gnu")
FLAGS = {name: os.environ.get("ARM_" + name, "") for name in ("CPPFLAGS", "LDFLAGS")}
KERNELS = ["vector_add", "softmax", "layer_norm_forward", "rotary"]  # of tests/codegen
# These texts are the same on every machine that prints them.
STAGES = [["--emit", "tile"], ["--emit", "ptx"], ["--emit", "c", "--target", "cpu:8"]]


def missing():
    """The reason for which nothing can be checked here."""
    if not shutil.which(PREFIX + "gcc"):
        return f"no {PREFIX}gcc"
    if not emulator():
        return "no qemu-aarch64"
    probe = "int main(void) { return 0; }"
    libraries = ["sqlite3", "xxhash", "minizip", "z", "protobuf-c"]
    command = [PREFIX + "gcc", "-x", "c", "-", "-o", os.devnull, *FLAGS["LDFLAGS"].split(),
               "-Wl,-Bstatic", *("-l" + name for name in libraries), "-Wl,-Bdynamic", "-lm"]
    done = subprocess.run(command, input=probe, text=True, capture_output=True)
    return f"no libraries for Arm: {done.stderr[-200:]}" if done.returncode else None


def emulator():
    return shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")


def build():
    environment = {k: v for k, v in os.environ.items()
                   if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    words = ["make", f"-j{os.cpu_count()}", "B=build/arm", f"CC={PREFIX}gcc", f"LD={PREFIX}ld",
             f"OBJCOPY={PREFIX}objcopy", *(f"{k}={v}" for k, v in FLAGS.items()), *FILES]
    done = subprocess.run(words, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    tally.check(done.returncode == 0, f"it is built: {done.stdout[-2000:]}")
    return done.returncode == 0


def check_file(name):
    text = subprocess.run([PREFIX + "readelf", "-hVdW", name], cwd=ROOT, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    tally.check("AArch64" in text, f"{name} is for Arm")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    known = re.compile(r"lib(c|m|dl|pthread)\.so\.\d+|ld-linux-aarch64\.so\.1")
    tally.check(all(map(known.fullmatch, needed)), f"{name} needs {needed}")
    newest = max(map(int, re.findall(r"GLIBC_2\.(\d+)", text)))
    tally.check(newest <= GLIBC, f"{name} needs glibc 2.{newest}")


def check_texts():
    folder = ROOT / "tests/codegen"
    programs = [NEREID], [emulator(), "-L", SYSROOT, str(ROOT / FILES[1])]
    for kernel in KERNELS:
        words = shlex.split((folder / f"{kernel}.args").read_text(), comments=True)
        for stage in STAGES:
            here, there = (subprocess.run([*program, "compile", *words, *stage],
                                          cwd=folder, text=True, capture_output=True)
                           for program in programs)
            same = here.stdout == there.stdout != "" and there.returncode == 0
            tally.check(same, f"{kernel} {' '.join(stage)}: {there.stderr[-500:]}")


def main():
    reason = missing()
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
