#!/usr/bin/env python3
"""`make demo`: runs the example kernels on real arrays, on the GPU if there is one, else on the
CPU, and prints each result's largest error against NumPy and the kernel's median time."""
import ctypes, pathlib, re, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/conformance"))
from cases import CASES
from numeric import run_case

# A case of tests/conformance/cases.py by its function, and the sizes to run it with here.
DEMO = [
    ("vector_add", dict(n=1 << 24, block=1024)),
    ("softmax", dict(rows=2048, n=1000, block=1024)),
    ("layer_norm_forward", dict(rows=2048, n=1000, block=1024)),
    ("rms_norm", dict(rows=2048, n=1000, block=1024)),
    ("dropout", dict(n=1 << 20, block=1024)),
    ("matmul", dict(m=500, n=700, k=600, tile=(64, 64, 32), activation="fn:silu")),
    ("attention", dict(heads=8, n=1000, dim=64, blocks=(64, 64), causal=True)),
    # Running sums of 5000 numbers in f32: NumPy's own are off by 1e-4.
    ("cumsum", dict(rows=1024, n=5000, block=1024, tol=1e-4)),
    ("histogram", dict(n=1 << 20, bins=64, block=1024)),
    ("cross_entropy", dict(rows=256, n=32000, block=1024)),
    ("rotary", dict(tokens=1024, heads=12, half=32, block_heads=4, block_half=32)),
]

EPILOGUE = """
largest error: the largest |result - NumPy's| / (1 + |NumPy's|) of the kernel's arrays
time: the median of many launches on device {device}, without compiling and without copies

Next:
  examples/kernels/softmax.py      a kernel, and in its first lines the command that runs it
  sh setup.sh python               the package for Python, with NumPy
  build/nereid graph tests/models/mlp/model.pt2 --random-inputs --explain --device {device}
                                   a model, and how long each of its kernels takes
  README.md, docs/tour.md          the commands, and what happens to a kernel between them"""


def has_gpu():
    try:
        cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
    except OSError:
        return False
    return cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value


def main():
    device = "cuda" if has_gpu() else "cpu"
    print(f"device {device}\n\n{'kernel':20} {'largest error':>14} {'allowed':>9} {'time':>12}")
    failed = 0
    for name, sizes in DEMO:
        case = next(c for c in CASES if c.make.__name__ == name)
        allowed = sizes.pop("tol", case.tol)
        try:
            _, errors, output = run_case(case, device, ["--time"], **sizes)
        except RuntimeError as problem:
            print(f"{name:20} failed\n{problem}")
            failed += 1
            continue
        error, time = max(errors.values()), re.search(r"^time +(\S+) us", output, re.M)
        mark = "" if error <= allowed else "  WRONG"
        failed += bool(mark)
        took = f"{float(time[1]):9.1f} us" if time else "?"
        print(f"{name:20} {error:14.2e} {allowed:9.0e} {took:>12}{mark}")
    print(EPILOGUE.format(device=device))
    return failed > 0


sys.exit(main())
