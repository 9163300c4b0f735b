#!/usr/bin/env python3
"""Calls of kernels with arguments that lie, change, raise, nest or are no arguments at all: each is
an exception or a launch, no crash, and nothing leaks.

    calls_fuzz.py [COUNT [SEED]]
"""
import collections, contextlib, gc, io, os, pathlib, random, resource, sys, threading, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
PACKAGE = os.environ.get("NEREID_PACKAGE", str(BUILD / "python"))
sys.dont_write_bytecode = True
sys.path[:0] = [PACKAGE, str(ROOT / "tests" / "support")]
import nereid
import nereid.language as tl
import nereid.tools.tensor_descriptor
import numpy as np
import tally

Pair = collections.namedtuple("Pair", "first second")


@nereid.jit
def nothing(a, b, c, n=3, D: tl.constexpr = 4):
    pass


@nereid.jit(do_not_specialize=["a"], interpret=True)
def nothing_typed(a, b: tl.float32, c: "i16", n=3, D: tl.constexpr = 4):
    pass


class Rare(Exception):
    """An exception of an argument's own."""


class Weird:
    """Raises, or gives something odd, wherever it is asked something."""

    def __init__(self, draw):
        self.__dict__["draw"] = draw

    def __getattr__(self, name):
        draw = self.__dict__["draw"]
        if draw.random() < 0.5:
            raise draw.choice((AttributeError, Rare))(name)
        return junk(draw, 2)


def method(name):
    def call(self, *args, **kwargs):
        draw = self.__dict__["draw"]
        if draw.random() < 0.3:
            raise draw.choice((Rare, TypeError, ValueError, OverflowError))(name)
        return junk(draw, 2)

    return call


def weird(draw):
    """An object of a class of its own with some of the methods that calls use."""
    names = ("__index__", "__float__", "__bool__", "__len__", "__hash__", "__eq__", "__int__",
             "data_ptr", "__dlpack__", "stride", "is_pinned", "__iter__", "__getitem__",
             "__call__", "__repr__", "__str__")
    space = {n: method(n) for n in names if draw.random() < 0.3}
    for name in ("__cuda_array_interface__", "__array_interface__"):
        if draw.random() < 0.2:
            space[name] = interface(draw)
    for name in ("dtype", "shape", "device", "block_shape", "base", "strides", "padding", "value",
                 "__name__", "_nereid_described"):
        if draw.random() < 0.2:
            space[name] = junk(draw, 2)
    with contextlib.suppress(TypeError):
        return type("W", (draw.choice((Weird, Weird, int, float, str, tuple)),), space)(
            draw if draw.random() < 2 else 0)
    return Weird(draw)


def interface(draw):
    good = {"data": (64, False), "typestr": "<f4", "shape": (4,), "version": 3, "strides": None}
    for name in list(good):
        if draw.random() < 0.3:
            good[name] = junk(draw, 2)
        elif draw.random() < 0.1:
            del good[name]
    return good


def descriptor(draw):
    kind = nereid.tools.tensor_descriptor.TensorDescriptor
    d = object.__new__(kind)
    for name in ("base", "shape", "strides", "block_shape", "padding"):
        if draw.random() < 0.9:
            value = junk(draw, 2) if draw.random() < 0.3 else {
                "base": ARRAY, "shape": [4, 4], "strides": [4, 1], "block_shape": [4, 4],
                "padding": "zero"}[name]
            with contextlib.suppress(Exception):
                object.__setattr__(d, name, value)
    return d


class Growing(list):
    """A list that is longer each time."""

    def __len__(self):
        self.append(1)
        return super().__len__()


ARRAY = np.zeros((4, 4), np.float32)
PLAIN = (0, 1, 16, -1, 1 << 31, -(1 << 63), 1 << 63, 1 << 64, 1 << 200, 0.0, -0.0, 1.5,
         float("nan"), float("inf"), None, True, False, "", "text", b"bytes", "a\0b", "\ud800", ...,
         NotImplemented, (), [], {}, set(), object, int, print, np, np.float32, np.int64(3),
         np.float32(2), np.bool_(True), ARRAY, ARRAY.T, ARRAY[:, ::2], ARRAY[::-1], ARRAY[:0],
         np.zeros((), np.int8), np.zeros(3, complex), np.zeros(2, object), tl.float32, tl.load,
         range(3), 1j, memoryview(b"abc"), Exception("e"), nothing, Pair(1, 2))


def junk(draw, depth=0):
    kind = draw.random()
    if depth > 4 or kind < 0.5:
        return draw.choice(PLAIN)
    if kind < 0.6:
        return tuple(junk(draw, depth + 1) for _ in range(draw.randrange(4)))
    if kind < 0.64:
        return Pair(junk(draw, depth + 1), junk(draw, depth + 1))
    if kind < 0.7:
        return tl.constexpr(draw.choice(PLAIN))
    if kind < 0.75:
        return descriptor(draw)
    if kind < 0.78:
        return Growing([1, 2])
    if kind < 0.8:
        return draw.getrandbits(draw.randrange(1, 90))
    if kind < 0.82:
        value = ()
        for _ in range(draw.choice((10, 900))):
            value = (value,)
        return value
    return weird(draw)


def grid(draw, kernel):
    def function(meta):
        kind = draw.randrange(6)
        if kind == 0:
            meta.clear()
        elif kind == 1:
            kernel._forget()
        elif kind == 2:
            gc.collect(0)
        elif kind == 3:
            kernel[(1,)](1, 2, 3)
        elif kind == 4:
            raise Rare("grid")
        return (1,) if draw.random() < 0.7 else junk(draw)

    return draw.choice(((1,), (1,), 1, (0,), [1, 1], function, function, junk(draw)))


def call(draw, kernel):
    args = [junk(draw) for _ in range(draw.choice((3, 3, 3, 3, 4, 0, 1, 7)))]
    kwargs = {}
    for name in ("a", "c", "n", "D", "num_warps", "num_stages", "other", "launch_pdl"):
        if draw.random() < 0.08:
            kwargs[name] = junk(draw)
    if draw.random() < 0.05:
        return kernel.warmup(*args, **kwargs)
    return kernel[grid(draw, kernel)](*args, **kwargs)


def fuzz(count, seed):
    outcomes = collections.Counter()
    for i in range(count):
        draw = random.Random(f"{seed} {i}")
        try:
            call(draw, draw.choice((nothing, nothing, nothing_typed)))
            outcomes["ran"] += 1
        except SystemError as error:
            tally.check(False, f"call {i} of seed {seed}: {error!r}")
        except Exception as error:
            outcomes[type(error).__name__] += 1
    tally.check(outcomes["ran"] > count // 100 and len(outcomes) > 6, f"outcomes: {outcomes}")
    return outcomes


def check_threads(count, seed):
    """Calls of threads that nobody waits for meet calls of this one."""
    stop = threading.Event()
    failures = []

    def work(k):
        i = 0
        while not stop.is_set() and i < count:
            i += 1
            try:
                call(random.Random(f"{seed} {k} {i}"), nothing)
            except SystemError as error:
                failures.append(error)
            except Exception:
                pass

    threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(3)]
    for t in threads:
        t.start()
    for _ in range(20):
        gc.collect()
        with contextlib.suppress(Exception):
            nothing._forget()
            nothing[(1,)](1, 2, 3)
    stop.set()
    for t in threads:
        t.join(60)
    tally.check(not failures, f"threads: {failures}")


def memory():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def check_leaks(count):
    """Calls that run, and calls that fail, keep neither memory nor references."""
    big, text, pair = 1 << 40, "constant text", (ARRAY, Pair(3, 4.5))
    kept = (ARRAY, big, text, pair, nothing, nothing.fn)

    def launches(n):
        for _ in range(n):
            nothing[(1,)](ARRAY, big, pair, n=ARRAY, D=text)
            nothing[lambda meta: (1,)](ARRAY, b=big, c=None)

    def failures(n):
        for _ in range(n):
            for args in ((1, 2), (1, 2, np.zeros(2, complex)), (1, 2, 3, 4, 5, 6), ([], 1, 2)):
                with contextlib.suppress(Exception):
                    nothing[(1,)](*args)
            with contextlib.suppress(Exception):
                nothing[(1.5,)](1, 2, 3)

    for name, work, n in (("launches", launches, count), ("failures", failures, count // 5)):
        work(500)
        gc.collect()
        refs, before = [sys.getrefcount(o) for o in kept], memory()
        work(n)
        gc.collect()
        after = [sys.getrefcount(o) for o in kept]
        tally.check(after == refs, f"{name}: references {refs} became {after}")
        grown = memory() - before
        tally.check(grown < 4 << 20, f"{name}: {n} of them took {grown} bytes")
    gc.collect()
    kernels = len(gc.get_objects())
    for _ in range(200):
        kernel = nereid.jit(nothing.fn)
        kernel[(1,)](1, 2, 3)
        kernel.cycle = kernel
        keeper = Pair([], None)
        keeper.first.append(kernel[lambda meta, keeper=keeper: keeper.first])
        del kernel, keeper
    gc.collect()
    tally.check(len(gc.get_objects()) < kernels + 500, "kernels that are no more used are freed")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    seed = sys.argv[2] if len(sys.argv) > 2 else "0"
    warnings.simplefilter("ignore")  # of NumPy, about what it is asked
    with contextlib.redirect_stdout(io.StringIO()):  # a grid may be the function `print`
        found = fuzz(count, seed)
    if len(sys.argv) > 1:
        print(dict(found))
    check_threads(count // 5, seed)
    check_leaks(20 * count)
    sys.exit(tally.report())
