#!/usr/bin/env python3
"""Compilation in process, from source to PTX: build/bench/compile's table, then each kernel beside
Triton where that is installed (its own stages up to PTX, for the same target; no GPU is needed).
Both in processor time, which other work on the machine does not lengthen.

    compile.py [NAME...]
"""
import importlib.util, os, pathlib, statistics, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEREID = pathlib.Path(os.environ.get("NEREID", ROOT / "build" / "nereid"))
RUNS = 7


def run_bench(*arguments):
    command = [NEREID.parent / "bench" / "compile", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def read_cases():
    for line in (ROOT / "bench" / "compile_cases.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        name, file, kernel, warps, stages, *arguments = line.split()
        yield name, file, kernel, int(warps), int(stages), arguments


def find_kernel(file, name):
    path = ROOT / "examples" / "kernels" / file
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def triton_source(triton, kernel, arguments):
    """The kernel for the argument types of a case, as Triton's compiler takes it."""
    signature, constants, attributes = {}, {}, {}
    for argument in arguments:
        if ":=" in argument:
            name, value = argument.split(":=")
            signature[name], constants[name] = "constexpr", eval(value)
            continue
        name, kind = argument.split("=")
        kind, _, divisor = kind.partition(":")
        if divisor == "1":
            signature[name], constants[name] = "constexpr", 1
            continue
        signature[name] = kind
        if divisor:
            place = kernel.arg_names.index(name)
            attributes[(place,)] = [["tt.divisibility", int(divisor)]]
    return triton.compiler.ASTSource(kernel, signature, constants, attributes)


def triton_ms(triton, target, case):
    """The median time of one compilation's stages, the cache and ptxas left out."""
    from triton._C.libtriton import ir
    from triton.compiler.compiler import make_backend
    name, file, kernel, warps, stages, arguments = case
    backend = make_backend(target)
    options = backend.parse_options(dict(num_warps=warps, num_stages=stages))
    times = []
    for _ in range(RUNS):
        source = triton_source(triton, find_kernel(file, kernel), arguments)
        start = time.process_time()
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        steps, metadata = {}, dict(target=target, **options.__dict__)
        backend.add_stages(steps, options, source.language)
        module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                                backend.get_module_map(), context)
        for stage in ("ttir", "ttgir", "llir", "ptx"):
            module = steps[stage](module, metadata)
        times.append(1e3 * (time.process_time() - start))
    return statistics.median(times)


def main():
    names = sys.argv[1:]
    print(run_bench(*names), flush=True)
    try:
        import triton
        from triton.backends.compiler import GPUTarget
    except ImportError as problem:
        print(f"Triton is not measured: {problem}")
        return 0
    ours = dict(line.split("\t") for line in run_bench("--tabs", *names).splitlines())
    print(f"| kernel | Nereid ms | Triton {triton.__version__} ms | ratio |")
    print("| --- | ---: | ---: | ---: |")
    for case in read_cases():
        if case[0] not in ours:
            continue
        us = float(ours[case[0]])
        try:
            theirs = triton_ms(triton, GPUTarget("cuda", 90, 32), case)
        except Exception as problem:
            print(f"| {case[0]} | {us * 1e-3:.2f} | {type(problem).__name__} | - |", flush=True)
            continue
        ratio = theirs / us * 1e3
        print(f"| {case[0]} | {us * 1e-3:.2f} | {theirs:.0f} | {ratio:.0f} |", flush=True)
    return 0


sys.exit(main())
