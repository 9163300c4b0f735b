#!/usr/bin/env python3
"""The golden tests of a room: the files beside a test say what it is (tests/README.md).

    tests/ROOM/golden.py [--update] [PATH...]     only tests whose path contains one of PATH

Every room's golden.py is a link to this file; tests/support/golden.py itself is about all rooms.  A
folder that is named like a driver beside it holds data of that driver, and no golden tests.
"""
# tests/run: users' compiler in conformance
import concurrent.futures, difflib, importlib, os, pathlib, re, shlex, shutil, signal
import subprocess, sys, tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
ROOM = pathlib.Path(__file__).absolute().parent
NEREID = os.path.abspath(os.environ.get("NEREID", TESTS.parent / "build/nereid"))
os.environ.setdefault("PYTHON", sys.executable)
os.environ.setdefault("NEREID_VERIFY", "1")
os.environ["PATH"] = ":".join([os.path.dirname(NEREID), os.environ["PATH"], "/usr/local/cuda/bin"])
EMITS = ("ast", "tile", "nest", "thread", "ptx", "c")
IRS = (".tile", ".nest", ".thread")
EXPECTED = {".ast", ".ptx", ".c", ".out", ".err", ".stdout", ".stderr", ".status"}
LIMIT_S = 600


def text(data):
    """Any bytes as text that stands for them alone: a test may be about a file that is no UTF-8."""
    return data.decode(errors="surrogateescape")


def header(path, word):
    """What follows `word:` in the comment lines that a test file begins with."""
    comments = re.match(r"(?:(?:#|//|;).*\n)*", path.read_text(errors="replace"))[0]
    return " ".join(re.findall(rf"(?m)^\W+{word}:(.*)$", comments))


def missing(path):
    """Why the test is skipped: it is slow, or needs a tool that this machine lacks; else None."""
    if os.environ.get("TESTS_QUICK") and header(path, "slow"):
        return "time: it is slow"
    for tool in header(path, "only").split():
        if not (os.path.exists("/dev/nvidiactl") if tool == "cuda" else shutil.which(tool)):
            return tool


def for_cpu(command):
    """The same for `cpu:8`, whatever GPU it names."""
    at = command.index("--target") if "--target" in command else len(command)
    return command[:at] + command[at + 2:] + ["--target", "cpu:8"]


def checks(path):
    """The (command, {expected file: stdout, stderr or status}) pairs of one test file."""
    base, args = path.with_suffix(""), shlex.split(header(path, "nereid"))
    expected = lambda suffix: pathlib.Path(f"{base}{suffix}")
    nereid = [NEREID, "compile"]
    if path.suffix == ".cmd":
        kinds = {expected("." + kind): kind for kind in ("stdout", "stderr", "status")}
        yield ["sh", "-c", path.read_text()], kinds
    elif path.suffix in (".py", ".args"):
        own = path.suffix == ".py"
        nereid += [path.name] + args if own else shlex.split(path.read_text(), comments=True)
        for kind in (k for k in EMITS if expected("." + k).exists()):
            command = for_cpu(nereid) if kind == "c" else nereid
            yield command + ["--emit", kind], {expected("." + kind): "stdout"}
        if expected(".err").exists():
            yield nereid, {expected(".err"): "stderr"}
    elif not expected(".py").exists():
        passes = ["--run-passes", path.parent.name] if path.parent.parent.name == "passes" else []
        for suffix, kind in ((".out", "stdout"), (".err", "stderr")):
            if expected(suffix).exists():
                yield nereid + [path.name] + passes + args, {expected(suffix): kind}


def compare(file, kind, got, update):
    """The failure text of one stream, empty if it is as expected."""
    want = text(file.read_bytes()) if file.exists() else "0\n" if kind == "status" else ""
    if got == want:
        return ""
    if update:
        file.write_bytes(got.encode(errors="surrogateescape"))
        return ""
    diff = difflib.unified_diff(want.splitlines(1), got.splitlines(1), str(file), "got")
    return "".join(line if line.endswith("\n") else line + "\n" for line in diff)


ID = re.compile(r"(?m) \[[EWNH]_[A-Z0-9_]+\]$")
MESSAGE = re.compile(r"(?m)^(?:nereid: |  )?(?:[^\s:]+(?::\d+)*: )?"
                     r"(?:error|warning|note|hint): .*$")


def without_ids(got):
    """A stream as expected texts have it, and its messages that have no id."""
    nameless = [line for line in MESSAGE.findall(got) if not ID.search(line)]
    return ID.sub("", got), nameless


def ended(command, folder, tmp, shows_ids):
    """Status and streams of a command; all that it started ends with it."""
    own = {"TMP": tmp} | ({} if shows_ids else {"NEREID_DIAGNOSTICS": "ids"})
    process = subprocess.Popen(command, cwd=folder, env=os.environ | own,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    try:
        streams = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        streams = process.communicate()
    return process.returncode, *map(text, streams)


def run(test):
    path, command, kinds, update = test
    with tempfile.TemporaryDirectory() as tmp:
        shows_ids = "diagnostics" in text(path.read_bytes()).lower()
        status, out, err = ended(command, path.parent, tmp, shows_ids)
    nameless = []
    if not shows_ids:
        (out, _), (err, nameless) = without_ids(out), without_ids(err)
    got = {"stdout": out, "stderr": err, "status": f"{status}\n"}
    wanted = 1 if "stderr" in kinds.values() else 0
    bad = status < 0 or status >= 126 if path.suffix == ".cmd" else status != wanted
    expects_one = any("internal error" in text(f.read_bytes()) for f in kinds if f.exists())
    crashed = "Segmentation" in got["stderr"] or "internal error" in got["stderr"]
    if bad or (crashed and not expects_one):
        problem = f"status {status}, expected {wanted}\n{got['stderr']}"
    else:
        problem = "".join(compare(f, kind, got[kind], update) for f, kind in kinds.items())
        problem += "".join(f"a message without an id: {line}\n" for line in nameless)
    name = path.name if path.suffix == ".cmd" else shlex.join(["nereid"] + command[1:])
    return problem and f"FAIL {path.parent.relative_to(TESTS)}/: {name}\n{problem}"


def own_cache(cache, tests):
    """Neither a cache that others write at the same time nor the user's records decide anything.
    $MEASURED is a cache with this machine's speed alone, which takes a second to measure."""
    os.environ.setdefault("NEREID_CACHE_DIR", cache)
    if any("$MEASURED" in word for _, command, *_ in tests for word in command):
        sys.path.append(str(TESTS / "support"))
        os.environ["MEASURED"] = importlib.import_module("tuner").measured_home()


def files():
    """All files but those of other drivers."""
    for folder, folders, names in os.walk(TESTS if ROOM.name == "support" else ROOM):
        others = {"unit", "fuzz", "models", "support", "gpu"}
        folders[:] = [n for n in folders if f"{n}.py" not in names and n not in others]
        yield from (pathlib.Path(folder, name) for name in names)


def main():
    update, only = "--update" in sys.argv, [a for a in sys.argv[1:] if not a.startswith("--")]
    tests, skipped = [], {}
    paths = [p for p in files() if any(o in str(p.relative_to(TESTS)) for o in only or [""])]
    unused = {path for path in paths if path.suffix in EXPECTED}
    for path in paths:
        if path.suffix in (".py", ".args", ".cmd") + IRS:
            for command, kinds in checks(path):
                unused -= {path, *kinds}
                lacks = missing(path)
                if lacks:
                    skipped[lacks] = skipped.get(lacks, 0) + 1
                else:
                    tests.append((path, command, kinds, update))
    tests.sort(key=lambda test: test[0])
    with (tempfile.TemporaryDirectory() as cache,
          concurrent.futures.ThreadPoolExecutor(2) as pool):
        own_cache(cache, tests)
        failures = [text for text in pool.map(run, tests) if text]
    failures += [f"FAIL {path.relative_to(TESTS)}: no test expects it\n" for path in sorted(unused)]
    sys.stdout.reconfigure(errors="backslashreplace")
    print("".join(failures), end="")
    for tool, count in skipped.items():
        print(f"{count} skipped: no {tool}")
    print(f"{len(tests) + len(unused) - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


sys.exit(main())
