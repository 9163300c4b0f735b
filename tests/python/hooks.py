#!/usr/bin/env python3
"""Hooks of launches and of compilations, NVTX ranges, knobs, and lines of the Python source."""
import contextlib, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
FOLDER = tempfile.TemporaryDirectory()  # without records of earlier processes
os.environ["NEREID_CACHE_DIR"] = FOLDER.name
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import nereid.language as tl
import numpy as np
import tally
from nereid import _nereid, knobs


def check(what, ok, found=None):
    tally.check(ok, what if found is None else f"{what}: {found}")


def kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@contextlib.contextmanager
def hooked(chain, hook):
    chain.add(hook)
    try:
        yield
    finally:
        chain.remove(hook)


@nereid.jit
def chosen(x, pair, T: tl.constexpr, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), (pair[0] + pair[1][0]).to(T))


def check_preload():
    """A kind of arguments as text compiles the same kernel, here and in another process."""
    texts = []
    knobs.runtime.jit_cache_hook = lambda **about: texts.append(
        about["compile"]["specialization_data"])
    try:
        x = np.zeros(16, np.float32)
        made = chosen.warmup(x, (2, (tl.constexpr(3),)), tl.float32, B=16, num_warps=2, grid=(1,))
        odd = nereid.jit(apply)
        odd.warmup(x, print_function, B=16, grid=(1,))
    finally:
        knobs.runtime.jit_cache_hook = None
    again = chosen.preload(texts[0])
    check("the same kernel", again.hash == made.hash and again.metadata.num_warps == 2, again)
    again[(1,)](x, (2, (tl.constexpr(3),)), tl.float32, 16)
    check("it runs", (x == 5).all(), x)
    for text, kind, part in ((texts[0].replace("chosen", "other"), RuntimeError, "is for"),
                             (texts[1], ValueError, "no specialization_data"),
                             ("[1]", ValueError, "no specialization_data"),
                             (None, ValueError, "no specialization_data")):
        try:
            chosen.preload(text)
            check(f"{part}: nothing is raised", False)
        except kind as error:
            check(part, part in str(error), error)


@nereid.jit
def print_function(x):
    return x + 1


def apply(x, F: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, F(tl.load(x + i)))


def check_launch_hooks():
    asked = []

    def metadata(grid, compiled, args):
        asked.append((grid, compiled.num_warps, sorted(args), args["B"]))
        return {"flops": 16}

    launched = nereid.jit(kernel, launch_metadata=metadata)
    x, seen = np.zeros(16, np.float32), []
    runtime = knobs.runtime

    def enter(m):
        seen.append(("enter", x[0], m))

    with hooked(runtime.launch_enter_hook, enter), \
            hooked(runtime.launch_exit_hook, lambda m: seen.append(("exit", x[0], m))):
        launched[(2,)](x, 16, B=8, num_warps=2)
        launched[(0,)](x, 16, B=8, num_warps=2)
        launched.warmup(x, 16, B=8)
    check("before and after a launch", [s[:2] for s in seen] == [("enter", 0), ("exit", 1)], seen)
    check("metadata is computed when it is asked for", asked == [])
    found = seen[0][2].get()
    check("metadata", (found["name"], found["stream"], found["flops"]) == ("kernel", 0, 16), found)
    check("launch_metadata's arguments", asked == [((2, 1, 1), 2, ["B", "n", "x"], 8)], asked)
    launched[(2,)](x, 16, B=8)
    check("hooks that were removed", len(seen) == 2)
    with runtime.scope():
        runtime.launch_enter_hook = enter
        launched[(2,)](x, 16, B=8)
    launched[(2,)](x, 16, B=8)
    check("a function in place of a chain, until its scope ends", len(seen) == 3)
    order = []
    with contextlib.ExitStack() as stack:
        for i in range(2):
            for name in ("enter", "exit"):
                chain = getattr(runtime, f"launch_{name}_hook")
                stack.enter_context(hooked(chain, lambda m, s=f"{name}{i}": order.append(s)))
        launched[(2,)](x, 16, B=8)
    check("the order of hooks", order == ["enter0", "enter1", "exit1", "exit0"], order)
    before = []
    launched.add_pre_run_hook(lambda *args, **kwargs: before.append((len(args), kwargs)))
    launched[(2,)](x, 16, B=8)
    check("a hook before runs", before == [(2, {"B": 8})], before)


def check_compile_hooks():
    calls = []
    compiled = nereid.jit(kernel)
    x = np.zeros(16, np.float32)

    def before(**about):
        calls.append(("before", about))
        return refuse

    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = before
        knobs.runtime.jit_post_compile_hook = lambda **about: calls.append(("after", about))
        refuse = True
        check("a hook that wants no kernel", compiled[(2,)](x, 16, B=8) is None and not x.any())
        refuse = False
        compiled[(2,)](x, 16, B=8)
        compiled[(2,)](x, 16, B=8)
        compiled.warmup(np.float32([1]), 3, B=8)
    check("once a kernel", [c[0] for c in calls] == ["before", "before", "after"] * 1 +
          ["before", "after"], [c[0] for c in calls])
    about = calls[1][1]
    check("what hooks get", about["fn"].jit_function is compiled and not about["is_manual_warmup"]
          and calls[3][1]["is_manual_warmup"] and about["already_compiled"] is False)
    info = about["compile"]
    check("a signature", info["signature"] == {"x": "*fp32", "n": "i32", "B": "constexpr"}, info)
    check("constants and divisibility", info["constants"] == {(2,): 8} and
          (1,) in info["configs"][0], info)
    check("a text", about["repr"].startswith("kernel[num_warps=4, ") and "n: i32" in about["repr"])


def check_tuning_hooks():
    """The hooks of compiling are called for a tuning's configurations, which they may refuse."""
    calls = []
    tuned = nereid.autotune([nereid.Config({"B": b}) for b in (8, 16, 32)], key=["n"],
                            cache_results=False)(nereid.jit(kernel))
    x = np.zeros(64, np.float32)

    def before(**about):
        calls.append(about["compile"]["constants"][2,])
        return calls[-1] == 16

    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = before
        knobs.runtime.jit_post_compile_hook = lambda **about: calls.append("after")
        tuned[lambda meta: (-(-64 // meta["B"]),)](x, 64)
    check("hooks of a tuning", calls == [8, 16, 32, "after", "after"], calls)
    times = {c.kwargs["B"]: t[0] for c, t in tuned.configs_timings.items()}
    check("what a hook refuses", times[16] == float("inf") > max(times[8], times[32]), times)


def check_scratch():
    """set_allocator takes functions, whose failures are those of launches that need memory."""
    nereid.set_allocator(lambda size, alignment, stream: np.zeros(size, np.int8))
    x = np.zeros(16, np.float32)
    nereid.jit(kernel)[(2,)](x, 16, B=8)
    nereid.set_allocator(None)
    check("a launch that needs no memory", x.all())
    try:
        nereid.set_allocator(3)
        check("an allocator that is no function", False)
    except TypeError as error:
        check("an allocator that is no function", "is a function" in str(error), error)


class FakeNvtx:
    def __init__(self):
        self.ranges = []

    def range_push(self, name):
        self.ranges.append(name)

    def range_pop(self):
        self.ranges.append("")


def check_nvtx():
    fake = FakeNvtx()
    knobs._nvtx._looked, knobs._nvtx._library = True, fake
    launched, x = nereid.jit(kernel), np.zeros(16, np.float32)
    with knobs.runtime.scope():
        knobs.runtime.nvtx = True
        launched[(2,)](x, 16, B=8)
    launched[(2,)](x, 16, B=8)
    check("NVTX ranges, while they are on", fake.ranges == ["kernel", ""], fake.ranges)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        library = pathlib.Path(folder, "nvtx.c")
        library.write_text("#include <stdio.h>\nint nvtxRangePushA(const char *n) "
                           "{ printf(\"push %s\\n\", n); return 0; }\n"
                           "int nvtxRangePop(void) { puts(\"pop\"); fflush(stdout); return 0; }\n")
        built = pathlib.Path(folder, "libnvToolsExt.so.1")
        made = subprocess.run(["cc", "-shared", "-fPIC", "-o", built, library])
        if made.returncode:
            print("1 skipped: no C compiler")
            return
        code = (f"import sys; sys.path[:0] = {[str(ROOT / 'tests' / 'python')]!r}\n"
                "import hooks, nereid, numpy as np\n"
                "nereid.jit(hooks.kernel)[(1,)](np.zeros(16, np.float32), 16, B=8)\n")
        run = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                             env={**os.environ, "NEREID_NVTX": "1", "LD_LIBRARY_PATH": folder})
        check("NEREID_NVTX=1", run.stdout == "push kernel\npop\n", run.stdout + run.stderr[-500:])


def check_knobs():
    with knobs.cache.scope():
        knobs.cache.dir = "nowhere"
        check("a knob's variable", os.environ["NEREID_CACHE_DIR"] == "nowhere")
    check("a scope's end", os.environ.get("NEREID_CACHE_DIR") != "nowhere")
    os.environ["TRITON_INTERPRET"] = "1"
    check("Triton's variables do not count", knobs.runtime.interpret is False)
    del os.environ["TRITON_INTERPRET"]
    os.environ["NEREID_INTERPRET"] = "1"
    check("ours do", knobs.runtime.interpret is True and nereid.jit(kernel).interpret)
    del os.environ["NEREID_INTERPRET"]
    knobs.runtime.interpret = True
    check("assigned", nereid.jit(kernel).interpret and os.environ["NEREID_INTERPRET"] == "1")
    knobs.runtime.interpret = False
    knobs.runtime.interpret = knobs.env
    os.environ.pop("NEREID_INTERPRET", None)
    os.environ.pop("TRITON_INTERPRET", None)
    check("back to the variable", not nereid.jit(kernel).interpret)
    code = ("import nereid; nereid.install_as_triton(); import triton, os\n"
            "print(triton.knobs.runtime.interpret, triton.knobs.cache.dir, "
            "triton.knobs.autotuning.print)")
    run = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, env={
        **{k: v for k, v in os.environ.items() if k != "NEREID_CACHE_DIR"},
        "PYTHONPATH": str(BUILD / "python"), "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": "/x",
        "TRITON_PRINT_AUTOTUNING": "1"})
    check("Triton's variables count under the drop-in", run.stdout == "True /x True\n",
          run.stdout + run.stderr)


def outer():
    @nereid.jit
    def inner(x, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(x + i, i, mask=i < n)  # the line that is looked for

    return inner


def check_lines():
    from nereid.compiler import Plan

    for function, word in ((outer(), "looked for"), (nereid.jit(kernel), "tl.store(x + i, tl.l")):
        plan = Plan(function, 1, 0, [("x", "*fp32:16", None), ("n", "i32", None), ("B", None, 8)],
                    {})
        ptx = _nereid.emit(*plan._request, kind=_nereid.KIND_ptx, target="sm_90a", **plan._common)
        lines = pathlib.Path(__file__).read_text().split("\n")
        here = 1 + next(i for i, line in enumerate(lines)
                        if word in line and "function, word" not in line)
        check(f"the source's file in PTX of {function}", f'.file 1 "{__file__}"' in ptx)
        check(f"line {here} in PTX of {function}", f".loc 1 {here} " in ptx)


if __name__ == "__main__":
    for part in (check_launch_hooks, check_compile_hooks, check_preload, check_tuning_hooks,
                 check_scratch, check_nvtx, check_knobs, check_lines):
        part()
    sys.exit(tally.report())
