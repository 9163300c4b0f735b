#!/usr/bin/env python3
"""Mode max-autotune of whole models on a fake driver, where each kernel is as slow as it has
programs: the fastest shapes are taken; those that fault, hang, crash or compute something else are
neither taken nor the end; what was found out is not found out again, and no code is assembled
twice.

    tune.py [NAME...]     only models whose name contains a NAME
"""
# tests/run: sleeps
import collections, json, os, pathlib, re, shlex, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402
from tuner import NEREID, on_terminal  # noqa: E402

MODELS = "chain", "dyn_mlp", "hf_bert", "hfv_vit", "kv_decode", "mlp"
# What a launch of so many programs does, and what records say of it.
PLANTED = {"wrong": "wrong", "fault": "fault", "crash": "fault", "hang": "timeout"}

Run = collections.namedtuple("Run", "launched grids messages")


def inputs_of(model):
    return sorted(model.glob("input_*.npy"), key=lambda p: int(p.stem.split("_")[1]))


def without_drawn(messages):
    """Without the notes on inputs that are drawn."""
    return "".join(l for l in messages.splitlines(True) if not l.startswith("nereid: note: input "))


class Machine:
    """A home with a fake GPU."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.log = folder / "log"
        driver = folder / "fake.so"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        subprocess.run([*compiler, "-shared", "-fPIC", "-O1", "-o", driver,
                        ROOT / "tests/support/fake_cuda.c"], check=True)
        # This driver takes PTX for machine code.
        self.assembled = folder / "assembled"
        assembler = folder / "ptxas"
        assembler.write_text(f"""#!/bin/sh
[ $# = 5 ] || exec echo release 1
cp "$5" "$4" && cksum <"$5" >>{shlex.quote(str(self.assembled))}
""")
        assembler.chmod(0o755)
        self.env = dict(os.environ, NEREID_LIBCUDA=str(driver), NEREID_PTXAS=str(assembler),
                        NEREID_PROGRAM=NEREID, FAKE_CUDA_LOG=str(self.log),
                        NEREID_LIBRARY_PATH="")

    def nereid(self, *args, **env):
        return subprocess.run([NEREID, *map(str, args)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={**self.env, **env})

    def run(self, model, mode, cache, settings="cost=1", **env):
        """The grids of single launches, those of the model's kernels, and all messages."""
        self.log.unlink(missing_ok=True)
        inputs = inputs_of(model)
        done = self.nereid("graph", model / "model.pt2", *inputs, "--device", "cuda",
                           "--mode", mode, "--out-dir", self.folder / "out", FAKE_CUDA=settings,
                           NEREID_CACHE_DIR=str(self.folder / cache), **env)
        check(done.returncode == 0, f"{model.name} {mode} {settings}: {done.stderr}")
        lines = [line.split() for line in self.log.read_text().splitlines()]
        grids = lambda word: [int(line[1]) for line in lines if line[0] == word]
        return Run(grids("launch"), grids("replayed"), done.stderr)

    def records(self, cache):
        return self.nereid("records", "export", "-",
                           NEREID_CACHE_DIR=str(self.folder / cache)).stdout


def check_found(machine, model):
    """The grids that are taken by default and when measured, and that this is remembered."""
    default = machine.run(model, "reduce-overhead", "default")
    machine.assembled.unlink(missing_ok=True)
    tuned = machine.run(model, "max-autotune", "tuned")
    codes = machine.assembled.read_text().splitlines()
    check(codes and len(codes) == len(set(codes)), f"{model.name}: code is assembled twice")
    again = machine.run(model, "max-autotune", "tuned", NEREID_PROGRAM="/bin/false")
    pairs = list(zip(tuned.grids, default.grids, strict=True))
    check(pairs and all(t <= d for t, d in pairs), f"{model.name}: slower than by default: {pairs}")
    check(again.grids == tuned.grids, f"{model.name}: other choices from records")
    check(again.launched == default.launched, f"{model.name}: measured again")
    check(not tuned.messages + again.messages, f"{model.name}: {tuned.messages}{again.messages}")
    return default, tuned


def check_cached(machine, model):
    """The cache has the code's own names, also where freed memory is written to."""
    machine.run(model, "max-autotune", "names", MALLOC_PERTURB_="90")
    shown = machine.nereid("cache", "list", "--kind", "cubin",
                           NEREID_CACHE_DIR=str(machine.folder / "names")).stdout
    rows = re.findall(r"cubin .* sm_90a +k\d+_\w+$", shown, re.M)
    check(rows and len(rows) == shown.count("cubin"), f"{model.name}: {shown}")


def check_trace(machine, model):
    """The timeline shows how long tuning took."""
    trace = machine.folder / "trace.json"
    done = machine.nereid("graph", model / "model.pt2", *inputs_of(model), "--device", "cuda",
                          "--mode", "max-autotune", "--trace", trace,
                          NEREID_CACHE_DIR=str(machine.folder / "tuned"))
    names = [e["name"] for e in json.loads(trace.read_text())["traceEvents"]]
    check(done.returncode == 0 and "tune" in names, f"{model.name}: stages {names}{done.stderr}")


def check_progress(machine, model):
    """A terminal shows how many kernels are done; from records there is nothing to wait for."""
    env = {**machine.env, "NEREID_CACHE_DIR": str(machine.folder / "progress")}
    args = ["graph", model / "model.pt2", *inputs_of(model), "--device", "cuda",
            "--mode", "max-autotune", "--time"]

    def of_tuning(lines):  # compiling and running show their seconds, on a slow machine
        return [l for l in lines if l and not re.fullmatch(r"\w+ing\b.*\d s\)?", l)]

    lines = on_terminal(args, env)
    shown = of_tuning(lines)
    counts = [re.match(r"(?:kernel (\d+) of (\d+)  )?(\d+) of (\d+)", l) for l in shown]
    check(counts and all(counts) and counts[-1][1] == counts[-1][2]
          and counts[-1][3] == counts[-1][4] and not lines[-1], f"{model.name}: {lines}")
    check(not of_tuning(on_terminal(args, env)), f"{model.name}: shows what it need not measure")


def built(machine, model, target, cache, **env):
    """The plan of a project, its grids along x where sizes are fixed, and messages."""
    project = machine.folder / "project"
    done = machine.nereid("build", model / "model.pt2", "-o", project, "--target", target,
                          "--ptx-only", "--mode", env.pop("mode", "default"),
                          NEREID_CACHE_DIR=str(machine.folder / cache), **env)
    check(done.returncode == 0, f"{model.name}: build: {done.stderr}")
    plan = (project / "plan.c").read_text()
    grids = re.findall(r"return model_launch\(r, kernel, args, \d+, (.*?), ", plan)
    once = int(re.search(r"\.nonce = (\d+)", plan)[1])
    return plan, [int(g) if g.isdigit() else g for g in grids[once:]], done.stderr


def check_built(machine, model, default, tuned):
    """A project takes what records know of its GPU, which need not be here, and says so."""
    for target, cache, run in ("sm_90a", "tuned", tuned), ("sm_90a,sm_80", "tuned", tuned), \
                              ("sm_90a", "default", default), ("sm_80", "tuned", None):
        plan, grids, messages = built(machine, model, target, cache, NEREID_LIBCUDA="/none")
        what = f"{model.name} for {target} with {cache} records"
        check(not messages, f"{what}: {messages}")
        check(("* fastest: " in plan and " us on Fake GPU 0 with " in plan) == (run is tuned),
              f"{what}: where the choices are from")
        if run and all(isinstance(g, int) for g in grids):
            check(grids == run.grids, f"{what}: {grids}, not {run.grids}")


def check_devices(machine, model):
    """Of several devices the one of which most is known decides."""
    text = machine.records("tuned").replace("Fake GPU 0", "Other GPU")
    head, *problems = re.split(r"(?m)^(?=problem )", text)
    whole, part = machine.folder / "whole.records", machine.folder / "part.records"
    whole.write_text(text)
    part.write_text(head + problems[0].replace("Other GPU", "A third GPU"))
    for files, device in ((part,), "A third GPU"), ((part, whole), "Other GPU"):
        cache = machine.folder / f"with-{device}"
        for file in files:
            machine.nereid("records", "import", file, NEREID_CACHE_DIR=str(cache))
        plan, _, _ = built(machine, model, "sm_90a", cache.name, NEREID_LIBCUDA="/none")
        told = set(re.findall(r"\* fastest: \S+ us on (.*?) with", plan))
        check(told == {device}, f"{model.name}: {device} shall decide, not {told}")


def check_doubt(machine, model):
    """A project says of which kernels the records are uncertain."""
    text = re.sub(r'( ok median \S+ spread \S+ runs) \d+', r"\1 2", machine.records("tuned"))
    file = machine.folder / "doubt.records"
    file.write_text(text)
    machine.nereid("records", "import", file, NEREID_CACHE_DIR=str(machine.folder / "doubt"))
    plan, _, messages = built(machine, model, "sm_90a", "doubt", NEREID_LIBCUDA="/none")
    many = re.search(r"the best times of (\d+) of \d+ kernels are uncertain, among them (\w+): "
                     r"--mode max-autotune measures them again; NEREID_LOG=tune", messages)
    one = re.search(r"the best time of kernel \w+ is uncertain: .* took .* us, but it was "
                    r"measured in 2 runs; --mode max-autotune measures it again", messages)
    check((many or one) and messages.count("\n") == 1, f"{model.name}: one line: {messages}")
    _, _, messages = built(machine, model, "sm_90a", "doubt", NEREID_LIBCUDA="/none",
                           NEREID_LOG="tune")
    told = re.findall(r"tune: the best time of kernel (\w+) is uncertain: .* 2 runs", messages)
    count = int(many[1]) if many else 1
    check(len(told) == count and (not many or many[2] == told[0]),
          f"{model.name}: all: {messages}")


def check_measured(machine, model):
    """Mode max-autotune of a project measures on the GPU that is here, if it is of the target."""
    found = [built(machine, model, target, "measured", mode="max-autotune", FAKE_CUDA="cost=1")
             for target in ("sm_90a", "sm_80")]
    counts = [plan.count("* fastest: ") for plan, _, _ in found]
    notes = [messages for _, _, messages in found]
    check(counts[0] and not counts[1], f"{model.name}: measured for each target: {counts}")
    check(not notes[0] and "no GPU of sm_80 is here" in notes[1], f"{model.name}: notes {notes}")


EMPTY = """class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[0, 4096]", y: "f32[65536]"):
        exp: "f32[0, 4096]" = torch.ops.aten.exp.default(x)
        neg: "f32[65536]" = torch.ops.aten.neg.default(y)
        return (exp, neg)
"""


def check_empty(machine):
    """A kernel that is never launched has nothing to choose."""
    model = machine.folder / "empty.py"
    model.write_text(EMPTY)
    done = machine.nereid("graph", model, "--device", "cuda", "--mode", "max-autotune", "--time",
                          "--random-inputs", NEREID_CACHE_DIR=str(machine.folder / "empty"))
    records = machine.records("empty")
    check(done.returncode == 0 and not without_drawn(done.stderr), f"no elements: {done.stderr}")
    check('kernel "neg"' in records and 'kernel "exp"' not in records, f"no elements: {records}")


SHORTER = """class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 4096]", y: "f32[s1, 4096]"):
        n: "Sym(s1)" = torch.ops.aten.sym_size.int(y, 0)
        rest: "f32[s0 - s1, 4096]" = torch.ops.aten.slice.Tensor(x, 0, n, 9223372036854775807)
        exp: "f32[s0 - s1, 4096]" = torch.ops.aten.exp.default(rest)
        neg: "f32[s0, 4096]" = torch.ops.aten.neg.default(x)
        return (exp, neg)
"""


def check_shorter(machine):
    """Sizes that are left open are chosen one by one: what they give for a step may be below 0."""
    model = machine.folder / "shorter.py"
    model.write_text(SHORTER)
    for command in ("graph", "--device", "cuda", "--time", "--random-inputs"), \
                   ("build", "--target", "sm_90a", "-o", machine.folder / "shorter"):
        done = machine.nereid(*command, model, "--mode", "max-autotune", "--range", "s0=1..64",
                              NEREID_CACHE_DIR=str(machine.folder / "empty"))
        check(done.returncode == 0 and not without_drawn(done.stderr), f"{command}: {done.stderr}")
    records = machine.records("empty")
    check('kernel "neg"' in records and 'kernel "exp"' not in records, f"shorter: {records}")


def grid_to_plant(default, tuned):
    """One that wins, and that nothing but a choice has: what is planted there shows nowhere else.
    Of several, that of the fewest kernels."""
    others = set(default.grids) | set(default.launched)
    return min(set(tuned.grids) - others, key=lambda g: (tuned.grids.count(g), g), default=None)


def check_planted(machine, model, grid, what):
    run = machine.run(model, "max-autotune", what, f"cost=1,{what}={grid}")
    check(grid not in run.grids, f"{model.name}: a grid of {grid} with {what} is taken")
    check(not run.messages, f"{model.name}, {what}: {run.messages}")
    check(f'" {PLANTED[what]} median' in machine.records(what),
          f"{model.name}: no record of {what}")


def main():
    planted = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name in MODELS:
            if not any(part in name for part in sys.argv[1:] or [""]):
                continue
            machine = Machine(pathlib.Path(tmp) / name)
            default, tuned = check_found(machine, ROOT / "tests/models" / name)
            check_cached(machine, ROOT / "tests/models" / name)
            check_trace(machine, ROOT / "tests/models" / name)
            check_progress(machine, ROOT / "tests/models" / name)
            check_built(machine, ROOT / "tests/models" / name, default, tuned)
            if name == "hf_bert":
                check_devices(machine, ROOT / "tests/models" / name)
                check_doubt(machine, ROOT / "tests/models" / name)
                check_measured(machine, ROOT / "tests/models" / name)
            grid = grid_to_plant(default, tuned)
            planted += grid is not None
            for what in PLANTED if grid else ():
                check_planted(machine, ROOT / "tests/models" / name, grid, what)
        check_empty(Machine(pathlib.Path(tmp) / "empty"))
        check_shorter(Machine(pathlib.Path(tmp) / "shorter"))
    check(planted or sys.argv[1:], "nothing was planted")
    return report()


sys.exit(main())
