#!/usr/bin/env python3
"""A second process of torch.compile(backend="nereid") takes executables from the cache: the same
values, and nothing is compiled; other sizes, other options, damaged entries and those of another
build are compiled.

The first processes start from nothing, the others as copies of this one, which has imported PyTorch
and nothing of Nereid: the import is nine tenths of what a process takes."""
import importlib, json, os, pathlib, shutil, signal, sqlite3, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None


def models():
    """By name: a module for rows of 16."""
    nn = torch.nn

    class Inverse(nn.Linear):
        """A matrix that the compiler refuses, between two segments."""

        def forward(self, x):
            return (x @ torch.linalg.inv_ex(self.weight + 9 * torch.eye(64))[0][:16]).sin()

    class Waves(nn.Module):
        """As many operators, none of which has gradients."""

        def __init__(self, count):
            super().__init__()
            self.count = count

        def forward(self, x):
            for i in range(self.count):
                x = torch.sin(x + i)
            return x

    class Counted(nn.Linear):
        """Two counts that a graph takes to be equal, one of which is 1."""

        def forward(self, x):
            y = super().forward(x).flatten()
            return y[y > y.mean()] + y[y >= y.max()]

    return {"deep": lambda: Waves(30), "shallow": lambda: Waves(3),
            "counted": lambda: Counted(16, 4),
            "plain": lambda: nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32),
                                           nn.Linear(32, 4)),
            "dropout": lambda: nn.Sequential(nn.Linear(16, 32), nn.Dropout(0.5), nn.ReLU()),
            "refused": lambda: Inverse(64, 64)}


def far_from_eager(model, compiled, x):
    results = []
    for run in (compiled, model):
        model.zero_grad()
        y = run(x)
        y.square().sum().backward()
        results.append([y.detach(), *(p.grad.clone() for p in model.parameters()
                                      if p.grad is not None)])
    return max((a - b).abs().max().item() for a, b in zip(*results))


def check_masks(model, compiled, x):
    """0, if the gradients are those of the mask that the outputs have."""
    model.zero_grad()
    y = compiled(x)
    y.sum().backward()
    kept = (y > 0).float() * 2
    right = torch.allclose(model[0].weight.grad, kept.T @ x, atol=1e-4)
    return 0.0 if right and 0.1 < (y == 0).float().mean() < 0.95 else 9.0


def prepare(how):
    """What a process does before it compiles."""
    from torch._inductor import codecache
    from nereid.torch_backend.cache import cache_keys

    if how == "inductor":  # with its backends in PyTorch's tables
        codecache.init_backend_registration()
    if how == "edited":  # PyTorch, after it was installed
        cache_keys._torch_key = lambda: None


def far_from_wave(model, compiled, x):
    with torch.no_grad():
        return (compiled(x) - model(x)).abs().max().item()


def child(rows, options, taken="", left="", name="plain", most=0,
          how=""):
    """Trains one step; says how far it is from PyTorch, of each executable if it was stored, and
    how many graphs PyTorch's cache had.  `taken` and `left` are files of artifacts; with `most`
    the number of rows is open, up to that."""
    import nereid.torch_backend as backend
    from torch._dynamo.utils import counters

    backend._programs.keep()
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    if taken:
        torch.compiler.load_cache_artifacts(pathlib.Path(taken).read_bytes())
    if how:
        prepare(how)
    torch.manual_seed(3)
    measures = {"dropout": check_masks, "deep": far_from_wave, "shallow": far_from_wave}
    model, far = models()[name](), []
    compiled = torch.compile(model, backend="nereid", options=options)
    for count in (rows, 2 * rows) if int(most) else (rows,):
        x = torch.randn(count, 16)
        if int(most):
            torch._dynamo.mark_dynamic(x, 0, min=2, max=int(most))
        far.append(measures.get(name, far_from_eager)(model, compiled, x))
    stored = [segment.executable.info["stored"] for program in backend._programs
              for segment in program.segments]
    if left:
        pathlib.Path(left).write_bytes(torch.compiler.save_cache_artifacts()[0])
    hits = counters["aot_autograd"]["autograd_cache_hit"]
    print(json.dumps({"far": max(far), "stored": stored, "hits": hits}))


class Copy:
    """A process that begins as a copy of this one, by subprocess.Popen's methods."""

    def __init__(self, words, environment, build, autograd):
        self.returncode, self.text = None, tempfile.TemporaryFile("w+")
        self.pid = os.fork()
        if not self.pid:
            os._exit(self.end(words, environment, build, autograd))

    def end(self, words, environment, build, autograd):
        """What the process does; its status."""
        try:
            os.environ.update(environment)
            os.dup2(self.text.fileno(), 1)
            if "--verbose" not in sys.argv:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            sys.path[0] = str(build / "python")
            importlib.import_module("torch._functorch.config").enable_autograd_cache = autograd
            child(*words)
            sys.stdout.flush()
            return 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
            return 1

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self):
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.text.seek(0)
        return self.text.read(), None


def run(cache, rows=8, files=(), torch_cache="torch", build=BUILD, autograd=False, whole=False,
        **options):
    """A process, from nothing if it is `whole`; without `autograd` PyTorch's cache has nothing."""
    words = [str(rows), json.dumps(options), *map(str, files)]
    environment = {"NEREID_CACHE_DIR": str(cache), "NEREID_BUILD": str(build),
                   "TORCHINDUCTOR_CACHE_DIR": str(cache / torch_cache)}
    if not whole:
        return Copy([rows, options, *words[2:]], environment, build, autograd)
    environment["TORCHINDUCTOR_AUTOGRAD_CACHE"] = str(int(autograd))
    return subprocess.Popen([sys.executable, __file__, "child", *words],
                            env=os.environ | environment, stdout=subprocess.PIPE, text=True,
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
    # Another process imports it: copies of this one import the build that they are about.
    name = subprocess.run([sys.executable, "-c", "from nereid import _nereid; "
                           "print(_nereid.build_id(), end='')"], stdout=subprocess.PIPE,
                          env=os.environ | {"PYTHONPATH": str(BUILD / "python")}).stdout
    tally.check(name, "the build has a name")
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
    """PyTorch's cache has the programs of graphs with gradients or of many nodes, and so have
    artifacts."""
    def expect(name, hits, **options):
        got = result(run(cache, autograd=True, **options))
        tally.check(got["far"] < 1e-4 and got["hits"] == hits, f"{name}: {got}")

    artifacts = cache / "artifacts"
    expect("a first process differentiates", 0, files=("", artifacts))
    expect("a second one does not", 1)
    expect("other options", 0, check_indices=False)
    expect("an option says no", 0, cache_autograd=False)
    expect("other sizes", 0, rows=24)
    expect("artifacts", 1, files=(artifacts,), torch_cache="other")
    for name in ("dropout", "refused", "counted"):
        for hits in (0, 1):
            expect(name, hits, files=("", "", name))
    for name, hits in (("deep", 0), ("deep", 1), ("shallow", 0), ("shallow", 0)):
        expect(f"{name}, without gradients", hits, files=("", "", name))
    for how, hits in (("inductor", 1), ("edited", 0), ("edited", 1)):
        expect(how, hits, files=("", "", "deep", 0, how))
    for most, hits in ((64, 0), (64, 1), (4096, 0), (4096, 1)):
        expect(f"up to {most} rows", hits, files=("", "", "plain", most))


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
        check("a cold process compiles", result(run(cache, whole=True)), False)
        before = entries(cache)
        tally.check(before.get("executable", 0) > 1, f"executables are kept: {before}")
        both = [run(cache, whole=True), run(cache, whole=True)]
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
        import torch._dynamo, torch._inductor.compile_fx  # noqa: F401
        main()
    sys.exit(tally.report())
