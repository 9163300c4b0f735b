#!/usr/bin/env python3
"""What assembling a small kernel's PTX takes in the driver, and whether less text, other options or
another assembler of the machine take less: milliseconds, each the median over modules that differ
in the kernel's name, since the driver keeps what it has assembled.

    bench/python/assembler.py [--repeat N]

Each way is a process of its own.  `nvJitLink` and `nvPTXCompiler` are looked for beside PyTorch and
in CUDA's toolkit; a way that the machine lacks is left out, with the reason."""

import argparse
import ctypes
import glob
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = {
    "add": ("few", "x=*fp32:16,y=*fp32:16,out=*fp32:16,n=i32:16"),
    "softmax": ("softmax", "x=*fp32:16,out=*fp32:16,stride=i32:16,n=i32:16"),
}
EMPTY = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry NAME()\n{\n\tret;\n}\n"
OPTIMIZATION_LEVEL, LINE_INFO, TARGET, LOG_VERBOSE = 7, 13, 9, 12


def ptx_of(kernel, signature):
    program = os.environ.get("NEREID", str(ROOT / "build" / "nereid"))
    done = subprocess.run([program, "compile", f"{ROOT}/bench/python/kernels.py:{kernel}", "--sig",
                           signature, "-D", "BLOCK=1024", "--emit", "ptx"], check=True, text=True,
                          stdout=subprocess.PIPE)
    return re.sub(rf"\b{kernel}\b(?=\()", "NAME", done.stdout)


def without_lines(text):
    """No `.loc` and no `.file`."""
    lines = text.splitlines(True)
    return "".join(line for line in lines if not re.match(r"\s*\.(loc|file)\b", line))


def with_fewer_registers(text):
    """No declarations of registers that no instruction names."""
    kept = []
    for line in text.splitlines(True):
        name = re.match(r"\s*\.reg \.\w+ (%[\w$]+)(<\d+>)?;", line)
        uses = name and re.escape(name[1]) + (r"\d" if name[2] else r"\b")
        if not name or len(re.findall(uses, text)) > (0 if name[2] else 1):
            kept.append(line)
    return "".join(kept)


def in_one_line(text):
    """Each statement begins at the start of a line, and no line is empty."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"


def of_target(text, target):
    return text.replace(".target sm_90a", f".target {target}")


def of_version(text, version):
    return re.sub(r"^\.version .*$", f".version {version}", text, count=1, flags=re.M)


TEXTS = {
    "as it is": lambda t: t,
    "without lines": without_lines,
    "without lines, compact": lambda t: in_one_line(with_fewer_registers(without_lines(t))),
    "for sm_90": lambda t: of_target(t, "sm_90"),
    "for sm_80": lambda t: of_target(t, "sm_80"),
    "version 8.6": lambda t: of_version(t, "8.6"),
    "version 9.0": lambda t: of_version(t, "9.0"),
}


class Cuda:
    """The driver, with a context of the first GPU."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.must(self.lib.cuInit(0))
        self.must(self.lib.cuDeviceGet(ctypes.byref(device), 0))
        self.must(self.lib.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self.must(self.lib.cuCtxSetCurrent(context))

    def must(self, code):
        if code:
            raise OSError(f"the driver's error {code}")

    @staticmethod
    def options(given):
        names = (ctypes.c_int * len(given))(*given)
        return len(given), names, (ctypes.c_void_p * len(given))(*given.values())

    def module(self, text, given):
        """cuModuleLoadDataEx."""
        module = ctypes.c_void_p()
        self.must(self.lib.cuModuleLoadDataEx(ctypes.byref(module), text, *self.options(given)))

    def library(self, text, given):
        """cuLibraryLoadData, and the kernel's function, which makes it load."""
        library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        function = ctypes.c_void_p()
        self.must(self.lib.cuLibraryLoadData(ctypes.byref(library), text, None, None, 0, None, None,
                                             0))
        name = re.search(rb"\.entry (\w+)", text)[1]
        self.must(self.lib.cuLibraryGetKernel(ctypes.byref(kernel), library, name))
        self.must(self.lib.cuKernelGetFunction(ctypes.byref(function), kernel))

    def link(self, text, given):
        """cuLinkAddData, and loading of what cuLinkComplete gives."""
        state, cubin, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        self.must(self.lib.cuLinkCreate_v2(*self.options(given), ctypes.byref(state)))
        self.must(self.lib.cuLinkAddData_v2(state, 1, text, ctypes.c_size_t(len(text) + 1), b"k", 0,
                                            None, None))
        self.must(self.lib.cuLinkComplete(state, ctypes.byref(cubin), ctypes.byref(size)))
        self.cubin(cubin)
        self.lib.cuLinkDestroy(state)

    def cubin(self, data):
        module = ctypes.c_void_p()
        self.must(self.lib.cuModuleLoadDataEx(ctypes.byref(module), data, 0, None, None))


def found_library(pattern):
    import importlib.util

    spec = importlib.util.find_spec("torch")
    beside = pathlib.Path(spec.origin).parents[1] / "nvidia" if spec else pathlib.Path("/none")
    names = [*glob.glob(f"{beside}/**/{pattern}", recursive=True),
             *glob.glob(f"/usr/local/cuda*/**/{pattern}", recursive=True)]
    if not names:
        raise OSError(f"no {pattern}")
    return ctypes.CDLL(names[0])


class JitLink:
    """nvJitLink: the assembler as a library of the toolkit."""

    def __init__(self, cuda):
        self.cuda, self.lib = cuda, found_library("libnvJitLink.so*")

    def __call__(self, text, given):
        handle, size = ctypes.c_void_p(), ctypes.c_size_t()
        options = [b"-arch=sm_90a", *given]
        list_ = (ctypes.c_char_p * len(options))(*options)
        call = lambda name: getattr(self.lib, f"__{name}_13_0", None) or getattr(self.lib, name)
        self.cuda.must(call("nvJitLinkCreate")(ctypes.byref(handle), len(options), list_))
        self.cuda.must(call("nvJitLinkAddData")(handle, 2, text, ctypes.c_size_t(len(text) + 1),
                                                b"k"))
        self.cuda.must(call("nvJitLinkComplete")(handle))
        self.cuda.must(call("nvJitLinkGetLinkedCubinSize")(handle, ctypes.byref(size)))
        cubin = ctypes.create_string_buffer(size.value)
        self.cuda.must(call("nvJitLinkGetLinkedCubin")(handle, cubin))
        call("nvJitLinkDestroy")(ctypes.byref(handle))
        self.cuda.cubin(cubin)


# A name, how, options, and variables of the environment.
WAYS = {
    "cuModuleLoadDataEx": ("module", {}, {}),
    "the same, level 0": ("module", {OPTIMIZATION_LEVEL: 0}, {}),
    "the same, level 1": ("module", {OPTIMIZATION_LEVEL: 1}, {}),
    "the same, target given": ("module", {TARGET: 90 + 0x10000}, {}),
    "the same, no cache of the driver": ("module", {}, {"CUDA_CACHE_DISABLE": "1"}),
    "the same, cache in /dev/shm": ("module", {}, {"CUDA_CACHE_PATH": "/dev/shm/nereid-assembler"}),
    "the same, eager loading": ("module", {}, {"CUDA_MODULE_LOADING": "EAGER"}),
    "cuLibraryLoadData": ("library", {}, {}),
    "cuLinkAddData": ("link", {TARGET: 90 + 0x10000}, {}),
    "cuLinkAddData, with lines": ("link", {TARGET: 90 + 0x10000, LINE_INFO: 1}, {}),
    "nvJitLink": ("jitlink", [], {}),
    "nvJitLink, -O0": ("jitlink", [b"-O0"], {}),
}


def measure(way, texts, repeat):
    """{text's name: [ms of the first, median ms of the others]} of one way, in this process."""
    kind, given, _ = WAYS[way]
    cuda = Cuda()
    call = JitLink(cuda) if kind == "jitlink" else getattr(cuda, kind)
    found = {}
    for name, text in texts.items():
        times = []
        for i in range(repeat + 1):
            unique = f"k{os.getpid()}_{time.time_ns()}_{i}"
            data = text.replace("NAME", unique).encode()
            begin = time.perf_counter()
            call(data, given)
            times.append(1e3 * (time.perf_counter() - begin))
        found[name] = [times[0], statistics.median(times[1:])]
    return found


def child(way, texts, repeat):
    done = subprocess.run([sys.executable, __file__, "--way", way, "--repeat", str(repeat)],
                          env={**os.environ, **WAYS[way][2]}, input=json.dumps(texts), text=True,
                          capture_output=True)
    if done.returncode:
        return done.stderr.strip().rsplit("\n", 1)[-1][:160]
    return json.loads(done.stdout)


def table(title, rows, columns):
    print(f"| {title} | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")
    for name, found in rows.items():
        cells = ([f"{found[c][1]:.2f} ({found[c][0]:.2f})" for c in columns]
                 if isinstance(found, dict) else [found] + [""] * (len(columns) - 1))
        print(f"| {name} | {' | '.join(cells)} |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--way", help="measure this alone, of texts on standard input")
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measure(options.way, json.load(sys.stdin), options.repeat)))
        return 0
    whole = {"nothing": EMPTY, **{name: ptx_of(*kernel) for name, kernel in KERNELS.items()}}
    print("ms: the median of later modules, and in parentheses the process's first\n")
    texts = {f"{k}, {how}": change(t) for k, t in whole.items() for how, change in TEXTS.items()}
    found = child("cuModuleLoadDataEx", texts, options.repeat)
    if isinstance(found, str):
        print(f"nothing is measured: {found}")
        return 0
    rows = {how: {k: found[f"{k}, {how}"] for k in whole} for how in TEXTS}
    table("text", rows, list(whole))
    table("way", {way: child(way, whole, options.repeat) for way in WAYS}, list(whole))
    return 0


if __name__ == "__main__":
    sys.exit(main())
