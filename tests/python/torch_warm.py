#!/usr/bin/env python3
"""A second process of torch.compile(backend="nereid") takes executables from the cache: the same
values, and nothing is compiled; other sizes, other options, damaged entries and those of another
build are compiled."""
import json, os, pathlib, shutil, signal, sqlite3, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
except ImportError:
    torch = None


def child(rows, options, taken=None, left=None):
    """Trains one step; says how far it is from PyTorch, of each executable if it was stored, and
    how many graphs PyTorch's cache had.  `taken` and `left` are files of artifacts."""
    import nereid.torch_backend as backend
    from torch._dynamo.utils import counters

    if taken:
        torch.compiler.load_cache_artifacts(pathlib.Path(taken).read_bytes())
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32),
                                torch.nn.Linear(32, 4))
    x, results = torch.randn(rows, 16), []
    for run in (torch.compile(model, backend="nereid", options=options), model):
        model.zero_grad()
        loss = run(x).square().sum()
        loss.backward()
        results.append([loss.detach(), *(p.grad.clone() for p in model.parameters())])
    far = max((a - b).abs().max().item() for a, b in zip(*results))
    stored = [segment.executable.info["stored"] for program in backend._programs
              for segment in program.segments]
    if left:
        pathlib.Path(left).write_bytes(torch.compiler.save_cache_artifacts()[0])
    hits = counters["aot_autograd"]["autograd_cache_hit"]
    print(json.dumps({"far": far, "stored": stored, "hits": hits}))


def run(cache, rows=8, files=(), torch_cache="torch", build=BUILD, **options):
    words = [sys.executable, __file__, "child", str(rows), json.dumps(options), *map(str, files)]
    environment = {**os.environ, "NEREID_CACHE_DIR": str(cache),
                   "NEREID_BUILD": str(build),
                   "TORCHINDUCTOR_CACHE_DIR": str(cache / torch_cache)}
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True,
                            stderr=None if "--verbose" in sys.argv else subprocess.DEVNULL)


def result(process):
    out, _ = process.communicate()
    return json.loads(out.splitlines()[-1]) if process.returncode == 0 else {"far": 9, "stored": []}


def entries(cache):
    """How many entries of each kind the cache has."""
    with sqlite3.connect(cache / "code-2.db") as database:
        return dict(database.execute("SELECT kind, count(*) FROM code GROUP BY kind"))


def change(cache, kind, column, value):
    with sqlite3.connect(cache / "code-2.db") as database:
        database.execute(f"UPDATE code SET {column} = {value} WHERE kind = '{kind}'")


def check_damage(cache):
    """Entries that are not as they were written are compiled, and written once more."""
    bit = "CAST(substr(data, 1, 200) || x'5a' || substr(data, 202) AS BLOB)"
    for kind, column, value in (("executable", "data", "zeroblob(length(data))"),
                                ("executable", "data", bit), ("library", "data", bit),
                                ("executable", "data", "substr(data, 1, length(data) / 2)"),
                                ("executable", "hash", "NULL")):
        change(cache, kind, column, value)
        if kind == "library":  # which an executable with kernels of its own does not ask for
            change(cache, "executable", "data", "x''")
        check(f"{kind}: {column} is {value}", result(run(cache)), False)
    check("and once more", result(run(cache)), True)


def other_build(folder):
    """This build's package under another build's name."""
    sys.path.insert(0, str(BUILD / "python"))
    from nereid import _nereid

    name = _nereid.build_id().encode()
    shutil.copytree(BUILD / "python/nereid", folder / "python/nereid",
                    ignore=shutil.ignore_patterns("__pycache__"))
    for info in (BUILD / "python").glob("*.dist-info"):  # which names the backend
        shutil.copytree(info, folder / "python" / info.name)
    places = 0
    for path in (folder / "python/nereid").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if name in data:
            places += data.count(name)
            path.write_bytes(data.replace(name, name[:-1] + (b"1" if name[-1:] == b"0" else b"0")))
    tally.check(places > 0, f"the build's name {name} is in no file")
    return folder


def check_other_build(cache):
    """Neither build takes what the other one wrote, be it under its own key."""
    ours, theirs = cache / "ours", cache / "theirs"
    ours.mkdir(), theirs.mkdir()
    build = other_build(cache / "build")
    check("our build", result(run(ours)), False)
    check("another build with the same cache", result(run(ours, build=build)), False)
    check("it finds its entries", result(run(ours, build=build)), True)
    check("our build finds its own", result(run(ours)), True)
    check("another build alone", result(run(theirs, build=build)), False)
    with sqlite3.connect(ours / "code-2.db") as database:
        database.execute("ATTACH ? AS other", (str(theirs / "code-2.db"),))
        database.execute("UPDATE code SET (data, hash) = (SELECT data, hash FROM other.code "
                         "WHERE kind = 'executable') WHERE kind = 'executable'")
    check("another build's entries by our keys", result(run(ours)), False)


def check(name, got, stored):
    right = got["far"] < 1e-4 and len(got["stored"]) > 1 and set(got["stored"]) == {stored}
    tally.check(right, name if right else f"{name}: {got}")


def check_autograd(cache):
    """With cache_autograd PyTorch's cache has the programs, and so have artifacts."""
    def expect(name, hits, **options):
        got = result(run(cache, cache_autograd=True, **options))
        tally.check(got["far"] < 1e-4 and got["hits"] == hits, f"{name}: {got}")

    artifacts = cache / "artifacts"
    expect("a first process differentiates", 0, files=("", artifacts))
    expect("a second one does not", 1)
    expect("other options", 0, check_indices=False)
    expect("other sizes", 0, rows=24)
    expect("artifacts", 1, files=(artifacts,), torch_cache="other")


def check_interrupts(cache):
    """An interrupt while compiling leaves no entry that a later process reads wrongly."""
    for wait in (0, 0.1, 0.4):
        process = run(cache)
        while process.poll() is None and not (cache / "code-2.db").exists():
            time.sleep(0.01)
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        process.communicate()
    got = result(run(cache))
    tally.check(got["far"] < 1e-4 and len(got["stored"]) > 1, f"after interrupts: {got}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder)
        check("a cold process compiles", result(run(cache)), False)
        before = entries(cache)
        tally.check(before.get("executable", 0) > 1, f"executables are kept: {before}")
        both = [run(cache), run(cache)]
        for process in both:
            check("a warm process, beside another one", result(process), True)
        tally.check(entries(cache) == before, "warm processes compile nothing")
        check("other sizes", result(run(cache, rows=24)), False)
        check("other options", result(run(cache, check_indices=False)), False)
        check_damage(cache)
        check_other_build(cache)
        check_autograd(cache)
        (cache / "interrupted").mkdir()
        check_interrupts(cache / "interrupted")


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(int(sys.argv[2]), json.loads(sys.argv[3]), *sys.argv[4:])
        sys.exit(0)
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        main()
    sys.exit(tally.report())
