#!/usr/bin/env python3
"""`nereid build` of kernels: the C source compiles without warnings, with another kernel's in one
program, loads and launches with a stand-in for the driver's library, and is refused by others.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
CC = os.environ.get("CC", "gcc").split()
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]

KERNELS = '''import triton
import triton.language as tl


@triton.jit
def scale(x, n, factor, k, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * factor + k, mask=i < n)
'''

# What the launcher calls; it writes down what it is given.
DRIVER = r'''
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int setting(const char *name, int otherwise) {
  const char *value = getenv(name);
  return value ? atoi(value) : otherwise;
}
int cuCtxGetDevice(int *device) { return *device = 0, setting("FAIL", 0); }
int cuDeviceGetAttribute(int *out, int which, int device) {
  int sm = setting("SM", 90);
  *out = which == 75 ? sm / 10 : which == 76 ? sm % 10 : which == 16 ? 132 : 0;
  return device;
}
int cuModuleLoadData(void **out, const void *image) {
  const unsigned char *code = image;
  printf("load %s%s\n", !memcmp(code, "\177ELF", 4) ? "machine code" : "PTX",
         (uintptr_t)code % 16 ? ", not aligned" : "");
  return *out = malloc(1), setting("LOAD", 0);
}
int cuModuleUnload(void *module) { return puts("unload"), free(module), 0; }
int cuModuleGetFunction(void **out, void *module, const char *name) {
  return *out = module, puts(name), 0;
}
int cuFuncSetAttribute(void *f, int which, int value) {
  return (void)f, printf("attribute %d %d\n", which, value), 0;
}
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
  float factor;
  memcpy(&factor, params[2], sizeof factor);
  printf("launch %u %u %u, %u %u %u, %u, %d: %llx %d %g %lld %d\n", gx, gy, gz, bx, by, bz, shared,
         stream != NULL, *(unsigned long long *)params[0], *(int *)params[1], factor,
         *(long long *)params[3], extra != NULL);
  return f ? 0 : 1;
}
'''

PROGRAM = r'''
#include <stdio.h>
#include "scale.h"
#include "other.h"
int main(void) {
  scale_kernel k;
  other_kernel o;
  int r = scale_load(&k);
  printf("%d\n", r);
  if (r) return 0;
  printf("%d\n", scale_launch(&k, (CUstream)&k, 7, 1, 2, 0x1000, -5, 1.5f, -1));
  printf("%d\n", scale_launch(&k, 0, 7, 1, 2, 0x1008, 5, 1.5f, 3));
  printf("%d\n", scale_launch(&k, 0, 7, 0, 2, 0x1000, 5, 1.5f, 3));
  scale_unload(&k);
  printf("%d\n", other_load(&o));
  other_unload(&o);
  return 0;
}
'''


PRODUCT = r'''
#include <stdio.h>
#include "product.h"
int cuCtxGetDevice(int *device) { return *device = 0; }
int cuDeviceGetAttribute(int *out, int which, int device) {
  return *out = which == 75 ? 9 : 0, device;
}
int cuModuleLoadData(void **out, const void *image) { return *out = (void *)image, 0; }
int cuModuleUnload(void *module) { return !module; }
int cuModuleGetFunction(void **out, void *module, const char *name) {
  return *out = module, !name;
}
int cuFuncSetAttribute(void *f, int which, int value) { return !f + !which + !value; }
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                           const uint64_t *extents, const uint64_t *strides, const unsigned *box,
                           const unsigned *steps, int interleave, int swizzle, int promotion,
                           int fill) {
  printf("map %d %u %p, %llu %llu, %llu, %u %u, %u %d %d %d %d%s\n", type, rank, address,
         (unsigned long long)extents[0], (unsigned long long)extents[1],
         (unsigned long long)strides[0], box[0], box[1], steps[0], interleave, swizzle, promotion,
         fill, (uintptr_t)map % 64 ? ", not aligned" : "");
  *(char *)map = (char)box[1];
  return extents[0] > 1 << 20 || strides[0] % 16;
}
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
  printf("launch %u of %u, ", gx * gy * gz, bx * by * bz);
  if (params[9]) printf("maps %d %d\n", *(char *)params[9], *(char *)params[10]);
  else printf("no maps\n");
  return !f + !shared + !!stream + !!extra;
}
int main(void) {
  product_kernel k;
  printf("%d\n", product_load(&k));
  for (int row = 96; row <= 100; row += 4)
    printf("%d\n", product_launch(&k, 0, 2, 1, 1, 0x1000, 0x2000, 0x3000, 80, 96, 64, 64, 1, row,
                                  1, 96, 1));
  product_unload(&k);
  return 0;
}
'''


def check_maps(folder):
    """A product whose operands the hardware copies: the C source makes their maps, and runs code
    without them where the driver refuses one."""
    matmul = ROOT / "examples/kernels/matmul.py"
    pathlib.Path(folder, "main.c").write_text(PRODUCT)
    sizes = "stride_bk=i32," + ",".join(f"{n}=i32:16"
                                        for n in ("M", "N", "K", "stride_am", "stride_cm"))
    ones = ",".join(f"{n}=i32:1" for n in ("stride_ak", "stride_bn", "stride_cn"))
    command = [NEREID, "build", f"{matmul}:matmul", "-o", folder, "--name", "product", "--disjoint",
               "--ptx-only", "--sig", "a_ptr=*bf16:16,b_ptr=*bf16:16,c_ptr=*bf16:16," + sizes + ","
               + ones, "-D", "BLOCK_M=64", "-D", "BLOCK_N=32", "-D", "BLOCK_K=64", "-D",
               "GROUP_M=8"]
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, f"build with maps: {done.stderr}")
    done = subprocess.run([*CC, *STRICT, "-std=c11", "-o", "product", "main.c", "product.c"],
                          cwd=folder, capture_output=True, text=True)
    check(done.returncode == 0, f"the source with maps compiles: {done.stderr}")
    done = subprocess.run([f"{folder}/product"], capture_output=True, text=True)
    want = ["0", "map 1 2 0x1000, 64 80, 128, 64 64, 1 0 3 2 0",
            "map 1 2 0x2000, 96 64, 192, 32 64, 1 0 2 2 0", "launch 2 of 128, maps 64 64", "0",
            "map 1 2 0x1000, 64 80, 128, 64 64, 1 0 3 2 0",
            "map 1 2 0x2000, 96 64, 200, 32 64, 1 0 2 2 0", "launch 2 of 128, no maps", "0"]
    check(done.stdout.splitlines() == want, f"launches with maps and without: {done.stdout}")


def build(folder, *options):
    command = [NEREID, "build", f"{folder}/kernels.py", "-D", "B=256", "-o", folder, *options]
    return subprocess.run(command, capture_output=True, text=True)


def run(folder, **settings):
    env = {**os.environ, **{name: str(value) for name, value in settings.items()}}
    done = subprocess.run([f"{folder}/program"], env=env, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else [f"status {done.returncode}"]


def check_program(folder, code):
    launch = "launch 7 1 2, 128 1 1, 0, 1: 1000 -5 1.5 -1 0"
    check(run(folder) == [f"load {code}", "scale", "0", launch, "0", "1", "0", "unload", "load PTX",
                          "scale", "0", "unload"], f"a run with {code}: {run(folder)}")
    check(run(folder, SM=80)[:2] == [f"load {code}", "scale"], "a GPU of another target")
    check(run(folder, SM=75) == ["209"], "an older GPU")
    check(run(folder, SM=100)[0] == ("209" if code == "machine code" else "load PTX"),
          f"a newer GPU: {run(folder, SM=100)}")
    check(run(folder, FAIL=201) == ["201"], "no context")
    check(run(folder, LOAD=200) == [f"load {code}", "unload", "200"], "code that is refused")


def has_ptxas():
    lines = subprocess.run([NEREID, "info"], capture_output=True, text=True).stdout.splitlines()
    return any(line.split()[0] == "ptxas" and line.endswith("ptxas") for line in lines)


def main():
    if not shutil.which(CC[0]):
        print("1 skipped: no C compiler")
        return report()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ("kernels.py", KERNELS), ("driver.c", DRIVER), ("program.c", PROGRAM):
            pathlib.Path(folder, name).write_text(text)
        signature = ["--sig", "x=*fp32:16,n=i32,factor=fp32,k=i64"]
        for options in ([], ["--ptx-only"]):
            done = build(folder, *signature, "--target", "sm_90a,sm_80", *options)
            check(done.returncode == 0 and not done.stdout, f"build {options}: {done.stderr}")
            done = build(folder, *signature, "--name", "other", "--disjoint", "--ptx-only")
            check(done.returncode == 0, f"build under another name: {done.stderr}")
            done = subprocess.run([*CC, *STRICT, "-std=c11", "-o", "program", "program.c",
                                   "driver.c", "scale.c", "other.c"], cwd=folder,
                                  capture_output=True, text=True)
            check(done.returncode == 0, f"the sources compile: {done.stderr}")
            check("for sm_90a, sm_80" in pathlib.Path(folder, "scale.h").read_text(),
                  "the header names the targets")
            check_program(folder, "PTX" if options or not has_ptxas() else "machine code")
        check_maps(folder)
        if shutil.which("g++"):
            done = subprocess.run(["g++", *STRICT, "-std=c++17", "-fsyntax-only", "-x", "c++",
                                   "scale.h"], cwd=folder, capture_output=True, text=True)
            check(done.returncode == 0, f"the header in C++: {done.stderr}")
    return report()


if __name__ == "__main__":
    sys.exit(main())
