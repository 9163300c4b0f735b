#!/usr/bin/env python3
"""Registers and spilled bytes a thread, and shared memory, of the kernels in kernels.py, beside
Triton's where that is installed.  One ptxas assembles both; no GPU is needed.

    registers.py [--target sm_90a] [NAME...]     cases whose name contains a NAME

A `*` is behind code that was assembled once more because it spilled, as Nereid does
(decisions 176, 312).
"""
import argparse, importlib.util, os, pathlib, re, shutil, subprocess, sys, tempfile
from cases import CASES

HERE = pathlib.Path(__file__).resolve().parent
NEREID = os.environ.get("NEREID", HERE.parents[1] / "build/nereid")
PTXAS = (os.environ.get("NEREID_PTXAS") or shutil.which("ptxas")
         or shutil.which("/usr/local/cuda/bin/ptxas"))
DYNAMIC = re.compile(r"buffer @\S+ : shared (\d+) \{[^}]*offset (\d+)")


def used(text, target):
    """(registers, bytes of spill stores and loads)"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "k.ptx")
        path.write_text(text)
        command = [PTXAS, "-v", f"-arch={target}", "-o", os.devnull, path]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    registers = int(re.search(r"Used (\d+) registers", said)[1])
    return registers, sum(map(int, spills.groups())) if spills else 0


def run_nereid(case, target, *more):
    kernel, signature, constants, warps = case
    command = [NEREID, "compile", f"kernels.py:{kernel}", "--sig", signature, "--target", target,
               "--num-warps", str(warps), *more]
    command += [word for name, value in constants.items() for word in ("-D", f"{name}={value}")]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout


def ours(case, target):
    """(registers, spills, shared bytes, assembled once more)"""
    ptx = run_nereid(case, target, "--emit", "ptx")
    buffers = DYNAMIC.findall(run_nereid(case, target, "--emit", "thread"))
    shared = max((int(size) + int(at) for size, at in buffers), default=0)
    registers, spills = used(ptx, target)
    if not spills or ".minnctapersm" in ptx:
        return registers, spills, shared, False
    more = re.sub(r"^(\.reqntid.*)$", r"\1\n.minnctapersm 1", ptx, flags=re.M)
    again = used(more, target)
    better = again[1] < spills
    return *(again if better else (registers, spills)), shared, better


def triton_kernel(name):
    spec = importlib.util.spec_from_file_location("kernels", HERE / "kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def theirs(triton, case, target):
    kernel, text, constants, warps = case
    kernel = triton_kernel(kernel)
    signature, constants, attributes = dict.fromkeys(constants, "constexpr"), dict(constants), {}
    for part in text.split(","):
        name, kind = part.split("=")
        kind, _, divisor = kind.partition(":")
        signature[name] = "constexpr" if divisor == "1" else kind
        if divisor == "1":
            constants[name] = 1
        elif divisor:
            attributes[(kernel.arg_names.index(name),)] = [["tt.divisibility", int(divisor)]]
    signature = {name: signature[name] for name in kernel.arg_names}
    source = triton.compiler.ASTSource(kernel, signature, constants, attributes)
    sm = int(re.search(r"\d+", target)[0])
    made = triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", sm, 32),
                          options={"num_warps": warps})
    return *used(made.asm["ptx"], target), made.metadata.shared


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    triton = None
    if importlib.util.find_spec("triton"):
        import triton
    print(f"{'kernel':32} {'Nereid':>22} {'Triton':>22}")
    print(f"{'':32} {'regs spills   shared':>22} {'regs spills   shared':>22}")
    worse = 0
    for name, case in CASES.items():
        if options.names and not any(part in name for part in options.names):
            continue
        a = ours(case, options.target)
        line = f"{name:32} {a[0]:5} {a[1]:6} {a[2]:8}{'*' if a[3] else ' '}"
        if triton:
            b = theirs(triton, case, options.target)
            worse += a[1] > b[1]
            line += f" {b[0]:5} {b[1]:6} {b[2]:8}"
        print(line, flush=True)
    if triton:
        print(f"more spills than Triton's: {worse}")


if __name__ == "__main__":
    sys.exit(main())
