#!/usr/bin/env python3
"""Functions of Python as sources of kernels: their texts, wherever these are from, and what the
names in them mean."""
import collections, contextlib, doctest, enum, functools, importlib, linecache, math, os
import pathlib, sys, tempfile, types, typing, zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import nereid as nr
import nereid.language as tl
from nereid import _nereid
from nereid.language import constexpr as fixed
from nereid.language import float16 as half
from nereid.language import load as ld
from nereid.runtime import source
from nereid.runtime.source import CLASS, HOST, JIT, OTHER, SCOPE, VALUE, Names, source_of
import tally

try:
    import numpy
except ImportError:
    numpy = None


def check(what, ok, found=None):
    tally.check(ok, what if found is None else f"{what}: {found}")


def same(what, found, expected):
    check(what, found == expected, f"{found!r}, expected {expected!r}")


def raises(what, kinds, run, words=""):
    """Checks that `run` raises one of the exceptions, with these words."""
    try:
        check(what, False, f"gave {run()}")
    except kinds as error:
        check(what, words in str(error), error)


def emit(kernel, **constants):
    """The kernel's tile IR, with a pointer x and these constants, and its Names."""
    name = source.function_of(kernel).__code__.co_name
    names = Names(kernel)
    args = [("x", "*fp32", None)]
    args += [(name, None, names.bind(name, value)) for name, value in constants.items()]
    request = ((*source_of(kernel), kernel), name, args)
    return _nereid.emit(*request, kind=_nereid.KIND_tile, lookup=names.lookup), names


def accept(kernel, **constants):
    """The kernel, whose asserts are about what it finds, compiles; gives the names it read."""
    try:
        _, names = emit(kernel, **constants)
        check(kernel.__name__, True)
        return sorted(name for *_, name in names.used)
    except Exception as error:
        check(kernel.__name__, False, f"{type(error).__name__}: {error}")


def refuse(kernel, words, **constants):
    raises(kernel.__name__, nereid.CompilationError, lambda: emit(kernel, **constants), words)


# ---- texts ----


def plain(x): pass


def decorator(*args, **kwargs):
    return (lambda fn: fn) if not args or not callable(args[0]) else args[0]


@decorator
@decorator(
    # def comment(x):
    text="""
def string(x):
""",
    other=lambda x: (x,
1),
)
def decorated(x, y="""(
""",
    z={1: [2,
3]}):

    # a comment
    """A text
with less indentation."""
    if x:
        return "def f(:"  # (
    return '''
)
''' \
        + "'"

# after it


class Holder:
    class Inner:
        @staticmethod
        @decorator
        def method(x):
            y = (x +
  1)
            return y
        after = 1


async def waits(x):
    pass
last = lambda x: x


def test_texts():
    path = plain.__code__.co_filename
    same("one line", source_of(plain), (path, "def plain(x): pass\n", line_of("def plain"), 0))
    where, text, line, column = source_of(decorated)
    same("line", (where, line, column), (path, line_of("def decorated"), 0))
    check("begin", text.startswith('def decorated(x, y="""(\n'), text)
    check("end", text.endswith("''' \\\n        + \"'\"\n"), text)
    _, text, line, column = source_of(Holder.Inner.method)
    same("method", (text, line, column), ("def method(x):\n    y = (x +\n1)\n    return y\n",
                                         line_of("def method"), 8))
    tabs = run_text("if True:\n\tdef tabs(x):\n\t\treturn x\n\n\tother = 1\n", "<tabs>")["tabs"]
    same("tabs", source_of(tabs), ("<tabs>", "def tabs(x):\n\treturn x\n", 2, 1))
    same("async", source_of(waits)[1], "async def waits(x):\n    pass\n")
    same("class", source_of(Holder)[2:], (line_of("class Holder"), 0))
    check("its end", source_of(Holder)[1].endswith("        after = 1\n"), source_of(Holder)[1])
    same("a jit function", source_of(nereid.jit(plain)), source_of(plain))
    raises("lambda", OSError, lambda: source_of(last), "lambda")


def line_of(text):
    lines = pathlib.Path(__file__).read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.strip().startswith(text))


def run_text(text, name, keep=True):
    """The names that exec() of a text makes; `keep`: as notebooks do, the text is kept."""
    if keep:
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"__name__": "__main__", "nereid": nereid, "tl": tl}
    exec(compile(text, name, "exec"), names)
    return names


def test_without_files():
    text = "N = 3\n\n@nereid.jit\ndef kernel(x):\n    tl.store(x, N)\n    tl.store(x, M)\n"
    made = run_text(text, "<cell 1>")["kernel"]
    same("a cell", source_of(made)[::2], ("<cell 1>", 4))
    refuse(made, "<cell 1>:6:17: error: 'M' is not defined\n        tl.store(x, M)\n")
    raises("no text", OSError, lambda: source_of(run_text(text, "<none>", False)["kernel"]),
           "the source of `kernel` can't be found: <none> is no file")
    raises("remedy", OSError, lambda: source_of(run_text(text, "<none>", False)["kernel"]),
           "linecache.cache[name] = (len(text), None, text.splitlines(True), name)")
    moved = run_text(text, "<cell 2>", False)
    linecache.cache["<cell 2>"] = (5, None, ["N = 3\n"] * 9, "<cell 2>")
    raises("another text", OSError, lambda: source_of(moved["kernel"]), "not where Python says")


def test_changed_files():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "changing_module.py")
        head = "import nereid\nimport nereid.language as tl\n"
        text = "@nereid.jit\ndef kernel(x):\n    tl.store(x, {})\n"
        path.write_text(head + text.format(1))
        sys.path.insert(0, folder)
        module = importlib.import_module("changing_module")
        first = module.kernel
        path.write_text(head + "\n\n" + text.format(22222))
        importlib.invalidate_caches()
        linecache.checkcache(str(path))
        same("the text that was imported", source_of(first)[1:3],
             ("def kernel(x):\n    tl.store(x, 1)\n", 4))
        second = importlib.reload(module).kernel
        same("the text after a reload", source_of(second)[1:3],
             ("def kernel(x):\n    tl.store(x, 22222)\n", 6))
        sys.path.remove(folder)


def test_elsewhere():
    text = "import nereid\nimport nereid.language as tl\n\n@nereid.jit\ndef kernel(x):\n    pass\n"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "archive.zip")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("zipped_module.py", text)
        sys.path.insert(0, path)
        kernel = importlib.import_module("zipped_module").kernel
        sys.path.remove(path)
        same("an archive", source_of(kernel)[1:], ("def kernel(x):\n    pass\n", 5, 0))
    example = """
    >>> @nereid.jit
    ... def kernel(x):
    ...     pass
    >>> source_of(kernel)[1:]
    ('def kernel(x):\\n    pass\\n', 2, 0)
    """
    names = {"nereid": nereid, "source_of": source_of}
    test = doctest.DocTestParser().get_doctest(example, names, "examples", None, 0)
    same("a doctest", doctest.DocTestRunner().run(test), (0, 2))


# ---- what values are ----


class Mode(enum.Enum):
    FAST = 1
    EXACT = "exact"


class Level(enum.IntEnum):
    LOW = 3


class Point(typing.NamedTuple):
    a: int
    b: int = 7

    def both(self):
        return self.a + self.b


Pair = collections.namedtuple("Pair", "u v", defaults=[9])


@tl.core._aggregate
class Sum:
    value: tl.tensor
    n: tl.constexpr

    @nereid.jit
    def more(self, v):
        return Sum(self.value + v, self.n)


class Settings:
    BLOCK = 16
    MODE = Mode.EXACT

    class Inner:
        K = 2


@nereid.jit
def helper(v, k=tl.constexpr(3)):
    return v * k * SCALE


@nereid.constexpr_function
def log2(n):
    return n.bit_length() - 1


def host(n):
    return n + SCALE


SCALE = 2


def test_values():
    names = Names(plain)

    def text(value, expected, kind=VALUE):
        found = names.classify(value)
        same(f"{value!r}", found[:2], (kind, expected))

    for value in (None, True, 3, -5, 1.5, "a'\n\"", (1, (2, "x")), (), [1, 2], 1 << 70):
        text(value, repr(value))
    text(float("inf"), "float('inf')")
    text(tl.float16, "triton.language.float16")
    text(tl.constexpr(4), "triton.language.constexpr(4)")
    text(tl.constexpr(tl.constexpr("a")), "triton.language.constexpr('a')")
    text((tl.float32, None), "(triton.language.float32, None)")
    text(tl, "triton.language")
    text(nereid, "triton")
    text(tl.math, "triton.language.math")
    text(tl.extra.libdevice, "triton.language.extra.libdevice")
    text(tl.load, "triton.language.core.load")
    text(tl.constexpr, "triton.language.core.constexpr")
    text(nereid.cdiv, "triton.cdiv")
    text(nereid.jit, "triton.jit")
    text(math, "math")
    text(math.sqrt, "math.sqrt")
    text(range, "range")
    text(int, "int")
    text(typing.NamedTuple, "typing.NamedTuple")
    text(Level.LOW, "3")
    text(Mode.EXACT, "'exact'")
    text((Level.LOW, Mode.FAST), "(3, 1)")
    text(os, "os", SCOPE)
    text(Mode, "Mode", SCOPE)
    text(Settings, "Settings", SCOPE)
    text(helper, "helper", JIT)
    text(tl.constexpr(helper), "helper", JIT)
    text(log2, "log2", HOST)
    text(host, "host", HOST)
    text(functools.lru_cache(host), "host", HOST)
    text(Point, "Point", CLASS)
    text(Pair, "Pair", CLASS)
    text(Sum, "Sum", CLASS)
    text(last, "a lambda, which has no text of its own", OTHER)
    text(object(), "an object", OTHER)
    text({1, 2}, "a set", OTHER)
    text(1j, "a complex", OTHER)
    text(types.SimpleNamespace(a=1), "a types.SimpleNamespace", OTHER)
    text(functools.partial(host), "a functools.partial", OTHER)
    if not numpy:
        return
    text(numpy.int64(3), "3")
    text(numpy.float32(0.5), "0.5")
    text(numpy.bool_(True), "True")
    text(numpy.float32, "numpy.float32")
    text(numpy.dtype("int8"), "numpy.int8")
    text(numpy.zeros(3), "a numpy.ndarray", OTHER)


def test_torch():
    torch = sys.modules.get("torch")
    if torch is None:
        return
    names = Names(plain)
    same("dtype", names.classify(torch.bfloat16)[:2], (VALUE, "torch.bfloat16"))
    same("tensor", names.classify(torch.zeros(1))[:2], (OTHER, "a torch.Tensor"))


def test_equality():
    same_constant = source.same_constant
    values = [1, True, 1.0, 0, 0.0, -0.0, None, "1", (1,), (True,), [1], (1.0,), {"a": 1},
              {"a": 1.0}, tl.constexpr(1), tl.constexpr(1.0), tl.float32, tl.int32, helper,
              (helper, 1), (helper, True), Point(1, 2), Point(1, helper), float("nan")]
    for i, x in enumerate(values):
        for j, y in enumerate(values):
            check(f"{x!r} and {y!r}", same_constant(x, y) == (i == j))
    check("large", same_constant(10**30, 10**29 * 10) and same_constant((1 << 40,), (1 << 40,)))
    check("nan", same_constant(float("nan"), float("nan")))
    check("constants", same_constant(tl.constexpr((1, 2)), tl.constexpr((1, 2))))


# ---- kernels ----


@nereid.jit
def finds_names(x):
    tl.static_assert(SCALE == 2 and half == tl.float16 and nr.cdiv(5, 2) == 3)
    tl.static_assert(Settings.BLOCK == 16 and Settings.MODE == "exact" and Settings.Inner.K == 2)
    tl.static_assert(Mode.FAST == 1 and Level.LOW == 3 and log2(16) == 4 and host(1) == 3)
    tl.static_assert(math.pi > 3.1)
    tl.store(x, helper(ld(x)) + helper(ld(x), 2.0))


@nereid.constexpr_function
def only_python_can(n, *, base=2, dtypes=()):
    """Statements that the compiler does not evaluate."""
    try:
        words = {f"{i:>3}": i for i in range(n)}
        with contextlib.suppress(KeyError):
            del words["  0"]
        return sum(words.values()) * base + OFFSET, tuple(d.primitive_bitwidth for d in dtypes)
    finally:
        calls.append((n, base))


@nereid.constexpr_function
def fails_in_python(n):
    return {}[n]


OFFSET = 100
calls: list = []


@nereid.jit
def calls_python(x, N: tl.constexpr):
    a, widths = only_python_can(N, base=3, dtypes=(tl.float16, x.dtype.element_ty))
    b, _ = only_python_can(2)
    tl.static_assert(a == 118 and widths == (16, 32) and b == 102)
    tl.store(x, only_python_can(N)[0])
    tl.static_assert(log2(16) == 4)


@nereid.jit
def calls_failing(x):
    tl.store(x, fails_in_python("key"))


@nereid.jit
def finds_classes(x):
    p = Point(5)
    tl.static_assert(p.a == 5 and p[1] == 7)
    q = Pair(1)
    tl.static_assert(q.u == 1 and q.v == 9)
    s = Sum(ld(x), 3).more(1.0)
    tl.static_assert(s.n == 3)
    tl.store(x, s.value)


@nereid.jit
def takes(x, F: tl.constexpr, POINT: tl.constexpr, T: tl.constexpr, DT: fixed, S: "tl.constexpr"):
    tl.static_assert(POINT.a == 1 and POINT.both() == 3 and T[0] == "x'y" and S == 4)
    tl.store(x, F[0](T[1](tl.load(x))).to(DT))


@nereid.jit
def applies(v, function=helper):
    return function(v)


class Kernels:
    OFFSET = 4

    @staticmethod
    @functools.partial(nereid.jit, do_not_specialize=["x"])
    def kernel(x):
        tl.static_assert(Kernels.OFFSET == 4 and TABLE[0] == 1)
        add = lambda v: v + SCALE
        tl.store(x, applies(add(tl.load(x))))


def renamed(x):
    tl.store(x, SCALE)


renamed.__name__ = "another_name"


@nereid.jit
def dead_branch(x):
    if SCALE == 2:
        tl.store(x, defined_later(1.0))
    else:
        tl.store(x, never_defined)


@nereid.jit
def defined_later(v):
    return v


@nereid.jit
def shadows(x, SCALE, tl_=tl.constexpr(1)):
    log2 = SCALE
    tl.static_assert(log2 == 8 and tl_ == 1)


def closure(factor, block):
    later = None

    @nereid.jit
    def inner(v, by=block):
        return v * factor * by

    @nereid.jit
    def kernel(x, N: tl.constexpr = block):
        tl.static_assert(factor == 3)
        tl.store(x, inner(tl.load(x)))
        if N == 0:
            tl.store(x, later)

    def change(value):
        nonlocal factor
        factor = value

    later = 5
    return kernel, change


def local_class():
    class Inner(typing.NamedTuple):
        k: int

    @tl.core._aggregate
    class Outer:
        inner: Inner
        n: tl.constexpr

    @nereid.jit
    def kernel(x):
        o = Outer(Inner(5), 3)
        tl.static_assert(o.inner.k + o.n == 8)

    return kernel


tensor = types.SimpleNamespace(shape=(1, 2))


@nereid.jit
def uses_object(x):
    tl.store(x, tensor.shape[0])


@nereid.jit
def uses_module(x):
    tl.store(x, os.nothing)


@nereid.jit
def uses_nothing(x):
    tl.store(x, sorted(unknown_name))


@nereid.jit
def calls_deep(x):
    fails(x)


@nereid.jit
def fails(x):
    tl.store(x, missing)


class Module(types.ModuleType):
    def __getattr__(self, name):
        raise ZeroDivisionError(f"asked for {name}")


angry = Module("angry")


@nereid.jit
def uses_angry(x):
    tl.store(x, angry.value)


def test_kernels():
    same("names read", accept(finds_names),
         sorted("SCALE Settings BLOCK MODE Inner K Mode FAST Level LOW log2 host helper half"
                .split()))
    accept(finds_classes)
    same("read by Python", accept(calls_python, N=4),
         sorted("only_python_can log2 OFFSET calls".split()))
    same("called once", calls, [(4, 3), (2, 2), (4, 2)])
    raises("an exception in a function", KeyError, lambda: emit(calls_failing), "'key'")
    accept(takes, F=(helper, host), POINT=Point(1, 2), T=("x'y", helper), DT=tl.float32, S=4)
    accept(shadows, SCALE=8)
    same("of a class", accept(Kernels.kernel), "Kernels OFFSET SCALE TABLE applies".split())
    accept(nereid.jit(renamed))
    accept(local_class())
    accept(dead_branch)
    kernel, _ = closure(3, 2)
    same("closure", accept(kernel), ["factor", "inner"])
    refuse(uses_object, "'tensor' is a types.SimpleNamespace, which a kernel can't use")
    refuse(uses_module, "'os' has no attribute 'nothing'")
    refuse(uses_nothing, "'unknown_name' is not defined")
    refuse(calls_deep, f"{fails.fn.__code__.co_filename}:{line_of('tl.store(x, missing)')}:17: "
                       "error: 'missing' is not defined")
    raises("an exception in a lookup", ZeroDivisionError, lambda: emit(uses_angry),
           "asked for value")
    # Another compilation is not touched by it.
    accept(finds_names)


def test_defaults():
    global SCALE
    text, _ = emit(finds_names)
    SCALE = 4
    try:
        refuse(finds_names, "static_assert failed")
    finally:
        SCALE = 2
    same("the same again", emit(finds_names)[0], text)


# ---- launches ----

FACTOR = 2.0
TABLE = [1, 2]


@nereid.jit
def scale(v):
    return v * FACTOR


@nereid.jit
def launches(x):
    tl.store(x, scale(tl.load(x)))


@nereid.jit
def reads_list(x):
    tl.store(x, TABLE[1])


@nereid.constexpr_function
def first_calls():
    if len(calls) < 2:
        calls.append(len(calls))
    return len(calls) - 1


@nereid.jit
def counts_calls(x):
    tl.store(x, first_calls())


@nereid.jit
def reads_class(x):
    tl.store(x, Settings.Inner.K)


def test_changes():
    global FACTOR, scale
    if not numpy:
        return
    x = numpy.ones(1, numpy.float32)
    launches[(1,)](x)
    same("launched", x[0], 2.0)
    FACTOR = 1.0 + 1.0
    launches[(1,)](x)
    same("an equal value", x[0], 4.0)
    FACTOR = 3.0
    raises("changed", RuntimeError, lambda: launches[(1,)](x),
           "Global variable FACTOR has changed since we compiled this kernel")
    FACTOR = 2.0
    old = scale

    @nereid.jit
    def scale(v):
        return v + 100

    launches[(1,)](x)
    same("another helper", x[0], 104.0)
    scale = old
    launches[(1,)](x)
    same("the first one again", x[0], 208.0)
    kernel, change = closure(3, 2)
    kernel[(1,)](x)
    same("closure", x[0], 208.0 * 6)
    change(4)
    raises("a closure changed", RuntimeError, lambda: kernel[(1,)](x), "variable factor has")
    reads_class[(1,)](x)
    Settings.Inner.K = 3
    raises("an attribute changed", RuntimeError, lambda: reads_class[(1,)](x), "variable K has")
    del Settings.Inner.K
    raises("an attribute is gone", RuntimeError, lambda: reads_class[(1,)](x), "variable K has")
    FACTOR = True * 2.0
    launches[(1,)](x)
    FACTOR = 2
    raises("another type", RuntimeError, lambda: launches[(1,)](x), "variable FACTOR has")
    FACTOR = 2.0
    reads_list[(1,)](x)
    TABLE[1] = 5
    reads_list[(1,)](x)
    same("a list changed", x[0], 5.0)
    calls.clear()
    for _ in range(3):
        counts_calls[(1,)](x)
    same("compiled for what Python sees", (x[0], calls), (1.0, [0, 1]))


test_texts()
test_without_files()
test_changed_files()
test_elsewhere()
test_values()
test_torch()
test_equality()
test_kernels()
test_defaults()
test_changes()
sys.exit(tally.report())
