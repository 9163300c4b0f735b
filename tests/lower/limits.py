#!/usr/bin/env python3
"""Work and memory of a compilation grow no faster than the kernel.

    limits.py                                 families of sources at n and 2n: steps are compared
    limits.py --table [--scale S] [NAME...]   at n, 2n and 4n, times S: time, memory, steps

A family is a kernel that grows with n in one respect: lines, loops, depth, carried values, calls.
Steps are counted by the compiler (NEREID_LOG=compile), so they are the same on every machine.
"""
import os, pathlib, re, resource, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
TARGETS = {"cpu:8": "c", "sm_90a": "ptx"}
HEAD = "import triton\nimport triton.language as tl\n"
BEGIN = "@triton.jit\ndef k(x, o, n):\n    i = tl.arange(0, 64)\n    a = tl.load(x + i)\n"
END = "    tl.store(o + i, a)\n"
# Twice the kernel takes this many times the steps at most: 4 would be quadratic, and passes that
# look back over a window are a little more than linear until the kernel fills it.
MOST_GROWTH = 3
FAMILIES = {}


def family(n):
    def add(lines):
        FAMILIES[lines.__name__] = n, lines
        return lines
    return add


def source(lines, before=""):
    return HEAD + before + BEGIN + "".join(f"    {line}\n" for line in lines) + END


@family(400)
def long_body(n):
    return source(f"a = a * {1 + j % 7}.5 + {j % 13}.25" for j in range(n))


@family(200)
def constants(n):
    return source([f"v{j} = a * {j}.5" for j in range(n)] + [f"a += v{j}" for j in range(n)])


@family(100)
def live_loads(n):
    return source([f"v{j} = tl.load(x + i + {j})" for j in range(n)] +
                  [f"a += v{j}" for j in range(n)])


@family(100)
def ifs(n):
    return source(line for j in range(n) for line in (f"if n > {j}:", f"    a = a + {j}"))


@family(40)
def nested_ifs(n):
    return source([" " * j + f"if n > {j}:" for j in range(n)] + [" " * n + "a = a + 1"])


@family(80)
def loops(n):
    return source(line for j in range(n) for line in
                  (f"for q{j} in range(n):", f"    a = a + tl.load(x + i + q{j} * {j})"))


@family(80)
def whiles(n):
    return source(line for j in range(n) for line in
                  (f"m{j} = n", f"while m{j} > 0:", f"    m{j} -= 1", f"    a = a + {j}"))


@family(20)
def nested_loops(n):
    lines = ["c = 0"]
    for j in range(n):
        lines += [" " * j + f"for q{j} in range(n):", " " * j + f" c += q{j}"]
    return source(lines + [" " * n + "a += tl.load(x + i + c) * tl.sum(a)"])


@family(100)
def carried(n):
    return source([f"v{j} = a + {j}" for j in range(n)] + ["for q in range(n):"] +
                  [f"    v{j} = v{j} * 1.5 + q" for j in range(n)] +
                  [f"a += v{j}" for j in range(n)])


@family(40)
def loops_by_values(n):
    lines = [f"v{j} = a + {j}" for j in range(16)]
    for k in range(n):
        lines += [f"for q{k} in range(n):"] + [f"    v{j} = v{j} + {k}" for j in range(16)]
    return source(lines + [f"a += v{j}" for j in range(16)])


@family(40)
def ifs_by_values(n):
    lines = [f"v{j} = a + {j}" for j in range(16)]
    for k in range(n):
        lines += [f"if n > {k}:"] + [f"    v{j} = v{j} + {k}" for j in range(16)]
    return source(lines + [f"a += v{j}" for j in range(16)])


@family(150)
def calls(n):
    return source((f"a = f(a, {j}.5)" for j in range(n)),
                  "@triton.jit\ndef f(a, b):\n    return a * b + 1\n")


@family(40)
def call_depth(n):
    helpers = "@triton.jit\ndef f0(a):\n    return a + 1\n"
    for j in range(1, n):
        helpers += f"@triton.jit\ndef f{j}(a):\n    return f{j - 1}(a) * 1.5\n"
    return source([f"a = f{n - 1}(a)"], helpers)


@family(150)
def unrolled(n):
    return source([f"for j in tl.static_range({n}):", "    a = a * 1.5 + j"])


@family(40)
def parentheses(n):
    return source(["a = " + "(" * n + "a" + " + 1)" * n])


@family(60)
def reductions(n):
    return source(f"a = a - tl.sum(a * {j})" for j in range(n))


@family(40)
def scans(n):
    return source(f"a = tl.cumsum(a * {j}, 0)" for j in range(n))


@family(4)
def sorts(n):
    return source(f"a = tl.sort(a * {j})" for j in range(n))


@family(60)
def atomics(n):
    return source(f"a = a + tl.atomic_add(o + i + {j}, a)" for j in range(n))


@family(100)
def stores(n):
    return source(f"tl.store(o + i + {j * 64}, a + {j})" for j in range(n))


@family(60)
def loads_and_stores(n):
    return source(line for j in range(n) for line in
                  (f"b = tl.load(x + i + n * {j})", f"tl.store(x + i * {j}, a + b)"))


@family(10)
def dots(n):
    return source(["b = tl.reshape(tl.broadcast_to(a[:, None], (64, 64)), (64, 64))"] +
                  ["b = tl.dot(b.to(tl.float16), b.to(tl.float16))"] * n + ["a = tl.sum(b, 1)"])


@family(100)
def pointers(n):
    return source([f"p{j} = x + i * {j + 1}" for j in range(n)] + ["for q in range(n):"] +
                  [line for j in range(n) for line in
                   (f"    a += tl.load(p{j})", f"    p{j} += 64")])


@family(100)
def kernels(n):
    return HEAD + "".join((BEGIN + END).replace("def k(", f"def k{j}(") for j in range(n)) + \
        BEGIN + END


@family(2000)
def comments(n):
    return HEAD + "# comment\n" * n + BEGIN + "    # inner\n" * n + END


@family(300)
def configurations(n):
    configs = ", ".join(f"triton.Config({{}}, num_warps={2 ** (j % 4)})" for j in range(n))
    return HEAD + f"@triton.autotune(configs=[{configs}], key=['n'])\n" + BEGIN + END


def bound():
    """Far above the limits of a compilation, so that a failure ends."""
    if "NEREID_PRELOAD" not in os.environ:  # sanitizers reserve the whole address space
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def compiled(path, target):
    """Status, seconds of CPU time, MiB at most, steps, messages."""
    command = [NEREID, "compile", f"{path}:k", "--sig", "x=*fp32,o=*fp32,n=i32", "--target", target,
               "--emit", TARGETS[target], "-o", os.devnull]
    environment = {**os.environ, "NEREID_LOG": "compile"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment,
                               preexec_fn=bound)
    messages = process.stderr.read()
    _, status, use = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    steps = re.search(r"nereid: compile: .*; (\d+) steps", messages)
    return (process.returncode, use.ru_utime + use.ru_stime, use.ru_maxrss >> 10,
            int(steps[1]) if steps else 0, messages)


def measure(folder, name, n, target):
    path = pathlib.Path(folder, f"{name}.py")
    path.write_text(FAMILIES[name][1](n))
    return compiled(path, target)


def test_growth(folder, name):
    n = FAMILIES[name][0]
    for target in TARGETS:
        status, _, _, one, messages = measure(folder, name, n, target)
        again, _, _, two, _ = measure(folder, name, 2 * n, target)
        tally.check(status == again == 0 and one, f"{name} for {target}: {messages}")
        tally.check(0 < two <= MOST_GROWTH * one,
                    f"{name} for {target}: {one} steps at {n}, {two} at {2 * n}")


def test_exponential(folder):
    """Helpers that call the one before twice: 2^40 calls are refused, at the line of one."""
    helpers = "@triton.jit\ndef f0(a):\n    return a + 1\n"
    for j in range(1, 40):
        helpers += f"@triton.jit\ndef f{j}(a):\n    return f{j - 1}(f{j - 1}(a))\n"
    path = pathlib.Path(folder, "fan.py")
    path.write_text(source(["a = f39(a)"], helpers))
    for target in TARGETS:
        status, seconds, mib, _, messages = compiled(path, target)
        error = re.search(r"fan\.py:\d+:\d+: error: .* (?:takes more than|exceeds)", messages)
        tally.check(status == 1 and error, f"fan for {target}: {messages}")
        tally.check(status == 1 and seconds < 10 and mib < 1100,
                    f"fan for {target}: status {status}, {seconds:.1f} s, {mib} MiB")


def test_memory(folder):
    """Thousands of values that a loop carries: some 25 KiB each."""
    for target in TARGETS:
        status, _, mib, _, messages = measure(folder, "carried", 4000, target)
        tally.check(status == 0, f"4000 carried values for {target}: {messages}")
        most = 600 if "NEREID_PRELOAD" in os.environ else 150  # sanitizers keep what is freed
        tally.check(status == 0 and mib < most,
                    f"4000 carried values for {target}: status {status}, {mib} MiB")


def table(folder, names, scale):
    for name in names or FAMILIES:
        for target in TARGETS:
            row = []
            for n in (FAMILIES[name][0] * scale * m for m in (1, 2, 4)):
                status, seconds, mib, steps, messages = measure(folder, name, n, target)
                what = f"{seconds:.2f} s {mib} MiB {steps / 1e6:.2f} M" if not status else \
                    f"{seconds:.2f} s {mib} MiB: " + \
                    "".join(re.findall(r"error: (.{0,60})", messages)[:1])
                row.append(f"{n}: {what}")
            print(f"{name:18}{target:8}" + " | ".join(row), flush=True)


def main():
    arguments = sys.argv[1:]
    scale = 1
    if "--scale" in arguments:
        at = arguments.index("--scale")
        scale = int(arguments[at + 1])
        del arguments[at:at + 2]
    with tempfile.TemporaryDirectory() as folder:
        if arguments[:1] == ["--table"]:
            table(folder, arguments[1:], scale)
            return 0
        for name in arguments or FAMILIES:
            test_growth(folder, name)
        test_exponential(folder)
        test_memory(folder)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
