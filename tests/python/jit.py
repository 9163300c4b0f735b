#!/usr/bin/env python3
"""Jit functions on NumPy's arrays: kinds of arguments, what is specialized on, defaults, names of
kernels, stages; torch.Size and torch's tensors where torch is installed."""
import collections, os, pathlib, pickle, subprocess, sys, tempfile, threading, typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.path[:0] = [str(ROOT / "tests" / "support"), str(BUILD / "python")]
import tally

import numpy as np

import nereid
import nereid.language as tl
from nereid.runtime import arguments
from nereid.language import target_info
from nereid.tools import ragged_tma
from nereid.tools.ragged_tma import load_ragged
from nereid.tools.tensor_descriptor import TensorDescriptor

N = 64
X = np.arange(N, dtype=np.float32)


class Scaled(typing.NamedTuple):
    base: object
    factor: object


Pair = collections.namedtuple("Pair", "base shape")


@nereid.jit
def copy(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i))


@nereid.jit
def scale(t, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(t[0] + i) * t[1])


@nereid.jit
def scale_named(t, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(t.base + i) * t.factor)


@nereid.jit
def pair(p, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(p.base + i) + p.shape[1])


@nereid.jit
def fill(out, a, b=7, *, N: tl.constexpr = N):
    tl.store(out + tl.arange(0, N), a + b)


@nereid.jit
def typed(out, a: tl.int64, b: tl.float32, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), a.to(tl.float32) + b)


@nereid.jit
def square(v):
    return v * v


@nereid.jit
def apply(x, out, FN: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, FN(tl.load(x + i)))


@nereid.jit
def block(d, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, d.load([0, 0]))


@nereid.jit
def total(x, *more, times: tl.constexpr = 1, **named):
    for i in tl.static_range(len(more)):
        x += more[i] * times
    return x + named["last"] if "last" in named else x


@nereid.jit
def sums(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, total(tl.load(x + i), 1, 2, 3, times=2, last=100))


@nereid.jit
def second(x, out, start, size):
    if target_info.is_hip_cdna4() or target_info.hip_supports_bf16xX():
        size = 0
    ragged_tma.store_ragged(out, start, size, [0, 0], load_ragged(x, start, size, [0, 0]))


@nereid.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["m"])
def sizes(out, n, m, k, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), n + m + k)


@nereid.jit
def staged(x, out, N: tl.constexpr, num_stages: tl.constexpr):
    for j in tl.range(0, N, num_stages=num_stages):
        tl.store(out + j, tl.load(x + j))


@nereid.jit(repr=lambda s: f"named {s.signature['n']} " + ",".join(s.constants))
def named(out, n, one, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), n + one)


def result(kernel, *args, dtype=np.float32, **options):
    """What a launch of one program writes to the array that takes the place of Ellipsis."""
    out = np.zeros(N, dtype)
    kernel[(1,)](*[out if a is ... else a for a in args], **options)
    return out


def same(what, found, want):
    tally.check(np.array_equal(found, want), f"{what}: {found[:4]}, not {np.asarray(want)[:4]}")


def check_numbers():
    same("defaults", result(fill, ..., 3), np.full(N, 10))
    same("keywords", result(fill, ..., b=1, a=3), np.full(N, 4))
    same("a float and a bool", result(fill, ..., 2.5, True), np.full(N, 3.5))
    same("numbers of NumPy", result(fill, ..., np.int64(3), np.float32(0.5)), np.full(N, 3.5))
    same("annotated types", result(typed, ..., 3, 2, N), np.full(N, 5))
    big = result(fill, ..., 1 << 62, 1, dtype=np.int64)
    same("integers of 64 bits", big, np.full(N, (1 << 62) + 1))
    big = result(fill, ..., (1 << 63) + 5, 0, dtype=np.uint64)
    same("unsigned integers", big, np.full(N, (1 << 63) + 5, np.uint64))


def check_arrays():
    for dtype in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
        x = X.astype(dtype)
        same(f"an array of {dtype}", result(copy, x, ..., N, dtype=x.dtype), x)
    rows = np.zeros((3, N), np.float32)
    copy[(1,)](X, rows[1], N)
    tally.check(np.array_equal(rows[1], X) and rows.sum() == X.sum(), "a row of an array")
    moved = np.zeros(N + 1, np.float32)[1:]
    moved[:] = X
    same("an address that is not aligned", result(copy, moved, ..., N), X)


def check_tuples():
    same("a tuple", result(scale, (X, 3), ..., N), 3 * X)
    same("a tuple with a float", result(scale, (X, 2.5), ..., N), 2.5 * X)
    same("a NamedTuple", result(scale_named, Scaled(X, 4), ..., N), 4 * X)
    same("a namedtuple with a tuple", result(pair, Pair(X, (1, 5)), ..., N), X + 5)
    same("one in another", result(pair, Pair(X, Pair(2, 7)), ..., N), X + 7)


def check_constants():
    same("a function", result(apply, X, ..., square, N), X * X)
    same("a constexpr", result(copy, X, ..., tl.constexpr(N)), X)
    before = len(copy._specializations)
    copy[(1,)](X, np.zeros(N, np.float32), N)
    tally.check(len(copy._specializations) == before, "a constexpr is as its value")


def check_descriptors():
    a = np.arange(256, dtype=np.float32).reshape(16, 16)
    out = np.zeros_like(a)
    block[(1,)](TensorDescriptor.from_tensor(a, [16, 16]), out, 16, 16)
    same("a tensor descriptor", out, a)
    part, out = ragged_tma.create_ragged_descriptor(a, [8, 16]), np.zeros_like(a)
    second[(1,)](part, ragged_tma.create_ragged_descriptor(out, [8, 16]), 3, 5)
    want = np.zeros_like(a)
    want[3:8] = a[3:8]
    same("a part of a ragged descriptor", out, want)


def check_helpers():
    """Functions with starred parameters are no kernels, but kernels call them."""
    same("starred parameters", result(sums, X, ..., N), X + 2 * (1 + 2 + 3) + 100)
    for call in (lambda: total[(1,)](X), lambda: total.run(X, grid=(1,)), lambda: total.warmup(X)):
        try:
            call()
            tally.check(False, "a function with starred parameters was launched")
        except TypeError as error:
            tally.check("`total` can't be launched" in str(error) and "*more" in str(error), error)
    tally.check(isinstance(total, nereid.JITFunction) and total.arg_names == ["x", "times"],
                total.arg_names)


def check_specialization():
    def kinds(*values):
        sizes._forget()
        for value in values:
            same(f"sizes {value}", result(sizes, ..., *value, N), np.full(N, sum(value)))
        return len(sizes._specializations)

    tally.check(kinds((1, 3, 3), (16, 3, 3), (5, 3, 3)) == 1, "do_not_specialize")
    tally.check(kinds((3, 16, 3), (3, 5, 3)) == 1, "do_not_specialize_on_alignment")
    tally.check(kinds((3, 1, 3), (3, 5, 3)) == 2, "1 is specialized on all the same")
    tally.check(kinds((3, 3, 1), (3, 3, 16), (3, 3, 5), (3, 3, 7)) == 3, "values of k")


def check_turns():
    """Kinds of arguments that take turns, more of them than a kernel remembers beside its table."""
    copy._forget()
    dtypes = "float32 float64 int32 int64 int16 uint8 float16".split()
    for _ in range(3):
        for dtype in dtypes:
            x, out = X.astype(dtype), np.zeros(N, dtype)
            copy[(1,)](x, out=out, N=N)
            same(f"a copy of {dtype} in turn", out, x)
    before = len(copy._specializations)
    copy.device_caches[0][0].clear()
    out = np.zeros(N, np.float32)
    launcher = copy[(1,)]
    launcher(*(X,), **{"N": N, "out": out})
    same("a copy after the kernels were forgotten", out, X)
    tally.check((before, len(copy._specializations)) == (len(dtypes), 1), f"{before} kernels")
    calls = []
    hooked = nereid.jit(copy.fn)
    hooked.add_pre_run_hook(lambda *args, **kwargs: calls.append((len(args), sorted(kwargs))))
    hooked[(1,)](X, out, N=N)
    hooked[(1,)](*(X, out, N))
    tally.check(calls == [(2, ["N"]), (3, [])], f"arguments of hooks: {calls}")


START = """
import sys
import nereid
import nereid.language as tl
@nereid.autotune([nereid.Config({"N": 64})], key=[])
@nereid.jit
def tuned(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), 3)
@nereid.jit
def plain(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), 4)  # \u00e4
"""


def check_start():
    """Decorating loads no module that takes long, and reads files as linecache does."""
    slow = {"inspect", "re", "linecache", "tokenize", "ast", "typing"}
    ask = ("import sys; from nereid.runtime import source; import start; "
           f"slow = sorted({slow!r} & set(sys.modules)); import linecache; "
           "print(slow, start.plain._lines == linecache.getlines(start.__file__), "
           "start.plain.src.strip().endswith(chr(228)))")
    for name, data in (("plain", START.encode()), ("without an end", START.strip().encode()),
                       ("CRLF", START.replace("\n", "\r\n").encode()),
                       ("a mark", b"\xef\xbb\xbf" + START.encode()),
                       ("Latin-1", ("# coding: latin-1" + START).encode("latin-1"))):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "start.py").write_bytes(data)
            path = os.pathsep.join([folder, str(BUILD / "python")])
            done = subprocess.run([sys.executable, "-S", "-c", ask], text=True, capture_output=True,
                                  env={**os.environ, "PYTHONPATH": path})
        slow_ones = "['linecache', 're', 'tokenize']" if name in ("a mark", "Latin-1") else "[]"
        tally.check(done.stdout.strip() == f"{slow_ones} True True",
                    f"a file with {name}: {done.stdout.strip()} {done.stderr[-300:]}")


def check_kernels():
    out = np.zeros(N, np.float32)
    kernel = named[(1,)](out, 1 << 40, 1, N)
    tally.check(kernel.name == "named_i64_one_N", f"repr: {kernel.name}")
    tally.check("tl" not in kernel.asm["tile"] and "kernel @named" in kernel.asm["tile"], "tile IR")
    tally.check("void" in kernel.asm["c"] and "cubin" in kernel.asm, "stages")
    tally.check(kernel.metadata.num_warps == 4 and kernel.n_spills == 0, "metadata")
    kernel = staged.warmup(X, out, N, num_stages=2, num_warps=8, grid=(1,))
    kernel._init_handles()
    kernel[(1, 1, 1)](X, out, N, 2)
    tally.check(np.array_equal(out, X) and kernel.metadata.num_warps == 8, "a compiled kernel runs")
    for ctas in (2, 4, 16):
        out[:] = 0
        kernel = copy[(1,)](out, X, N, num_ctas=ctas)
        tally.check(np.array_equal(out, X) and kernel.metadata.num_ctas == ctas, f"num_ctas={ctas}")
    try:
        copy[(1,)](out, X, N, num_ctas=3)
        tally.check(False, "num_ctas=3")
    except nereid.NereidError as error:
        tally.check("must be one of 1 2 4 8 16, not 3" in str(error), f"num_ctas=3: {error}")
    check_refused_options(out)
    tally.check(pickle.loads(pickle.dumps(copy)) is copy, "pickling finds the function")
    tally.check(copy.arg_names == ["x", "out", "N"] and copy.constexprs == [2], "parameters")
    tally.check(copy.src.startswith("def copy("), "source")
    tally.check(copy[(0,)](X, out, N) is not None, "a grid without programs")
    seen = []
    fill[lambda meta: seen.append(dict(meta)) or (1,)](out, 3)
    tally.check(seen[0]["b"] == 7 and seen[0]["N"] == N and seen[0]["out"] is out, "a grid's names")


def check_refused_options(out):
    """Numbers of any size are refused by the same message."""
    for name, value in (("num_warps", -2**40), ("num_stages", 2**80), ("maxnreg", -2**31 - 1),
                        ("maxnreg", 2**40), ("num_ctas", 2**31)):
        try:
            copy[(1,)](out, X, N, **{name: value})
            tally.check(False, f"{name}={value}")
        except nereid.NereidError as error:
            tally.check(isinstance(error, nereid.errors.InvalidOption) and
                        f"{name} must be " in str(error) and f", not {value}" in str(error),
                        f"{name}={value}: {error}")


def check_estimates():
    """What the cost model says: the same as `nereid estimate`, and nothing runs."""
    out = np.zeros(N, np.float32)
    grids = []
    guess = copy.estimate(X, out, N, grid=lambda meta: grids.append(meta["N"]) or (64,),
                          target="sm_90a")
    tally.check(grids == [N] and guess.low_us < guess.us < guess.high_us, f"a GPU's: {guess!r}")
    tally.check(guess.device.startswith("H200") and guess.registers > 0 and guess.waves > 0,
                f"a GPU's: {guess!r}")
    more = copy.estimate(X, out, N, grid=(1 << 20,), target="sm_90a")
    tally.check(more.us > 10 * guess.us, f"more programs: {more}, {guess}")
    here = copy.estimate(X, out, N, grid=(64,))
    tally.check("core" in here.device and here.us > 0 and f"on {here.device}" in str(here),
                f"here: {here}")
    tally.check(not out.any(), "estimate() ran the kernel")
    try:
        copy.estimate(X, out, N, grid=(1,), target="sm_12")
        tally.check(False, "an unknown target")
    except nereid.NereidError as error:
        tally.check("unknown target" in str(error), f"an unknown target: {error}")


def check_gpus():
    class Array:
        __cuda_array_interface__ = {"data": (256, False), "typestr": "<f4", "shape": (4,)}

    class OfSecond(Array):
        def __dlpack_device__(self):
            return 2, 1

    found = [arguments.describe(a)[2] for a in (Array(), OfSecond())]
    tally.check(found == [(2, 0), (2, 1)], f"the GPU of an array of another library: {found}")


def check_threads():
    wrong = []

    def work(warps):
        for _ in range(50):
            if not np.array_equal(result(copy, X, ..., N, num_warps=warps), X):
                wrong.append(warps)

    threads = [threading.Thread(target=work, args=(1 << i % 3,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tally.check(not wrong, f"6 threads: {wrong[:3]}")


def check_torch():
    try:
        import torch
    except ImportError:
        print("skipped: no torch")
        return
    x = torch.arange(N, dtype=torch.float32).reshape(4, 16)
    for dtype in (torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.float8_e5m2):
        out = torch.zeros(N, dtype=dtype)
        copy[(1,)](x.to(dtype), out, N)
        tally.check(torch.equal(out.float(), x.to(dtype).float().flatten()), f"tensors of {dtype}")
    out = torch.zeros(N)
    pair[(1,)](Pair(x, x.shape), out, N)
    tally.check(torch.equal(out, x.flatten() + 16), "torch.Size")
    copy[(1,)](torch.nn.Parameter(x), out, N)
    tally.check(torch.equal(out, x.flatten()), "a parameter of a module")
    wrapped = nereid.reinterpret(x.view(torch.int32), tl.float32)
    copy[(1,)](wrapped, nereid.reinterpret(out.view(torch.int32).zero_(), tl.float32), N)
    tally.check(torch.equal(out, x.flatten()), "a tensor read as another dtype")


for check in (check_numbers, check_arrays, check_tuples, check_constants, check_descriptors,
              check_helpers, check_specialization, check_turns, check_start, check_kernels,
              check_estimates, check_gpus, check_threads, check_torch):
    check()
sys.exit(tally.report())
