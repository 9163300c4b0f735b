#!/usr/bin/env python3
"""What device_print and print write, on each device: each line as a whole, each element once.

    device_print.py [--devices interp,nest,cpu:8]

The kernels are in device_print/kernels.py, but the one that prints values of all dtypes, which is
made here.  On `interp` the lines of a program are in its order; elsewhere they are compared sorted.
"""
import argparse, collections, os, pathlib, re, struct, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402
from widths import place  # noqa: E402

KERNELS = ROOT / "tests/conformance/device_print/kernels.py"
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
CC = os.environ.get("CC", "cc").split()
DTYPES = {"i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
          "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "f8e5": "float8e5",
          "f8e4nv": "float8e4nv", "f8e4b15": "float8e4b15", "f16": "float16",
          "bf16": "bfloat16", "f32": "float32", "f64": "float64"}


# ---- lines ----

def lines_of(shape, prefix, values, pid=(0, 0, 0), operand=""):
    """A line for each element, values in row-major order; shape (): a scalar."""
    widths = [len(str(n - 1)) if n > 1 else 0 for n in shape]
    for index, text in zip(np.ndindex(*shape), values):
        at = ", ".join(f"{i:{w or ''}}" for i, w in zip(index, widths))
        yield f"pid ({pid[0]}, {pid[1]}, {pid[2]}) idx ({at}){prefix}{operand}{text}"


def plain(prefix, pid=(0, 0, 0)):
    return [f"pid ({pid[0]}, {pid[1]}, {pid[2]}){prefix}"]


def several(shapes, prefix, operands, pid=(0, 0, 0)):
    return [line for k, (shape, values) in enumerate(zip(shapes, operands))
            for line in lines_of(shape, prefix, values, pid, f"(operand {k}) ")]


# ---- runs ----

def run(device, kernel, arguments, grid="1", more=()):
    device, target = place(device, kernel)
    command = [NEREID, "run", *map(str, arguments), "--grid", grid, "--device", device, *more]
    command[2:2] = [str(kernel) if ":" in str(kernel) else f"{KERNELS}:{kernel}"]
    if target or device == "nest":
        if "--target" not in command:
            command += ["--target", target or "sm_80"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        return [f"status {done.returncode}: {done.stderr.strip()[:400]}"]
    return done.stdout.split("\n")[:-1]


def printed(lines):
    return [line for line in lines if line.startswith("pid (") or line.startswith("status ")]


def by_program(lines):
    programs = collections.defaultdict(list)
    for line in lines:
        programs[line[:line.find(")")]].append(line)
    return programs


def compare(name, device, got, expected):
    """Lines of several programs: in order within each on interp, else as often as they should."""
    got, expected = list(got), list(expected)
    if device == "interp":
        same = by_program(got) == by_program(expected)
    else:
        same = sorted(got) == sorted(expected)
    check(same, f"{name} on {device}: {first_difference(got, expected)}")


def first_difference(got, expected):
    more, less = (collections.Counter(got) - collections.Counter(expected),
                  collections.Counter(expected) - collections.Counter(got))
    shown = [f"unexpected {n} x {line!r}" for line, n in list(more.items())[:3]]
    shown += [f"missing {n} x {line!r}" for line, n in list(less.items())[:3]]
    return "; ".join(shown) or "another order"


# ---- values of all dtypes ----

COUNT = 48
ODD = 0x2D2697A66B00C7D  # no multiple of it is a signalling NaN, which CPUs make quiet
SPECIAL = [0, 1 << 63, 0x7FF << 52, 0xFFF << 52, (1 << 64) - 1, 0x7FFF << 48, 1, 0x3C00 << 48]


def width(dtype):
    return 8 if dtype.startswith("f8") else int(re.sub(r"\D", "", dtype))


def bits_of(dtype):
    """The element's bits: the upper ones of a 64-bit pattern, so that all dtypes see the special
    values of theirs."""
    every = SPECIAL + [i * ODD % 2**64 for i in range(COUNT - len(SPECIAL))]
    return [x >> (64 - width(dtype)) for x in every]


def small_float(raw, exponent_bits, bias, infinite):
    """Of 8 bits."""
    mantissa_bits = 7 - exponent_bits
    sign = -1.0 if raw & 0x80 else 1.0
    exponent = raw >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = raw & (1 << mantissa_bits) - 1
    if infinite and exponent == (1 << exponent_bits) - 1:
        return float("nan") if mantissa else sign * float("inf")
    if not exponent:
        return sign * mantissa * 2.0**(1 - bias - mantissa_bits)
    return sign * (1 + mantissa / 2**mantissa_bits) * 2.0**(exponent - bias)


def number(raw, dtype):
    if dtype == "f8e5":
        return small_float(raw, 5, 15, True)
    if dtype == "f8e4b15":
        return small_float(raw, 4, 15, False)
    if dtype == "f8e4nv":
        return float("nan") if raw & 0x7F == 0x7F else small_float(raw, 4, 7, False)
    if dtype == "f16":
        return struct.unpack("<e", struct.pack("<H", raw))[0]
    if dtype in ("bf16", "f32"):
        return struct.unpack("<f", struct.pack("<I", raw << 16 if dtype == "bf16" else raw))[0]
    if dtype == "f64":
        return struct.unpack("<d", struct.pack("<Q", raw))[0]
    signed = dtype[0] == "i" and dtype != "i1" and raw >> (width(dtype) - 1)
    return raw - (1 << width(dtype)) if signed else raw


def decimal(raw, dtype):
    x = number(raw, dtype)
    if isinstance(x, int):
        return str(x)
    return "nan" if x != x else f"{x:f}"


def hexadecimal(raw, dtype):
    return f"0x{raw:0{max(1, width(dtype) // 4)}x}"


HEAD = """import triton
import triton.language as tl


@triton.jit
def kernel(odd, special, out):
    o = tl.arange(0, 64)
    i = (o.to(tl.uint64) - 8) * odd
    x = tl.where(o < 8, tl.load(special + o, mask=o < 8, other=0), i.to(tl.uint64))
    tl.store(out + o, x)
    x = tl.load(out + tl.arange(0, 48))
"""


def all_dtypes_kernel():
    text = HEAD
    for dtype, name in DTYPES.items():
        bits = width(dtype)
        text += f"    {dtype}_bits = (x >> {64 - bits}).to(tl.uint{max(8, bits)})\n"
        cast = f"{dtype}_bits.to(tl.{name}, bitcast=True)" if dtype != "i1" else "i1_bits == 1"
        text += f"    {dtype} = {cast}\n"
        text += f"    print('{dtype}', {dtype})\n"
        text += f"    tl.device_print('hex {dtype}', {dtype}, hex=True)\n"
        text += f"    print('scalar {dtype}', {dtype}[9])\n"
        text += f"    tl.device_print('scalar hex {dtype}', {dtype}[9], hex=True)\n"
    return text


def check_dtypes(device, folder):
    path = pathlib.Path(folder) / "dtypes.py"
    path.write_text(all_dtypes_kernel())
    np.save(f"{folder}/special.npy", np.array(SPECIAL, np.uint64))
    got = run(device, f"{path}:kernel",
              [f"odd={ODD}", f"special=@{folder}/special.npy", "out=empty:u64[64]"])
    expected = []
    for dtype in DTYPES:
        raw = bits_of(dtype)
        for scalar in (False, True):
            for form, text in (("", decimal), ("hex ", hexadecimal)):
                values = [text(x, dtype) for x in (raw[9:10] if scalar else raw)]
                shape, prefix = ((), "scalar ") if scalar else ((COUNT,), "")
                expected += lines_of(shape, f" {prefix}{form}{dtype}: ", values)
    compare("all dtypes", device, printed(got), expected)


# ---- layouts ----

def numbers(array):
    return [f"{x:f}" if isinstance(x, np.floating) else str(x) for x in np.asarray(array).flat]


def tile(prefix, array):
    array = np.asarray(array)
    return list(lines_of(array.shape, f" {prefix}: ", numbers(array)))


def check_layouts(device, folder, n, m, more=()):
    rng = np.random.default_rng(n * m)
    k = n * m - n * m % 2
    x = rng.integers(-99, 99, (n, m)).astype(np.int32)
    np.save(f"{folder}/x.npy", x)
    got = run(device, "layouts", [f"x_ptr=@{folder}/x.npy", "-D", f"N={n}", "-D", f"M={m}", "-D",
                                  f"K={k}"], more=more)
    i, j = np.mgrid[:n, :m]
    expected = (tile("m", x) + tile("sum", x.sum(1)) + tile("all", x.sum()) + tile("t", x.T) +
                tile("row", i) + tile("wide", j) + tile("one", [7]) + tile("splat", [7] * 5) +
                tile("cube", x.flat[:k].reshape(2, k // 2, 1)))
    compare(f"layouts {n}x{m} {' '.join(more)}", device, printed(got), expected)


def check_products(device, folder, more=()):
    b, k = 32, 96
    rng = np.random.default_rng(7)
    a, c = (rng.integers(-4, 5, s).astype(np.float16) for s in ((b, k), (k, b)))
    np.save(f"{folder}/a.npy", a)
    np.save(f"{folder}/b.npy", c)
    got = run(device, "products", [f"a_ptr=@{folder}/a.npy", f"b_ptr=@{folder}/b.npy", f"K={k}",
                                   "-D", f"B={b}"], more=more)
    expected = []
    for at in range(0, k, b):
        expected += tile("k", at) + tile("a", a[:, at:at + b])
    expected += tile("sum", a.astype(np.float32) @ c.astype(np.float32))
    compare(f"products {' '.join(more)}", device, printed(got), expected)


# ---- control flow ----

def control_lines(pid, x, n, b):
    number = pid[0] + 10 * pid[1] + 100 * pid[2]
    lines = plain(" start", pid)
    for a in range(n):
        if a % 2 == number % 2:
            lines += several([(), (b,)], " odd: ", [[a], range(b)], pid)
        else:
            lines += lines_of((), " helper: ", [a], pid)
            lines += lines_of((), " even: ", [a + n], pid)
        for i in range(2):
            lines += plain(f" b{i}", pid)
    while n > 1:
        lines += lines_of((), " n: ", [n], pid)
        n //= 2
    if number == 11:
        lines += lines_of((b,), " rare: ", range(b), pid)
    lines += lines_of((b,), " before: ", numbers(x), pid)
    lines += lines_of((b,), " after: ", numbers(x + 1), pid)
    return lines


def check_control(device, folder):
    b, n, grid = 16, 3, (2, 3, 2)
    x = np.zeros((b * 150,), np.float32)
    x[:b] = np.arange(b) / 4
    np.save(f"{folder}/x.npy", x)
    got = run(device, "control", [f"x_ptr=@{folder}/x.npy", f"n={n}", "-D", f"B={b}"],
              ",".join(map(str, grid)))
    expected = [line for pid in np.ndindex(*grid) for line in control_lines(pid, x[:b], n, b)]
    compare("control", device, printed(got), expected)


def check_masked(device, folder):
    """Many programs, which threads of a CPU share: no line is torn."""
    b, n = 64, 64 * 40 - 7  # a GPU's buffer holds the lines of so many programs
    np.save(f"{folder}/x.npy", np.arange(n, dtype=np.int32))
    got = run(device, "masked", [f"x_ptr=@{folder}/x.npy", f"n={n}", "-D", f"B={b}"], "40")
    expected = []
    for p in range(40):
        v = np.array([i if i < n else -1 for i in range(p * b, p * b + b)])
        for k in range(3):
            expected += lines_of((b,), " v: ", v + k, (p, 0, 0))
        expected += lines_of((), " s: ", [3 * v.sum()], (p, 0, 0))
    compare("masked", device, printed(got), expected)
    check(got[-1].startswith("x_ptr i32["), f"masked on {device}: results come before lines")


# ---- operands, messages, names ----

def check_operands(device, _):
    got = run(device, "operands", ["n=-5", "y=0.25", "-D", "B=8"])
    operands = ["-5", "0.250000", "8", "1.500000", "1", "3000000000", str(-2**40)]
    expected = list(lines_of((), ": ", ["0"]))
    expected += several([()] * 7, " x: ", [[x] for x in operands])
    expected += plain(' 100% of /* "it" */ \\ ??/ `$B`')
    expected += lines_of((), " tab\tend: ", [-5])
    expected += several([()] * 3, " h: ", [["0xfffffffb"], ["0xffffffff"], ["0x3f800000"]])
    expected += plain(" named")
    compare("operands", device, got, expected)


def check_pointers(device, _):
    got = run(device, "pointers", ["x_ptr=zeros:f32[8]", "y_ptr=zeros:f16[8]", "-D", "B=4"])
    got = printed(got)
    x = sorted(int(line.split("0x")[1], 16) for line in got if " x: 0x" in line)
    check(len(got) == 6 and x == [x[0] + 4 * i for i in range(4)] if x else False,
          f"pointers on {device}: {got}")
    check(any(re.fullmatch(r"pid \(0, 0, 0\) idx \(\) y: 0x[0-9a-f]{16}", line) for line in got),
          f"pointers on {device}: {got}")
    check("pid (0, 0, 0) idx (0) null: 0x0" in got, f"pointers on {device}: {got}")


def check_names(device, _):
    compare("printf", device, run(device, "printf", ["puts=3"]), lines_of((), " puts: ", [3]))
    got = run(device, "vprintf", ["lane=3", "print_bytes=4"])
    compare("vprintf", device, got, several([(2,), ()], " lane: ", [[3, 4], [4]]))


# ---- C as text ----

def check_standalone(folder):
    """The text of --emit c is a unit by itself."""
    for lanes in (4, 8, 16):
        path = f"{folder}/k{lanes}.c"
        subprocess.run([NEREID, "compile", f"{folder}/dtypes.py", "--sig",
                        "odd=u64,special=*u64,out=*u64", "--target", f"cpu:{lanes}", "--emit", "c",
                        "-o", path], check=True)
        flags = ["-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-parameter", "-Wno-psabi"]
        done = subprocess.run([*CC, *flags, "-Werror", "-c", "-o", f"{folder}/k.o", path],
                              capture_output=True, text=True, check=False)
        check(not done.returncode, f"the C of cpu:{lanes}: {done.stderr[:400]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp,nest,cpu:4,cpu:8,cpu:16")
    devices = parser.parse_args().devices.split(",")
    with tempfile.TemporaryDirectory() as folder:
        quick_compiler(folder)
        for device in devices:
            check_dtypes(device, folder)
            for n, m in ((1, 2), (3, 7), (16, 64)):
                check_layouts(device, folder, n, m)
            if not device.startswith("cpu") and device != "interp":
                check_layouts(device, folder, 8, 32, ("--num-warps", "1"))
                check_layouts(device, folder, 4, 8, ("--num-warps", "8"))
            for target in ("sm_80", "sm_90a", "sm_100a") if device == "nest" else [None]:
                check_products(device, folder, ("--target", target) if target else ())
            for test in (check_control, check_masked, check_operands, check_pointers, check_names):
                test(device, folder)
        if any(device.startswith("cpu") for device in devices):
            check_standalone(folder)
    return report()


sys.exit(main())
