#!/usr/bin/env python3
"""nereid.autotune and heuristics: choices, hooks, records, failures, threads, interruptions; and,
where Triton is installed, its signatures and the calls that it makes."""
import contextlib, inspect, io, os, pathlib, pickle, re, signal, subprocess, sys, tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
FOLDER = tempfile.TemporaryDirectory()
os.environ["NEREID_CACHE_DIR"] = FOLDER.name
import numpy as np

import nereid
import nereid.language as tl
from nereid import errors
from nereid.runtime import autotuner
from nereid.tools.tensor_descriptor import TensorDescriptor
from tally import check, report


def raises(what, kind, run, words=""):
    """Checks that `run` raises this exception, with these words."""
    try:
        check(False, f"{what}: gave {run()}")
    except kind as error:
        check(words in str(error), f"{what}: {error}")


# ---- kernels ----


@nereid.jit
def fill(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n)


@nereid.jit
def add_one(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)


@nereid.jit
def asserting(x, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 64, "a large block")
    tl.store(x + tl.arange(0, BLOCK), 1.0, mask=tl.arange(0, BLOCK) < n)


@nereid.jit
def undefined(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), missing)  # noqa: F821


def blocks(*sizes, **options):
    return [nereid.Config({"BLOCK": size}, **options) for size in sizes]


def grid(meta):
    return (nereid.cdiv(meta["n"], meta["BLOCK"]),)


def counting(times=None):
    """A do_bench that runs each call once; its list has one entry a call."""
    calls = []

    def bench(call, quantiles):
        call()
        calls.append(quantiles)
        time = times[len(calls) - 1] if times else float(len(calls))
        return [time, time, time]

    return bench, calls


# ---- choosing ----


def check_choice():
    x = np.zeros(1000, "f4")
    kernel = nereid.autotune(blocks(64, 256, 1024), key=["n"])(fill)
    kernel[grid](x, 1000)
    check((x == 1).all(), "results")
    check(kernel.best_config in kernel.configs, "the best is one of them")
    check(kernel.bench_time > 0 and len(kernel.configs_timings) == 3, "what was measured")
    check(all(len(t) == 3 and t[1] <= t[0] <= t[2] for t in kernel.configs_timings.values()),
          f"quantiles: {kernel.configs_timings}")
    check(list(kernel.cache) == [(1000, "float32")], f"the key: {list(kernel.cache)}")
    single = nereid.autotune(blocks(128), key=["n"])(fill)
    single[grid](x, 1000)
    check(single.best_config.kwargs == {"BLOCK": 128} and not single.cache, "a single one")
    bench, calls = counting([3.0, 1.0, 2.0])
    kernel = nereid.autotune(blocks(64, 256, 1024), key=["n"], do_bench=bench)(fill)
    for n in (1001, 1001, 999):
        kernel[grid](np.zeros(2000, "f4"), n)
        check(kernel.best_config.kwargs["BLOCK"] == 256 or n == 999, "the fastest by do_bench")
        calls.clear() if n == 1001 else None
    check(calls == [(0.5, 0.2, 0.8)] * 3, f"each key once, with quantiles: {calls}")
    empty = nereid.autotune([], key=[])(fill)
    check(len(empty.configs) == 1 and empty.configs[0].num_warps == 4, "no configurations")


class GivenTimes:
    """A clock that runs what it times once, and says how long each run took: of a pair, one time
    and the other in turns while it has fewer than `unsteady` runs."""

    def __init__(self, milliseconds, runs, unsteady=0):
        self.milliseconds, self.runs, self.config = milliseconds, runs, None
        self.unsteady = unsteady

    def times(self, call, n, before=None, after=None):
        if before:
            before()
        call()
        if after:
            after()
        before, time = self.runs.get(self.config, 0), self.milliseconds[self.config]
        self.runs[self.config] = before + n
        if not isinstance(time, tuple):
            return [time] * n
        return [time[i % 2 if i < self.unsteady else 0] for i in range(before, before + n)]


def timed_runs(clock, n):
    """The runs of each block size with this clock, and the kernel."""
    import nereid.testing

    clock.runs.clear()
    configs = [nereid.Config({"BLOCK": b}, pre_hook=lambda a: setattr(clock, "config", a["BLOCK"]))
               for b in clock.milliseconds]
    original, nereid.testing.clock_of = nereid.testing.clock_of, lambda name=None: clock
    try:
        kernel = nereid.autotune(configs, key=["n"])(fill)
        kernel[grid](np.zeros(n, "f4"), n)
    finally:
        nereid.testing.clock_of = original
    return dict(clock.runs), kernel


def check_policy():
    """How often each is timed is what the tuner of the program goes by: those that can't be told
    apart from the best longest, one far slower once."""
    runs, kernel = timed_runs(GivenTimes({64: 0.1, 128: 0.105, 256: 0.125, 512: 1.0}, {}), 77)
    warm, first = 1, 3
    wanted = {64: warm + first + 7 + 15, 128: warm + first + 7 + 15, 256: warm + first + 7,
              512: warm + 1}
    check(runs == wanted, f"runs {runs}, not {wanted}")
    check(kernel.best_config.kwargs["BLOCK"] == 64, "the fastest")


def check_doubt():
    """A best whose times differ by more than half is timed until they don't, and if they always do,
    in the next process too."""
    clock = GivenTimes({64: (0.1, 0.3), 512: 5.0}, {}, unsteady=14)
    runs, _ = timed_runs(clock, 79)
    check(runs[64] > 1 + 3 + 7 and runs[512] == 2, f"runs of a doubtful best: {runs}")
    runs, _ = timed_runs(clock, 79)
    check(not runs, f"it is sure in records: {runs}")
    never = GivenTimes({64: (0.1, 0.3), 512: 5.0}, {}, unsteady=10 ** 9)
    first, _ = timed_runs(never, 81)
    again, _ = timed_runs(never, 81)
    check(again.get(64, 0) > 1, f"a doubtful record is measured again: {first}, {again}")


def check_same_code():
    stages = [nereid.Config({"BLOCK": b}, num_stages=s) for b in (64, 128) for s in (2, 3, 4)]
    bench, calls = counting()
    kernel = nereid.autotune(stages, key=["n"], do_bench=bench)(fill)
    kernel[grid](np.zeros(90, "f4"), 90)
    check(len(calls) == 2, f"configurations with the same code are measured once: {len(calls)}")
    check(len({t[0] for t in kernel.configs_timings.values()}) == 2, "and have one time")
    again = nereid.autotune(stages, key=["n"], do_bench=bench)(fill)
    again[grid](np.zeros(90, "f4"), 90)
    check(len(calls) == 2, "each has a record")


class Chooser(autotuner.Autotuner):
    """A class of a user's that chooses by itself, as Triton's tuner would."""

    def run(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        times = {c: self._bench(*args, config=c, **kwargs) for c in self.prune_configs(kwargs)}
        self.chosen = min(times, key=times.get)
        return self.fn.run(*args, **kwargs, **self.chosen.all_kwargs())


def check_derived():
    bench, calls = counting([2.0, 1.0] * 2)
    seen = []

    def early(configs, named_args, **kwargs):
        seen.append(named_args["n"])
        return configs[1:]

    for _ in range(2):
        kernel = Chooser(fill, fill.arg_names, blocks(32, 64, 128), ["n"], None, None,
                         do_bench=bench, prune_configs_by={"early_config_prune": early})
        x = np.zeros(80, "f4")
        kernel[grid](x, 80)
    check(seen == [80, 80] and len(calls) == 4, f"a derived class: {seen} {len(calls)}")
    check((x == 1).all() and kernel.chosen.kwargs["BLOCK"] == 128, "its choice")


def check_config():
    config = nereid.Config({"A": 1, "B": 2}, num_warps=8, maxnreg=64)
    check(str(config) == "A: 1, B: 2, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: 64",
          f"text of a configuration: {config}")
    check(config.all_kwargs() == {"A": 1, "B": 2, "num_warps": 8, "num_ctas": 1, "num_stages": 3,
                                  "maxnreg": 64}, "its arguments")
    same = nereid.Config({"A": 1, "B": 2}, num_warps=8, maxnreg=64)
    check(config == same and hash(config) == hash(same), "equal configurations")
    check(config != nereid.Config({"A": 1}) and config != 3, "others")
    check(pickle.loads(pickle.dumps(config)) == config, "pickled")


# ---- hooks ----


def check_hooks():
    events = []
    configs = [nereid.Config({"BLOCK": 128}, pre_hook=lambda args: events.append(args["BLOCK"])),
               nereid.Config({"BLOCK": 256})]
    bench, _ = counting()
    kernel = nereid.autotune(
        configs, key=["n"], do_bench=bench,
        pre_hook=lambda args, reset_only=False: events.append(("pre", reset_only)),
        post_hook=lambda args, exception: events.append(("post", exception)))(fill)
    kernel[grid](np.zeros(500, "f4"), 500)
    events = [e for e in events]
    want = [128, 128, ("pre", False), ("post", None), ("pre", False), ("post", None),
            ("pre", True), 128]
    check(events == want, f"hooks: {events}")
    x, y = np.zeros(300, "f4"), np.full(300, 7, "f4")
    kernel = nereid.autotune(blocks(64, 128), key=["n"], reset_to_zero=["x"])(add_one)
    kernel[grid](x, 300)
    check((x == 1).all(), f"reset_to_zero: {x[:3]}")
    kernel = nereid.autotune(blocks(64, 128), key=["n"], restore_value=["x"])(add_one)
    kernel[grid](y, 300)
    check((y == 8).all(), f"restore_value: {y[:3]}")
    kernel[grid](y, 300)
    check((y == 9).all(), "and without measuring")


def check_failing_hooks():
    def broken(args, reset_only=False):
        raise OSError("the hook")

    kernel = nereid.autotune(blocks(64, 128), key=["n"], pre_hook=broken)(fill)
    raises("a hook that fails", OSError, lambda: kernel[grid](np.zeros(9, "f4"), 9), "the hook")
    check(not kernel.cache, "nothing is chosen after it")
    kernel = nereid.autotune(blocks(64, 128), key=["n"])(fill)
    raises("a grid that fails", ZeroDivisionError,
           lambda: kernel[lambda meta: (1 // 0,)](np.zeros(9, "f4"), 9))
    raises("constants given twice", ValueError,
           lambda: kernel[grid](np.zeros(9, "f4"), 9, BLOCK=64),
           "Conflicting meta-parameters: BLOCK")


# ---- pruning ----


def check_pruning():
    bench, calls = counting()
    seen = []

    def early(configs, named_args, **kwargs):
        seen.append((len(configs), named_args["n"], kwargs["extra"] if "extra" in kwargs else 0))
        return [c for c in configs if c.kwargs["BLOCK"] > 64]

    def model(x, n, BLOCK, num_warps, num_stages, num_ctas, **more):
        return -BLOCK

    both = {"early_config_prune": early, "perf_model": model, "top_k": 2}
    kernel = nereid.autotune(blocks(64, 128, 256, 512), key=["n"], do_bench=bench,
                             prune_configs_by=both)(fill)
    kernel[grid](np.zeros(70, "f4"), 70)
    check(seen == [(4, 70, 0)] and len(calls) == 2, f"pruned: {seen} {len(calls)}")
    check({c.kwargs["BLOCK"] for c in kernel.configs_timings} == {512, 256}, "the model's best")
    none = nereid.autotune(blocks(64, 128), key=["n"], prune_configs_by={
        "early_config_prune": lambda configs, args, **kwargs: []})(fill)
    raises("all pruned", errors.AutotunerError, lambda: none[grid](np.zeros(9, "f4"), 9),
           "No valid autotuner configs after pruning")
    odd = nereid.autotune(blocks(64, 128), key=["n"], prune_configs_by={
        "perf_model": model, "top_k": "two"})(fill)
    raises("no number", TypeError, lambda: odd[grid](np.zeros(9, "f4"), 9), "top_k")
    share = nereid.autotune(blocks(64, 128, 256, 512), key=["n"], prune_configs_by={
        "perf_model": model, "top_k": 0.25})(fill)
    share[grid](np.zeros(9, "f4"), 9)
    check(share.best_config.kwargs["BLOCK"] == 512, "a share of them")


# ---- failures ----


def check_failures():
    x = np.zeros(500, "f4")
    kernel = nereid.autotune(blocks(32, 128, 64), key=["n"])(asserting)
    kernel[(1,)](x, 100)
    times = {c.kwargs["BLOCK"]: t[0] for c, t in kernel.configs_timings.items()}
    check(times[32] == times[64] == float("inf") > times[128], f"a false static_assert: {times}")
    check((x[:100] == 1).all() and x[100] == 0, "the one that compiles")
    kernel = nereid.autotune(blocks(32, 64), key=["n"])(asserting)
    raises("none compiles", errors.CompileTimeAssertionFailure, lambda: kernel[(1,)](x, 101),
           "a large block")
    kernel = nereid.autotune(blocks(32, 64), key=["n"])(undefined)
    raises("a kernel that is wrong", errors.CompilationError, lambda: kernel[(1,)](x, 100),
           "'missing' is not defined")
    check(not kernel.cache, "nothing is chosen")

    def refused(call, quantiles):
        call()
        if len(tried) < 1:
            tried.append(1)
            raise errors.OutOfResources(300000, 232448, "shared memory")
        return [1.0, 1.0, 1.0]

    tried = []
    told = []
    many = [nereid.Config({"BLOCK": 64}, num_warps=128), nereid.Config({"BLOCK": 64})]
    kernel = nereid.autotune(many, key=["n"], post_hook=lambda args, exception: told.append(
        exception))(fill)
    kernel[grid](x, 78)
    check(kernel.best_config is many[1] and "out of resource: threads, Required: 4096" in
          str(told[0]), f"too many warps: {told[:1]}")
    kernel = nereid.autotune(blocks(32, 64), key=["n"], do_bench=refused)(fill)
    kernel[grid](x, 77)
    check([t[0] for t in kernel.configs_timings.values()] == [float("inf"), 1.0],
          f"out of resources: {kernel.configs_timings}")


# ---- heuristics ----


def check_heuristics():
    x = np.zeros(100, "f4")
    block = {"BLOCK": lambda args: nereid.next_power_of_2(args["n"])}
    kernel = nereid.heuristics(block)(fill)
    kernel[(1,)](x, 100)
    check((x == 1).all() and kernel.fn is fill and kernel.arg_names == fill.arg_names, "heuristics")

    @nereid.jit
    def two(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            tl.store(x + i, 2.0)
        else:
            tl.store(x + i, 3.0, mask=i < n)

    even = {"EVEN": lambda args: args["n"] % args["BLOCK"] == 0}
    inner = nereid.autotune(blocks(64, 128), key=["n"])(nereid.heuristics(even)(two))
    inner[grid](x, 100)
    check((x == 3).all(), "heuristics of a configuration's constants")
    check(inner.fn.fn is two and inner.base_fn is two.fn, "the chain")
    y = np.zeros(256, "f4")
    inner[grid](y, 256)
    check((y == 2).all(), "both ways")
    third = {"EVEN": lambda args: False}
    outer = nereid.heuristics(third)(nereid.autotune(blocks(64, 128), key=["n"])(two))
    outer[grid](y, 256)
    check((y == 3).all(), "the other order")
    for wrapped in (kernel, inner, outer):
        check(isinstance(wrapped, nereid.KernelInterface), "is a kernel")


# ---- records ----

SCRIPT = """
import sys
import numpy as np, nereid, nereid.language as tl

@nereid.autotune([nereid.Config({{"BLOCK": b}}) for b in {blocks}], key=["n"])
@nereid.jit
def fill(x, n, BLOCK: tl.constexpr):
    {comment}
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, {value}, mask=i < n)

x = np.zeros(1 << 16, "f4")
fill[lambda meta: (nereid.cdiv(meta["n"], meta["BLOCK"]),)](x, {n})
assert (x[:{n}] == {value}).all()
"""


def measured(environment=None, **given):
    """What a process says of its tuning: "2 of 3 configurations measured"."""
    how = {"blocks": [64, 256], "comment": "", "value": 1.0, "n": 5000, **given}
    path = pathlib.Path(FOLDER.name) / "script.py"
    path.write_text(SCRIPT.format(**how))
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "NEREID_PRINT_AUTOTUNING": "1",
           **(environment or {})}
    done = subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    found = re.search(r"(\d+ of \d+) configurations measured", done.stdout)
    return found[1] if found else done.stdout


def check_records():
    for what, want, how in [
        ("the first process", "2 of 2", {}),
        ("the second one", "0 of 2", {}),
        ("a comment, or a move", "0 of 2", {"comment": "# comment"}),
        ("one more configuration", "1 of 3", {"blocks": [64, 256, 1024]}),
        ("another problem", "2 of 2", {"n": 6000}),
        ("another kernel", "2 of 2", {"value": 2.0}),
        ("the first again", "0 of 3", {"blocks": [64, 256, 1024]}),
    ]:
        got = measured(**how)
        check(got == want, f"records, {what}: {got}, not {want}")
    check(measured({"NEREID_CACHE_DIR": ""}) == "2 of 2", "without records")
    listed = subprocess.run([BUILD / "nereid", "records"], capture_output=True, text=True)
    check("fill(*fp32:16, i32)\n  class n=5000," in listed.stdout, listed)


# ---- threads and interruptions ----


def check_threads():
    bench, calls = counting()
    kernel = nereid.autotune(blocks(64, 128), key=["n"], restore_value=["x"],
                             do_bench=bench)(add_one)
    results = {}

    def work(number, n):
        x = np.zeros(n, "f4")
        kernel[grid](x, n)
        results[number] = (x == 1).all()

    threads = [threading.Thread(target=work, args=(i, 100 + i % 3)) for i in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(len(results) == 12 and all(results.values()), f"threads: {results}")
    check(len(calls) == 6, f"each key is measured once: {len(calls)}")


def check_interruption():
    # Shells make programs in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(call, quantiles):
        call()
        signal.raise_signal(signal.SIGINT)

    x = np.full(50, 5, "f4")
    kernel = nereid.autotune(blocks(64, 128), key=["n"], restore_value=["x"],
                             do_bench=interrupted)(add_one)
    raises("Ctrl-C while measuring", KeyboardInterrupt, lambda: kernel[grid](x, 50))
    check(not kernel.cache and (x == 5).all(), f"all is as before: {x[:3]}")
    kernel._do_bench = None
    kernel[grid](x, 50)
    check((x == 6).all(), "the next call")


def check_interrupted_compiling():
    """A signal while configurations compile on other threads."""

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    x = np.zeros(64, "f4")
    kernel = nereid.autotune(blocks(*range(8, 40, 8)), key=["n"], reset_to_zero=["x"])(add_one)
    for delay in (0.001, 0.02, 0.1, 0.3):
        signal.setitimer(signal.ITIMER_REAL, delay)
        with contextlib.suppress(KeyboardInterrupt):
            kernel[grid](x, 64)
            signal.setitimer(signal.ITIMER_REAL, 0)
        if not kernel.cache:
            kernel = nereid.autotune(blocks(*range(8, 40, 8)), key=["n"],
                                     reset_to_zero=["x"])(add_one)
    signal.signal(signal.SIGALRM, before)
    kernel.cache.clear()
    x[:] = 0
    kernel[grid](x, 64)
    check((x == 1).all(), f"the call after interruptions: {x[:4]}")


def check_quick_calls():
    """Calls whose configuration is known take a shorter way to the same launch."""
    kernel = nereid.autotune(blocks(64, 128), key=["n"])(fill)
    for dtype, n in [("f4", 10), ("f8", 10), ("f4", 20), ("f4", 10), ("f8", 10)]:
        for call in (lambda x: kernel[grid](x, n), lambda x: kernel[grid](x, n=n),
                     lambda x: kernel[grid](n=n, x=x)):
            x = np.zeros(32, dtype)
            compiled = call(x)
            check((x[:n] == 1).all() and (x[n:] == 0).all(), f"{dtype} {n}")
            check(compiled.metadata.num_warps == 4, "gives the compiled kernel")
    check(len(kernel.cache) == 3, f"the keys: {list(kernel.cache)}")

    class OnHost(np.ndarray):
        is_cuda = False

    kernel[grid](np.zeros(32, "f4").view(OnHost), 10)
    check(len(kernel.cache) == 4 and (10, "float32", "cpu") in kernel.cache,
          "tensors of the host have a choice of their own")
    events = []
    hooked = nereid.Config({"BLOCK": 64}, pre_hook=lambda args: events.append(args["n"]))
    kernel.cache[(10, "float32")] = hooked
    kernel[grid](np.zeros(32, "f4"), 10)
    check(kernel.best_config is hooked and events == [10], "a choice that the user has made")
    kernel.cache.clear()
    kernel[grid](np.zeros(32, "f4"), 10)
    check(kernel.best_config is not hooked and len(kernel.cache) == 1, "choices that are dropped")
    raises("a constant given too", TypeError,
           lambda: kernel[grid](np.zeros(32, "f4"), 10, BLOCK=64), "BLOCK")


def check_keys():
    """Values of any kind in a key: arrays by dtype and shape, lists and dicts by their items."""
    bench, calls = counting()
    kernel = nereid.autotune(blocks(64, 128), key=["x"], do_bench=bench)(fill)
    for x in (np.zeros(32, "f4"), np.ones(32, "f4"), np.zeros(64, "f4"), np.zeros(32, "f8")):
        for call in (lambda: kernel[grid](x, 8), lambda: kernel[grid](n=8, x=x)):
            call()
            check((x[:8] == 1).all(), "an array in the key")
    check(len(kernel.cache) == 3 and len(calls) == 6, f"keys of arrays: {list(kernel.cache)}")
    part = autotuner._key_part
    check(part([1, [2.0, "a"]]) == (1, (2.0, "a")) == part((1, (2.0, "a"))), "lists")
    check(part({"a": [1]}) == (("a", (1,)),) and part(tl.float16) == tl.float16, "others")
    check(part(np.int64(3)) == 3 != part(np.array(3)), "NumPy's numbers are no arrays")
    described = TensorDescriptor.from_tensor(np.zeros((16, 16), "f4"), [8, 8])
    check(part(described)[2:] == ((16, 16), (8, 8)), "a tensor descriptor")


def check_printing():
    out = io.StringIO()
    os.environ["NEREID_PRINT_AUTOTUNING"] = "1"
    kernel = nereid.autotune(blocks(64, 128), key=["n"])(fill)
    with contextlib.redirect_stdout(out):
        kernel[grid](np.zeros(33, "f4"), 33)
    del os.environ["NEREID_PRINT_AUTOTUNING"]
    text = out.getvalue()
    check("Autotuning kernel fill with config BLOCK: 64, num_warps: 4" in text, text)
    check("Triton autotuning for function fill,\nwith key as (33, 'float32'),\nfinished after"
          in text and "best config selected: BLOCK: " in text, text)


def check_interpreted():
    @nereid.jit(interpret=True)
    def slow(x, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, 1.0, mask=i < n)

    bench, calls = counting()
    x = np.zeros(100, "f4")
    kernel = nereid.autotune(blocks(64, 128), key=["n"], do_bench=bench)(slow)
    kernel[grid](x, 100)
    check((x == 1).all() and not calls and kernel.best_config is kernel.configs[0],
          "interpreted kernels are not measured")


def check_libraries():
    """Options that are dicts, as Triton's tutorial on libdevice passes them."""
    x, made = np.zeros(64, "f4"), len(fill._specializations)
    for libraries in ({"libdevice": "a.bc"}, {"libdevice": "a.bc"}, {}):
        fill[(1,)](x, 64, BLOCK=16, extern_libs=libraries)
    check(len(fill._specializations) == made + 2 and (x[:16] == 1).all(), "extern_libs")


def check_warmup():
    kernel = nereid.autotune(blocks(64, 128), key=["n"])(fill)
    x = np.zeros(40, "f4")
    compiled = kernel.warmup(x, 40, grid=(1,))
    check(len(compiled) == 2 and (x == 0).all(), "compiled, not launched")
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        told = nereid.autotune(blocks(64, 128), key=["n"], warmup=1, rep=2)(fill)
    check([w.category for w in caught] == [DeprecationWarning], "warmup and rep are deprecated")
    told[grid](x, 40)
    check((x == 1).all() and len(told.configs_timings) == 2, "but hold")


def check_estimates():
    """The configuration with the least predicted time; heuristics count, and nothing runs."""
    @nereid.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
    @nereid.jit
    def fill_or_fail(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        tl.static_assert(BLOCK < 4096, "a small block")
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, 1.0, mask=None if EVEN else i < n)

    def programs(meta):
        return (nereid.cdiv(meta["n"], meta["BLOCK"]),)

    x, n = np.zeros(100_000, "f4"), 100_000
    kernel = nereid.autotune(blocks(8192, 32, 1024), key=["n"])(fill_or_fail)
    guess = kernel.estimate(x, n, grid=programs, target="sm_90a")
    check(guess.config.kwargs == {"BLOCK": 1024} and "BLOCK: 1024" in str(guess), f"{guess}")
    check([other.config.kwargs["BLOCK"] for other in guess.others] == [32] and
          guess.others[0].us > guess.us, f"the others: {guess.others}")
    alone = fill_or_fail.estimate(x, n, BLOCK=1024, grid=programs, target="sm_90a")
    check(alone.us == guess.us and alone.config is None and not x.any(), f"one: {alone}")
    raises("none compiles", nereid.NereidError, lambda: nereid.autotune(
        blocks(8192), key=["n"])(fill_or_fail).estimate(x, n, grid=programs), "a small block")


# ---- beside Triton ----


class Recorder:
    """A kernel that writes down its calls."""

    def __init__(self, log, fail=()):
        self.log, self.fail, self.arg_names = log, fail, ["x", "n", "BLOCK"]
        self.fn = lambda x, n, BLOCK: None

    def run(self, *args, **kwargs):
        self.log.append(("run", args[1:], sorted((k, v) for k, v in kwargs.items() if k != "grid")))
        if kwargs["BLOCK"] in self.fail:
            raise self.fail[kwargs["BLOCK"]]

    def warmup(self, *args, **kwargs):
        self.log.append(("warmup", args[1:], kwargs["BLOCK"]))
        return kwargs["BLOCK"]


class Tensor:
    """What a tuner wants of a tensor."""

    dtype = "float32"

    def __init__(self, log):
        self.log = log

    def zero_(self):
        self.log.append("zero")

    def clone(self):
        self.log.append("clone")
        return self

    def copy_(self, other):
        self.log.append("copy")


def calls_of(library, out_of_resources, **options):
    """What a tuner of this library does in two calls."""
    log = []
    times = iter([3.0, 1.0, 2.0] * 2)

    def bench(call, quantiles):
        log.append(("bench", quantiles))
        call()
        return [next(times)] * 3

    def note(name):
        return lambda *args, **kwargs: log.append((name, sorted(args[0]), sorted(kwargs.items())))

    options = {k: note(k) if v is note else v for k, v in options.items()}
    configs = [library.Config({"BLOCK": b}, num_warps=b // 32,
                              pre_hook=note("config") if b == 128 else None)
               for b in (64, 128, 256)]
    failing = {64: out_of_resources(2, 1, "threads")} if options.pop("fails", False) else {}
    kernel = library.autotune(configs, key=["n"], do_bench=bench, **options)(Recorder(log, failing))
    for n in (10, 10, 20):
        kernel.run(Tensor(log), n, grid=(1,), warmup=False)
        log.append(str(kernel.best_config))
    log.append(kernel.warmup(Tensor(log), 10, grid=(1,)))
    log.append(sorted((key, str(config)) for key, config in kernel.cache.items()))
    return log


def check_triton():
    try:
        import triton
        import triton.testing
        from triton.runtime import autotuner as theirs
        from triton.runtime.errors import OutOfResources
    except ImportError:
        print("skipped: Triton is not installed")
        return
    if not triton.__version__.startswith("3.6."):
        print(f"skipped: Triton is {triton.__version__}, not 3.6")
        return
    from nereid import testing

    for name in ("Config", "Autotuner", "autotune", "Heuristics", "heuristics"):
        same_parameters(name, getattr(theirs, name), getattr(autotuner, name))
    for owner in ("Autotuner", "Config"):
        for name, value in vars(getattr(theirs, owner)).items():
            ours = getattr(getattr(autotuner, owner), name, None)
            if name[0] != "_" and name != "check_disk_cache":
                check(ours is not None, f"{owner}.{name} is missing")
                if inspect.isfunction(value):
                    same_parameters(f"{owner}.{name}", value, ours)
    for name in ("do_bench", "do_bench_cudagraph", "assert_close", "Benchmark", "perf_report",
                 "Mark", "nvsmi", "get_dram_gbps", "get_max_tensorcore_tflops",
                 "get_max_simd_tflops", "set_gpu_clock", "cuda_memcheck"):
        same_parameters(name, getattr(triton.testing, name), getattr(testing, name))
    same_parameters("Mark.run", triton.testing.Mark.run, testing.Mark.run)
    for options in ({}, {"reset_to_zero": ["x"]}, {"restore_value": ["x"]},
                    {"reset_to_zero": ["x"], "restore_value": ["x"]}, {"fails": True},
                    {"fails": True, "restore_value": ["x"]},
                    {"prune_configs_by": {"perf_model": lambda **k: k["BLOCK"], "top_k": 2}},
                    {"prune_configs_by": {"early_config_prune": lambda c, a, **k: c[1:]}}):
        want = calls_of(triton, OutOfResources, **options)
        found = calls_of(nereid, errors.OutOfResources, **options)
        differ = [pair for pair in zip(found, want) if pair[0] != pair[1]]
        check(found == want, f"calls with {options}: {differ[:1]}")
    for n in [*range(0, 70), 1023, 1024, 1025, 2**31, 2**40 + 1]:
        check(nereid.next_power_of_2(n) == triton.next_power_of_2(n), f"next_power_of_2({n})")
        for d in (1, 2, 3, 7, 64):
            check(nereid.cdiv(n, d) == triton.cdiv(n, d), f"cdiv({n}, {d})")
    tuner = nereid.autotune(blocks(64, 128), key=["n"])(fill)
    reference = triton.autotune([triton.Config({"BLOCK": 64})], key=["n"],
                                do_bench=lambda *a: 0)(triton.jit(fill.fn))
    absent = {"nargs"} | {n for n in vars(reference) if n.startswith("_")}
    for name in set(vars(reference)) - absent:
        check(hasattr(tuner, name), f"Autotuner has no attribute {name}")


def same_parameters(name, theirs, ours):
    def parameters(f):
        return [(p.name, None if p.default is p.empty else p.default, p.kind)
                for p in inspect.signature(f).parameters.values()]

    check(parameters(ours) == parameters(theirs),
          f"{name}: {parameters(ours)}, not {parameters(theirs)}")


for test in (check_config, check_choice, check_policy, check_doubt, check_same_code, check_derived,
             check_hooks,
             check_failing_hooks, check_pruning, check_failures, check_heuristics, check_records,
             check_threads, check_interruption, check_interrupted_compiling, check_quick_calls,
             check_keys, check_printing, check_interpreted, check_libraries, check_warmup,
             check_estimates, check_triton):
    test()
FOLDER.cleanup()
sys.exit(report())
