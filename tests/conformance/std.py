#!/usr/bin/env python3
"""The standard library (lang/std) against wider arithmetic, in two ways: under std/emulator.py,
which runs its functions as Python, and through the compiler on devices.

    std.py [--devices interp,nest,cpu] [--no-emulator] [-n POINTS] [NAME...]

NAMEs select functions.  Without --devices a few of them run on cpu too, where the C compiler takes
a second for each.  Bounds and references are in std/functions.py and std/exact.py.
"""
# tests/run: users' compiler
import argparse, concurrent.futures, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

sys.path.insert(0, str(ROOT / "tests/conformance/std"))
import emulator, exact, functions  # noqa: E402
from emulator import Tile  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
F32, F64 = np.float32, np.float64
SHORT = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint32": "u32",
         "uint64": "u64", "bool": "i32"}


# ---- two ways to run libdevice.NAME on columns of operands ----


@np.errstate(all="ignore")
def emulate(module, name, columns):
    r = emulator.function(module, name)(*[Tile(c) for c in columns])
    return r.a.astype(np.int32) if r.a.dtype == np.bool_ else r.a


KERNEL = """import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def kernel({pointers}, out_ptr, TYPE: tl.constexpr):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    tl.store(out_ptr + i, {module}.{name}({loads}).to(TYPE))
"""


def compiled(device):
    def run(module, name, columns):
        like = emulate(module, name, [c[:1] for c in columns])  # its dtype
        names = [f"x{k}_ptr" for k in range(len(columns))]
        text = KERNEL.format(pointers=", ".join(names), name=name,
                             module="tl" if module == "math" else module,
                             loads=", ".join(f"tl.load({p} + i)" for p in names))
        n, dtype = len(columns[0]), SHORT[str(like.dtype)]
        grid = (n + 31) // 32
        with tempfile.TemporaryDirectory() as tmp:
            pathlib.Path(tmp, "k.py").write_text(text)
            command = [
                NEREID, "run", f"{tmp}/k.py", "--grid", f"{grid}", "--device", device, "-D",
                f"TYPE=tl.{like.dtype}", f"out_ptr=empty:{dtype}[{grid * 32}]", "--out",
                f"out_ptr={tmp}/out.npy"
            ]
            for p, c in zip(names, columns):
                np.save(f"{tmp}/{p}.npy", np.pad(c, (0, grid * 32 - n), mode="edge"))
                command.append(f"{p}=@{tmp}/{p}.npy")
            done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode:
                raise RuntimeError(f"status {done.returncode}\n{done.stderr[:2000]}")
            return np.load(f"{tmp}/out.npy")[:n]
    return run


# ---- accuracy ----


def accuracy(run, where, name, dtype, n, reference):
    ref, operands, bound32, bound64, _ = functions.FUNCTIONS[name]
    bound = bound32 if dtype == F32 else bound64 + (not functions.WIDE)
    if ref is None:
        columns, want = reference[name]
        with np.errstate(over="ignore"):
            fits = np.isnan(columns[-1]) | (columns[-1].astype(dtype) == columns[-1])
        columns, want = [c[fits].astype(dtype) for c in columns], want[fits]
        if len(columns) == 2: columns[0] = columns[0].astype(np.int32)
    else:
        rng = np.random.default_rng(1)
        columns = functions.points(name, dtype, rng, n)
        with np.errstate(all="ignore"): want = ref(*[c.astype(functions.LD) for c in columns])
    got = run("libdevice", name, columns)
    floor = 0
    if name in functions.BESSEL:
        with np.errstate(all="ignore"):
            floor = np.where(np.isfinite(want), 1 / np.sqrt(1 + np.abs(columns[-1].astype(F64))), 0)
    errors = functions.ulps(got, want, floor)
    i = int(np.argmax(errors))
    at = ", ".join(repr(c[i].item()) for c in columns)
    check(errors[i] <= bound,
          f"{where} {name} {SHORT[str(got.dtype)]}: {errors[i]:.3f} ulp at ({at}), "
          f"the bound is {bound}: got {got[i]!r}, want {want[i]!r}")
    return errors[i]


def fast(run, where, name, dtype, n, reference):
    ref, ranges, relative, absolute = functions.FAST[name]
    rng = np.random.default_rng(4)
    operands = 2 if name in ("fast_powf", "fast_dividef") else 1
    columns = [rng.uniform(*ranges[k], n).astype(F32) for k in range(operands)]
    got = run("libdevice", name, columns).astype(F64)
    want = ref(*[c.astype(functions.LD) for c in columns])
    errors = np.abs(got - want) / (absolute + relative * np.abs(want))
    i = int(np.argmax(errors))
    at = ", ".join(repr(c[i].item()) for c in columns)
    check(errors[i] <= 1, f"{where} {name}({at}) is {got[i]!r}, not {want[i]!r}")
    return errors[i]


def accuracy_jobs(runs, selected, n):
    reference = functions.read_reference()
    for name in functions.FUNCTIONS:
        if selected and name not in selected: continue
        for dtype in (F32, F64):
            for where, run in runs: yield accuracy, run, where, name, dtype, n, reference
    for name in functions.FAST:
        if selected and name not in selected: continue
        for where, run in runs: yield fast, run, where, name, F32, n, reference


# ---- exact results ----


def same(got, want):
    if got.dtype.kind == "f":
        want = want.astype(got.dtype)
        return (np.isnan(got) & np.isnan(want)) | ((got == want) &
                                                   (np.signbit(got) == np.signbit(want)))
    bits = got.dtype.itemsize * 8
    return np.array([(int(g) - int(w)) % 2**bits == 0 for g, w in zip(got, want)])


def exactly(run, where, name, columns, f):
    got = run("libdevice", name, columns)
    rows = [[v.item() for v in row] for row in zip(*columns)]
    want = np.array([f(*row) for row in rows], dtype=object)
    ok = same(got, want.astype(F64) if got.dtype.kind == "f" else want)
    i = int(np.argmin(ok))
    check(ok.all(),
          f"{where} {name}{tuple(rows[i])} is {got[i]!r}, not {want[i]!r}; {np.sum(~ok)} such")


def exact_cases(n):
    """(name, operands, exact function)"""
    rng = np.random.default_rng(2)
    for dtype in (F32, F64):
        pairs, triples = exact.pairs(rng, dtype, n), exact.triples(rng, dtype, n)
        one = pairs[:1]
        for m in exact.MODES:
            bind = lambda f, m=m, dtype=dtype: lambda *v: f(*v, dtype, m)  # noqa: E731
            for op in ("add", "sub", "mul", "div"):
                yield f"{op}_r{m}", pairs, bind(getattr(exact, op))
            for op in ("rcp", "sqrt"): yield f"{op}_r{m}", one, bind(getattr(exact, op))
            yield f"fma_r{m}", triples, bind(exact.fma)
        yield "fma", triples, lambda *v, dtype=dtype: exact.fma(*v, dtype, "n")
        bind = lambda f, dtype=dtype: lambda *v: f(*v, dtype)  # noqa: E731
        for op in ("fmod", "remainder", "nextafter", "copysign", "fdim"):
            yield op, pairs, bind(getattr(exact, op))
        for op in ("logb", "ilogb", "trunc", "floor", "ceil", "rint"):
            yield op, one, bind(getattr(exact, op))
        yield "nearbyint", one, bind(exact.rint)
        yield "round", one, bind(exact.round_away)
        shifts = rng.integers(-400, 400, len(one[0])).astype(np.int32)
        shifts[::7] *= 5
        yield "ldexp", (one[0], shifts), bind(exact.ldexp)
        yield "scalbn", (one[0], shifts), bind(exact.ldexp)
        yield "isnan", one, lambda x: x != x
        yield "isinf", one, lambda x: abs(x) == np.inf
        yield "signbit", one, lambda x: int(np.signbit(x))
        yield "finitef" if dtype == F32 else "isfinited", one, lambda x: bool(np.isfinite(x))
        yield from conversions(rng, dtype, one[0], n)
    yield "saturatef", one32(rng, n), lambda x: min(x, 1.0) if x > 0 else 0.0
    yield "rsqrt_rn", one32(rng, n), exact.rsqrt32
    yield "rcp64h", (exact.high_words(rng, n), ), exact.rcp64h
    yield from integers(rng, n)


def one32(rng, n):
    return exact.pairs(rng, F32, n)[:1]


def conversions(rng, dtype, some, n):
    source = {F32: "float", F64: "double"}[dtype]
    x = np.concatenate([
        some, (rng.normal(size=n) * 2.0**31).astype(dtype),
        (rng.normal(size=n) * 2.0**62).astype(dtype), (rng.integers(-9, 9, n) / 2).astype(dtype)
    ])
    for m in exact.MODES:
        for name, bits, signed in (("int", 32, 1), ("uint", 32, 0), ("ll", 64, 1), ("ull", 64, 0)):
            yield f"{source}2{name}_r{m}", (
                x, ), lambda v, b=bits, s=signed, m=m: exact.to_int(v, b, s, m)
        if m == "n": yield "llrint", (x, ), lambda v: exact.to_int(v, 64, 1, "n")
        if dtype == F64:
            wide = np.concatenate([x, rng.normal(size=n) * 1e38, rng.normal(size=n) * 1e-40])
            yield f"double2float_r{m}", (wide,), lambda v, m=m: exact.narrow(v, m)
    yield "llround", (x, ), exact.llround
    for name, i in (("int", np.int32), ("uint", np.uint32), ("ll", np.int64), ("ull", np.uint64)):
        v = rng.integers(0, 2**64, n, dtype=np.uint64)
        v = np.concatenate([v, v >> rng.integers(0, 64, n).astype(np.uint64)]).astype(i)
        ends = np.array([0, 1, np.iinfo(i).min, np.iinfo(i).max, 2**24 + 1, 2**25 + 3], dtype=i)
        v = np.concatenate([v, ends])
        for m in exact.MODES:
            if i in (np.int32, np.uint32) and dtype == F64 and m != "n": continue
            yield (f"{name}2{source}_r{m}", (v, ),
                   lambda k, m=m: exact.round_to(exact.Q(k), dtype, m))


def integers(rng, n):
    for i, bits in ((np.int32, 32), (np.int64, 64)):
        v = rng.integers(0, 2**64, n, dtype=np.uint64)
        x = np.concatenate([(v >> rng.integers(0, 64, n).astype(np.uint64)).astype(i),
                            np.array([0, 1, -1], i),
                            np.array([np.iinfo(i).min, np.iinfo(i).max], i)])
        y = rng.permutation(x)
        z = np.abs(rng.permutation(x) >> 1)
        mask = 2**bits - 1
        yield "clz", (x,), lambda a, b=bits, m=mask: b - (a & m).bit_length()
        yield "popc", (x,), lambda a, m=mask: bin(a & m).count("1")
        yield "ffs", (x,), lambda a: (a & -a).bit_length()
        yield "brev", (x,), lambda a, b=bits, m=mask: int(f"{a & m:0{b}b}"[::-1], 2)
        yield "mulhi", (x, y), lambda a, b, n=bits: a * b >> n
        yield "hadd", (x, y), lambda a, b: (a + b) >> 1
        yield "rhadd", (x, y), lambda a, b: (a + b + 1) >> 1
        yield "sad", (x, y, z), lambda a, b, c: abs(a - b) + c
        yield "abs", (x,), abs
    x, y, s = (rng.integers(-2**31, 2**31, n).astype(np.int32) for _ in range(3))
    u, v = x.view(np.uint32), y.view(np.uint32)
    yield "mul24", (x, y), lambda a, b: ((a + 2**23) % 2**24 - 2**23) * (
        (b + 2**23) % 2**24 - 2**23)
    yield "mulhi", (u, v), lambda a, b: a * b >> 32
    yield "hadd", (u, v), lambda a, b: (a + b) >> 1
    yield "rhadd", (u, v), lambda a, b: (a + b + 1) >> 1

    def byte_perm(a, b, c):
        source = (b % 2**32) << 32 | a % 2**32
        return sum((source >> 8 * (c >> 4 * k & 7) & 255) << 8 * k for k in range(4))
    yield "byte_perm", (x, y, s), byte_perm
    f, d = x.view(F32), np.frombuffer(rng.bytes(8 * n), F64)
    halves = np.concatenate([x, y])[:n * 2].reshape(2, n)
    yield "int_as_float", (x,), lambda a: float(np.int32(a).view(F32))
    yield "uint_as_float", (u,), lambda a: float(np.uint32(a).view(F32))
    yield "float_as_int", (f,), lambda a: int(F32(a).view(np.int32)) if a == a else None
    yield "float_as_uint", (f, ), lambda a: int(F32(a).view(np.int32)) if a == a else None
    yield "double_as_longlong", (d,), lambda a: int(F64(a).view(np.int64))
    yield "longlong_as_double", (d.view(np.int64),), lambda a: float(np.int64(a).view(F64))
    yield "double2loint", (d,), lambda a: int(F64(a).view(np.int64)) & 2**32 - 1
    yield "double2hiint", (d,), lambda a: int(F64(a).view(np.int64)) >> 32
    yield "hiloint2double", tuple(
        halves), lambda h, l: float(np.int64((h << 32) + l % 2**32).view(F64))


def exact_jobs(runs, selected, n):
    for name, columns, f in exact_cases(n):
        if selected and name not in selected: continue
        if name in ("float_as_int", "float_as_uint"):
            keep = ~np.isnan(columns[0])
            columns = [c[keep] for c in columns]
        for where, run in runs: yield exactly, run, where, name, columns, f


# ---- random numbers, sorting ----

# Known answers of Random123's Philox-4x32-10: counter, key, result.
PHILOX = (((0,) * 4, (0,) * 2, (0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8)),
          ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd)),
          ((0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344), (0xa4093822, 0x299f31d0),
           (0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1)))


def philox(counter, key, rounds, bits):
    """Philox-4x32 or 4x64 on Python's integers."""
    ka, kb, ra, rb = ((0x9E3779B9, 0xBB67AE85, 0xD2511F53, 0xCD9E8D57) if bits == 32 else
                      (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B, 0xD2E7470EE14C6C93,
                       0xCA5A826395121157))
    c, (k0, k1), m = list(counter), key, 2**bits - 1
    for _ in range(rounds):
        p, q = ra * c[0], rb * c[2]
        c = [q >> bits ^ c[1] ^ k0, q & m, p >> bits ^ c[3] ^ k1, p & m]
        k0, k1 = k0 + ka & m, k1 + kb & m
    return c


@np.errstate(all="ignore")  # Unsigned numbers wrap.
def random_numbers():
    """Triton's streams by the definition of Philox: the key is the seed, the counter the offset."""
    for c, k, want in PHILOX:
        check(tuple(philox(c, k, 10, 32)) == want, "Philox in std.py")
        got = emulator.std("random").philox_impl(*[Tile(np.uint32(v)) for v in c + k])
        check(tuple(int(g.a) for g in got) == want, f"philox_impl{c + k}")
    tl = emulator.tl
    for seed in (0, 42, -7, 2**40 + 3):
        key = (seed % 2**32, seed % 2**64 >> 32)
        for offset in (np.arange(-3, 9, dtype=np.int32), np.int64([0, 5, 2**33 + 1, -1])):
            wide = offset.dtype == np.int64
            counters = [(int(o) % 2**32, int(o) % 2**64 >> 32 if wide else 0, 0, 0) for o in offset]
            want = np.array([philox(c, key, 10, 32) for c in counters], dtype=np.uint32).T
            s = Tile(np.int64(seed)) if abs(seed) > 2**31 else Tile(np.int32(seed))
            got = tl.randint4x(s, Tile(offset))
            check(all((g.a == w).all() for g, w in zip(got, want, strict=True)),
                  f"randint4x({seed}, {offset.dtype})")
            i = want[0].view(np.int32)
            uniform = np.where(i < 0, -1 - i, i).astype(F32) * F32(4.6566127342e-10)
            u = tl.rand(s, Tile(offset)).a
            check((u == uniform).all() and u.dtype == F32, f"rand({seed}, {offset.dtype})")
            n = tl.randn(s, Tile(offset)).a
            j = want[1].view(np.int32)
            v = np.where(j < 0, -1 - j, j).astype(F32) * F32(4.6566127342e-10)
            radius = np.sqrt(-2 * np.log(np.maximum(uniform, F32(1e-7)).astype(F64)))
            normal = radius * np.cos(2 * np.pi * v.astype(F64))
            check(np.abs(n - normal).max() < 2e-6, f"randn({seed}, {offset.dtype})")
    x = [np.uint64([3, 2**63]), np.uint64([1, 5])]
    got = emulator.std("random").philox(Tile(np.int32(9)), Tile(x[0]), *[Tile(x[1])] * 3)
    want = np.array([philox((int(a), int(b), int(b), int(b)), (9, 0), 10, 64) for a, b in zip(*x)],
                    dtype=np.uint64).T
    check(all((g.a == w).all() for g, w in zip(got, want, strict=True)),
          "philox of 64 bits")


def sorting():
    std, rng = emulator.std("standard"), np.random.default_rng(3)
    for shape, dim in (((16, ), None), ((4, 8), 1), ((4, 8), 0), ((2, 8, 3), 1), ((5, ), None),
                       ((3, 7), 1), ((6, 4), 0), ((1, ), 0), ((256, ), -1)):
        for dtype in (F32, F64, np.int32, np.int16):
            x = (rng.normal(size=shape) * 50).astype(dtype)
            axis = -1 if dim is None else dim
            up = np.sort(x, axis)
            where = f"of {shape} along {dim}, {np.dtype(dtype)}"
            check((std.sort(Tile(x), dim).a == up).all(), f"sort {where}")
            down = np.flip(up, axis)
            check((std.sort(Tile(x), dim, True).a == down).all(), f"sort descending {where}")
            for k in range(1, min(x.shape[axis], 8) + 1):
                check((std.topk(Tile(x), k, dim).a == np.take(down, range(k), axis)).all(),
                      f"topk {k} {where}")
            check((std.flip(Tile(x), dim).a == np.flip(x, axis)).all(), f"flip {where}")
    for shape in (64, 16), (32, 32), (2, 512), (1024, ), (1, 2, 1024), (4096, ):  # in registers
        for dtype in (np.int16, np.uint32, np.int64):
            info = np.iinfo(dtype)
            x = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
            up = np.sort(x, -1)
            check((std.sort(Tile(x)).a == up).all(), f"sort of {shape}, {np.dtype(dtype)}")
            check((std.sort(Tile(x), descending=True).a == np.flip(up, -1)).all(),
                  f"sort descending of {shape}, {np.dtype(dtype)}")
    x = np.concatenate([np.arange(5), np.arange(3)[::-1]]).astype(F32)
    check((std.bitonic_merge(Tile(x)).a == np.sort(x)).all(), "bitonic_merge")
    i, j = np.meshgrid(np.arange(5), np.arange(4), indexing="ij")
    a, b = std.swizzle2d(Tile(i.astype(np.int32)), Tile(j.astype(np.int32)), 5, 4, 2)
    where = [[(a.a == r) & (b.a == c) for c in range(4)] for r in range(5)]
    want = [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15], [16, 17, 18, 19]]
    check(all((i * 4 + j)[where[r][c]] == want[r][c] for r in range(5) for c in range(4)),
          "swizzle2d")


ON_CPU = ("exp", "log2", "sin", "pow", "erf", "erfinv", "div_ru", "fma_rd", "fmod", "popc",
          "float2ll_rz", "fast_tanhf")


def device_jobs(devices, names, n):
    runs = [(d, compiled(d)) for d in devices]
    return [*accuracy_jobs(runs, names, n or 100), *exact_jobs(runs, names, n or 20)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices")
    parser.add_argument("--no-emulator", action="store_true")
    parser.add_argument("-n", type=int, default=0, help="random points of each kind")
    parser.add_argument("-v", action="store_true", help="print the largest errors")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if not options.no_emulator:
        emulator.noise = True
        here = [("emulator", emulate)]
        for job, *args in accuracy_jobs(here, options.names, options.n or 1000):
            worst = job(*args)
            if options.v: print(f"{args[2]:14} {np.dtype(args[3]).name}  {worst:.3f}", flush=True)
        emulator.noise = False
        for job, *args in exact_jobs(here, options.names, options.n or 60): job(*args)
        if not options.names:
            random_numbers()
            sorting()
    if options.devices is None:
        jobs = device_jobs(["interp", "nest"], options.names, options.n)
        jobs += device_jobs(["cpu"], options.names or ON_CPU, options.n)
    else:
        jobs = device_jobs(filter(None, options.devices.split(",")), options.names, options.n)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (job, *args), future in [(j, pool.submit(j[0], *j[1:])) for j in jobs]:
            try: future.result()
            except (RuntimeError, OSError, ValueError) as problem:
                check(False, f"{args[1]} {args[2]}: {problem}")
    return report()


if __name__ == "__main__":
    sys.exit(main())
