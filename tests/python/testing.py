#!/usr/bin/env python3
"""nereid.testing on a CPU: times, their statistics, comparisons and reports; and the failures of
the library as exceptions with their parts."""
import contextlib, doctest, io, os, pathlib, pickle, sys, tempfile, time, types, unittest.mock
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import numpy as np

import nereid
import nereid.language as tl
from nereid import errors, testing
from nereid.runtime import driver
from tally import check, report


def raises(what, kind, run, words=""):
    """Checks that `run` raises this exception, with these words; gives it."""
    try:
        check(False, f"{what}: gave {run()}")
    except kind as error:
        check(words in str(error), f"{what}: {error}")
        return error


# ---- times ----


def check_times():
    def sleep():
        time.sleep(0.002)

    for mode in ("min", "max", "mean", "median"):
        took = testing.do_bench(sleep, warmup=1, rep=10, return_mode=mode)
        check(2 <= took < 1000, f"do_bench, {mode}: {took}")
    times = testing.do_bench(sleep, warmup=1, rep=10, return_mode="all")
    check(isinstance(times, list) and min(times) >= 2, f"all times: {times}")
    three = testing.do_bench(sleep, warmup=1, rep=10, quantiles=(0.5, 0.2, 0.8))
    check(len(three) == 3 and three[1] <= three[0] <= three[2], f"quantiles: {three}")
    check(isinstance(testing.do_bench(sleep, warmup=1, rep=1, quantiles=[0.5]), float), "one")
    raises("a mode", ValueError, lambda: testing.do_bench(sleep, return_mode="best"), "'best'")
    raises("a failure", ZeroDivisionError, lambda: testing.do_bench(lambda: 1 // 0))

    class Parameter:
        grad = 3

    p = Parameter()
    testing.do_bench(lambda: None, warmup=0, rep=0, grad_to_none=[p])
    check(p.grad is None, "gradients are forgotten")
    x = np.arange(7.0)
    for share in (0, 0.1, 0.5, 0.77, 1):
        check(abs(testing.quantiles_of(list(x), [share])[0] - np.quantile(x, share)) < 1e-12,
              f"quantile {share}")
    raises("a share", ValueError, lambda: testing.quantiles_of([1.0], [2]))


def check_memory():
    """Memory that PyTorch keeps for later is had before memory lacks."""
    reserved, asked = [1 << 30], []

    def make():
        asked.append(reserved[0])
        if reserved[0]:
            raise MemoryError("out of memory")
        return "a timer"

    cuda = types.SimpleNamespace(is_initialized=lambda: True, memory_reserved=lambda: reserved[0],
                                 empty_cache=lambda: reserved.__setitem__(0, 0))
    with unittest.mock.patch.dict(sys.modules, torch=types.SimpleNamespace(cuda=cuda)):
        check(driver.with_free_memory(make) == "a timer" and asked == [1 << 30, 0], f"{asked}")
        reserved[0] = 1 << 30
        cuda.empty_cache = lambda: None
        raises("none to be had", MemoryError, lambda: driver.with_free_memory(make))


# ---- comparing ----


def check_closeness():
    testing.assert_close([1.0, 2.0], np.array([1.005, 2.0]))
    testing.assert_close(1.0, 1.009)
    testing.assert_close([np.nan, 1], [np.nan, 1])
    testing.assert_close(np.float32(3), 3, atol=lambda dtype: 0.1)
    testing.assert_close([100.0, 1], [101.0, 1], rtol=0.02)
    raises("too far", AssertionError, lambda: testing.assert_close([1.0, 2.0], [1.0, 2.1]))
    raises("a number", AssertionError, lambda: testing.assert_close(1.0, 1.1, err_msg="here"),
           "here")
    raises("shapes", AssertionError, lambda: testing.assert_close([1.0, 2, 3], [1.0, 2]))


# ---- reports ----


def check_report():
    @testing.perf_report(testing.Benchmark(
        x_names=["n", "m"], x_vals=[1, (2, 3)], line_arg="who", line_vals=["a", "b"],
        line_names=["A", "B"], plot_name="plot", args={"scale": 10}, ylabel="GB/s"))
    def bench(n, m, who, scale):
        value = scale * n + m + (who == "b")
        return (value, value - 1, value + 1) if who == "a" else value

    rows = testing._as_rows(bench.benchmarks, bench.fn, {})
    check(rows == [[1, 1, 11, 12, 10, None, 12, None], [2, 3, 23, 24, 22, None, 24, None]],
          f"rows: {rows}")
    bench.benchmarks.x_vals = [(1, 2, 3)]
    raises("values", ValueError, lambda: testing._as_rows(bench.benchmarks, bench.fn, {}),
           "Expected 2 values")
    bench.benchmarks.x_vals = [1, (2, 3)]
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out), \
            warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = os.path.join(folder, "new")
        check(bench.run(print_data=True, save_path=path) is None, "gives nothing")
        files = sorted(os.listdir(path))
        check(files == ["plot.csv", *(["plot.png"] if not caught else []), "results.html"], files)
        text = pathlib.Path(path, "plot.csv").read_text()
    check(text == "n,m,A (GB/s),B (GB/s)\n1,1,11,12\n2,3,23,24\n", text)
    want = ("plot:\n   n  m  A (GB/s)  B (GB/s)\n"
            "0  1  1        11        12\n1  2  3        23        24\n")
    check(out.getvalue() == want, out.getvalue())
    text = testing._as_text(["x"], [[0.5], [None]])
    check(text == "          x\n0  0.500000\n1          ", text)
    try:
        import pandas  # noqa: F401
    except ImportError:
        print("skipped: pandas is not installed")
        return
    table = bench.run(return_df=True)
    check(list(table.columns) == ["n", "m", "A (GB/s)", "B (GB/s)"] and len(table) == 2, table)


# ---- failures ----


@nereid.jit
def undefined(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), missing)  # noqa: F821


@nereid.jit
def asserting(x, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 4, "small")
    tl.store(x + tl.arange(0, BLOCK), 1.0)


@nereid.jit
def large(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    a = tl.load(x + at)
    b = tl.load(y + at)
    tl.store(y + at, tl.trans(a + b) + a * b)


def check_failures():
    x = np.zeros(16, "f4")
    e = raises("an unknown name", errors.CompilationError, lambda: undefined[(1,)](x, BLOCK=16),
               "'missing' is not defined")
    d = e.diagnostics[0]
    line = undefined.fn.__code__.co_firstlineno + 2
    check((d.severity, d.file, d.line, d.column, d.length) ==
          ("error", __file__, line, 39, len("missing")), f"its place: {d}")
    check(d.source.strip().startswith("tl.store(x"), "its line")
    check(d.message == e.error_message == "'missing' is not defined", "its text")
    check(e.id == d.id == "E_SEMA_UNDEFINED", f"its id: {e.id}")
    check(e.kernel == "undefined" and e.code == errors.KERNEL, "its kernel and code")
    check(isinstance(e, RuntimeError) and isinstance(e, errors.NereidError), "its bases")
    again = pickle.loads(pickle.dumps(e))
    check(type(again) is type(e) and str(again) == str(e) and again.diagnostics == e.diagnostics
          and again.kernel == "undefined", "pickled")
    e = raises("static_assert", errors.CompileTimeAssertionFailure,
               lambda: asserting[(1,)](x, BLOCK=4), "small")
    check(isinstance(e, errors.CompilationError), "is a CompilationError")
    wide = x.astype("f8")
    e = raises("a large block", errors.OutOfResources, lambda: large[(1,)](wide, wide, BLOCK=1024))
    check(e.required > e.limit > 0 and e.name and e.kernel == "large", f"resources: {vars(e)}")
    check(str(e).startswith(f"out of resource: {e.name}, Required: {e.required}, Hardware limit: ")
          and f"{pathlib.Path(__file__).name}:" in str(e), f"its text: {e}")
    again = pickle.loads(pickle.dumps(e))
    check((again.required, again.limit, again.name, str(again)) ==
          (e.required, e.limit, e.name, str(e)), "pickled too")
    e = errors.OutOfResources(300, 200, "shared memory")
    check("out of resource: shared memory, Required: 300, Hardware limit: 200" in str(e), str(e))


check_times()
check_memory()
check_closeness()
check_report()
check_failures()
result = doctest.testmod(testing)
check(result.attempted > 0 and not result.failed, "examples")
sys.exit(report())
