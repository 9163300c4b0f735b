#!/usr/bin/env python3
"""-v and NEREID_LOG: the lines of each topic, as text and as JSON, words that name none, and that
nothing is written where the log is off."""
import ctypes, json, os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import tally  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
KERNEL = ROOT / "examples/kernels/vector_add.py"
RUN = ["run", str(KERNEL), "x_ptr=ones:f32[100]", "y_ptr=ones:f32[100]", "out_ptr=empty:f32[100]",
       "n=100", "--grid", "cdiv(n, BLOCK)", "--device", "cpu"]
MODEL = ["graph", str(ROOT / "tests/models/mlp/model.pt2"),
         str(ROOT / "tests/models/mlp/input_0.npy"), "--device", "interp"]
INFO = {"compile", "tune", "launch", "graph", "cache"}


def run(arguments, folder, **env):
    env = {**os.environ, "NEREID_CACHE_DIR": str(folder), **env}
    done = subprocess.run([NEREID, *arguments], capture_output=True, text=True, env=env)
    tally.check(done.returncode == 0, f"{arguments}: {done.stderr}")
    return done.stderr


def topics(text):
    return {re.match(r"nereid: (\w+): ", line)[1] for line in text.splitlines()}


def matches(pattern, text, what):
    tally.check(re.search(rf"(?m)^nereid: {pattern}$", text), f"{what}: {text}")


def test_cpu(folder):
    one = [*RUN, "-D", "BLOCK=64"]
    tally.check(run(one, folder) == "", "nothing is said without -v")
    run(["cache", "clear"], folder)
    text = run([*one, "-v"], folder)
    ms = r"\d+\.\d ms"
    stages = rf"parse {ms}, sema {ms}, passes {ms}, code {ms}; \d+ steps"
    matches(rf"compile: vector_add for cpu\S*: {stages}", text, "stages")
    matches("cache: miss: library vector_add", text, "a miss")
    matches(r"cache: put: library vector_add, \d+ bytes", text, "a put")
    matches(r"compile: library vector_add for cpu\S*: by the C compiler, \d+ ms", text, "compiled")
    matches("launch: vector_add on cpu: grid 2 x 1 x 1, variant 1 of 1", text, "a launch")
    text = run([*one, "--verbose"], folder)
    matches("cache: hit: library vector_add", text, "a hit")
    matches(r"compile: library vector_add for cpu\S*: from the cache, \d+ ms", text, "not compiled")
    text = run(one, folder, NEREID_LOG="debug", NEREID_CACHE_DIR="")
    matches(r"tool: \S+ .*-shared.*: status 0, \d+ ms", text, "the C compiler")
    beyond = r"not put, beyond the limit: library vector_add, \d+ bytes"
    for block, limit, line in ((16, "20K", r"evicted: 1 entries, \d+ bytes"), (32, "1K", beyond)):
        text = run([*RUN, "-D", f"BLOCK={block}"], folder, NEREID_LOG="cache",
                   NEREID_CACHE_LIMIT=limit)
        matches("cache: " + line, text, "the limit")
        tally.check(topics(text) == {"cache"}, f"one topic alone: {text}")


def test_tune(folder):
    tune = ["tune", *RUN[1:], "--space", "BLOCK=32,64"]
    matches(r"tune: vector_add: BLOCK=\d+, [\d.]+ us \(measured\), the best of 2",
            run([*tune, "-v"], folder), "what was tuned")
    matches(r"tune: vector_add: BLOCK=\d+, [\d.]+ us \(records\), the best of 2",
            run([*RUN, "-v"], folder), "what records have")


def test_interp(folder):
    kernel = ["compile", str(KERNEL), "--sig", "x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32",
              "-D", "BLOCK=64", "-o", os.devnull]
    tally.check(topics(run(kernel, folder, NEREID_LOG="info")) == {"compile"}, "a level")
    text = run(kernel, folder, NEREID_LOG="debug,-compile")
    tally.check(topics(text) == {"pass"}, f"a topic that is taken away: {text}")
    matches(r"pass: schedule, \d\.\d+ ms", text, "a pass")
    matches(r"pass: \w+, \d\.\d+ ms \(unchanged\)", text, "a pass without effect")
    text = run([*MODEL, "-v"], folder)
    tally.check(topics(text) <= INFO and {"graph", "launch", "compile"} <= topics(text), text)
    for stage in ("read", "passes", "fuse", "compile kernels"):
        matches(rf"graph: {stage}, \d+\.\d ms", text, f"the stage {stage}")
    for off in ("off", "0", "none", "", "info,off", "debug,-all", ","):
        tally.check(run(kernel, folder, NEREID_LOG=off) == "", f"NEREID_LOG={off!r}")
    for same in ("info", "1", "compile", "off,compile", " compile , cache"):
        tally.check(topics(run(kernel, folder, NEREID_LOG=same)) == {"compile"}, f"{same!r}")
    # A wrong word is told once, however many objects read the variable.
    text = run(MODEL, folder, NEREID_LOG="chache,graph")
    tally.check(text.count("warning") == 1, f"one warning: {text}")
    tally.check("`chache` (did you mean cache?)" in text, f"a suggestion: {text}")
    tally.check(topics(text) == {"warning", "graph"}, f"the other words hold: {text}")
    text = run(MODEL, folder, NEREID_LOG="x" * 5000)
    tally.check(text.count("warning") == 1 and "there are off, info, debug" in text, text)


def test_json(folder):
    text = run([*MODEL, "--diagnostics", "json"], folder, NEREID_LOG="debug,what")
    objects = [json.loads(line) for line in text.splitlines()]
    severities = {o["severity"] for o in objects}
    tally.check(severities == {"log", "warning"}, f"severities: {severities}")
    tally.check({o.get("topic") for o in objects} >= {"graph", "pass", None}, "topics")
    tally.check(all(isinstance(o["message"], str) and o["notes"] == [] for o in objects), "objects")


def test_library(folder):
    """The library of a program that is not ours: a warning once, and lines of a device."""
    code = ("import ctypes, sys; l = ctypes.CDLL(sys.argv[1]); d = ctypes.c_void_p();"
            "[l.nereid_device_open(ctypes.byref(d), b'interp') for i in range(3)]")
    env = {**os.environ, "NEREID_LOG": "lunch", "NEREID_CACHE_DIR": str(folder)}
    preload = os.environ.get("NEREID_PRELOAD")
    if preload:
        env.update(LD_PRELOAD=preload, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([sys.executable, "-c", code, str(BUILD / "libnereid.so")],
                          capture_output=True, text=True, env=env)
    tally.check(done.stderr == "nereid: warning: NEREID_LOG has no level or topic `lunch` "
                               "(did you mean launch?)\n", f"the library: {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    if shutil.which("cc"):
        test_cpu(folder)
        test_tune(folder)
    else:
        print("2 skipped: no cc")
    test_interp(folder)
    test_json(folder)
    test_library(folder)
sys.exit(tally.report())
