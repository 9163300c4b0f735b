#!/usr/bin/env python3
"""Models of tests/models as C projects: `aot.py [--target T] [NAME...]`.

Each model is written by `nereid build`, built by `make` with every warning being an error, and run
on each of its cases; what it writes is compared with what PyTorch wrote.  For GPUs the PTX in the
generated C is assembled where there is ptxas; without a GPU the program must say so, with one it
runs as on a CPU.  Without arguments these are a few models in several ways; `--target cpu` is all
of them.
"""
# tests/run: users' compiler
import argparse, concurrent.futures, os, pathlib, platform, re, shutil, subprocess, sys, tempfile
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import cross_arm, quick_cc  # noqa: E402
from built_ptx import built_ptx  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
MODELS, SOURCES = ROOT / "tests/models", ROOT / "tests/graph/aot"
# The tolerance by the dtype of an output; integers are exact.
WIDTHS = ("cpu:4", "cpu:8")[:1 + (platform.machine() == "x86_64")]  # what machines have
TOLERANCE = {"f32": 1e-4, "bf16": 2e-2, "f16": 4e-3}


class Failure(Exception):
    pass


def run(*command, ok=(0,), **variables):
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **variables})
    if done.returncode not in ok:
        raise Failure(f"status {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done


def numbered(folder, what):
    return sorted(folder.glob(f"{what}_*.npy"), key=lambda p: int(p.stem.split("_")[1]))


def cases(model):
    return [model, *sorted(p for p in model.iterdir() if p.is_dir())]


def output_dtypes(*program):
    return re.findall(r"output \d+  \S+  (\w+)\[", run(*program, "--help").stdout)


def compare(got, expected, dtype):
    """The error relative to the norm; infinity for another shape, or other integers."""
    if got.shape != expected.shape:
        return np.inf
    if dtype not in TOLERANCE:
        return 0 if np.array_equal(got, expected) else np.inf
    difference = got.astype(np.float64) - expected.astype(np.float64)
    return np.linalg.norm(difference) / max(np.linalg.norm(expected.astype(np.float64)), 1e-30)


def program_of(project):
    """Its name is that of --name."""
    return project / re.search(r"program `(\w+)`", (project / "Makefile").read_text())[1]


ARM = cross_arm.PREFIX + "gcc"


def check_case(project, case, out, before=()):
    run(*before, program_of(project), *numbered(case, "input"), "--out-dir", out)
    dtypes = output_dtypes(*before, program_of(project))
    expected = numbered(case, "output")
    if len(expected) != len(dtypes):
        raise Failure(f"{len(dtypes)} outputs, not {len(expected)}")
    for path, dtype in zip(expected, dtypes):
        error = compare(np.load(out / path.name), np.load(path), dtype)
        if not error <= TOLERANCE.get(dtype, 0):
            raise Failure(f"{case.name}/{path.name}: the error is {error:.3g} of the norm")


def assemble(project, ptxas):
    """The PTX in the generated C, kernel by kernel."""
    for target, name, text in built_ptx(project):
        ptx = project / f"{name}.ptx"
        ptx.write_text(text)
        run(ptxas, f"-arch={target}", "-o", os.devnull, ptx)
        ptx.unlink()


def has_gpu():
    return os.path.exists("/dev/nvidia0")


def check_without_gpu(project, model):
    done = run(project / "model", *numbered(model, "input"), ok=(1,))
    if "NVIDIA" not in done.stderr:
        raise Failure(f"no message about the driver: {done.stderr}")


SANITIZE = "-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined"


def link(program, source, project, cc, flags):
    libraries = run("make", "-s", "-C", project, "libs").stdout.split()
    run(cc, "-std=c11", "-Wall", "-Wextra", "-Werror", *flags.split(), "-I", project, source,
        project / "npy.o", project / "libmodel.a", *libraries, "-o", program)


def check_example(project, model, cc, flags):
    """examples/aot: the cache is in the model, and can be reset."""
    link(project / "decode", ROOT / "examples/aot/decode.c", project, cc, flags)
    run(project / "decode", project / "weights.bin")


def check_library(project, model, cc, flags):
    link(project / "library", SOURCES / "library.c", project, cc, flags)
    files = project / "files"
    files.mkdir()
    run(project / "library", project / "weights.bin", model / "input_0.npy", model / "output_0.npy",
        files)


def check_widths(project, model, cc, flags):
    """Each processor's kernels give what PyTorch gave; others are refused."""
    for width in WIDTHS:
        out = project / f"out-{width[4:]}"
        run(program_of(project), *numbered(model, "input"), "--out-dir", out, NEREID_CPU=width)
        for path, dtype in zip(numbered(model, "output"), output_dtypes(program_of(project))):
            if not compare(np.load(out / path.name), np.load(path), dtype) <= TOLERANCE[dtype]:
                raise Failure(f"{width}: {path.name}")
    done = run(program_of(project), *numbered(model, "input"), ok=(1, 2), NEREID_CPU="cpu:2")
    if "NEREID_CPU=cpu:2: there are those for cpu:4 cpu:8" not in done.stderr:
        raise Failure(f"cpu:2: {done.stderr}")


# What the fake driver is told, and what the program says then.
DRIVER_FAILURES = {
    "init=100": "starting the NVIDIA driver: a fake error (CUDA_ERROR)",
    "devices=0": "no NVIDIA GPU is visible",
    "sm=75": "Fake GPU 0 is a GPU of sm_75, which the model was not built for",
    "alloc=2": "Fake GPU 0 has no memory for",
    "module=218": "loading kernel k",
    "shared=16": "bytes of shared memory, Fake GPU 0 has 16",
    "copy=700": "copying memory: an illegal memory access was encountered",
    "launch=700": "starting a kernel: an illegal memory access was encountered",
    "sync=700": "running the model: an illegal memory access was encountered"}


def check_names(project, model, cc, flags):
    """Two models in one program."""
    for name, other in ("one", "chain"), ("two", "dyn_mlp"):
        build(Task(other, cc=cc, cflags="-O0", options=["--name", name]), project / name)
    run(cc, "-Wall", "-Wextra", "-Werror", "-I", project, SOURCES / "two.c", "-o",
        project / "both", project / "one" / "libone.a", project / "two" / "libtwo.a",
        *run("make", "-s", "-C", project / "one", "libs").stdout.split())
    run(project / "both", project / "one" / "weights.bin", project / "two" / "weights.bin")


def check_numbers(project, model, cc, flags):
    """Inputs that are numbers, here and in files."""
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(project / "x.npy", x)
    np.save(project / "n.npy", np.int64(3))
    program = project / "model"
    for n in (3, project / "n.npy"):
        run(program, project / "x.npy", n, 4, "--out-dir", project / "out")
        got = [np.load(project / "out" / f"output_{i}.npy") for i in range(3)]
        expected = np.concatenate([x * 3, np.full((3, 4), 2, np.float32)])
        if not np.array_equal(got[0], expected) or got[1] != 3 or got[2] != 4:
            raise Failure(f"wrong results of numbers: {got}")
    done = run(program, project / "x.npy", 3, 5, ok=(1,))
    if "input 2 (m) is 5, but must be 4 in Sym(2*s0)" not in done.stderr:
        raise Failure(f"no message about a wrong number: {done.stderr}")


def check_fixed(project, model, cc, flags):
    """An input that decided shapes has the value that it had."""
    np.save(project / "x.npy", np.arange(4, dtype=np.float32))
    for shape, status in ((2, 2), 0), ((4, 1), 1):
        np.save(project / "shape.npy", np.array(shape))
        done = run(project / "model", project / "x.npy", project / "shape.npy", ok=(status,))
        if status and "decides shapes, and was another" not in done.stderr:
            raise Failure(f"no message about another value: {done.stderr}")


def check_complex(project, model, cc, flags):
    """A complex number is two elements of a last axis."""
    rng = np.random.default_rng(5)
    for rows in 3, 20:
        x = rng.normal(size=(rows, 6, 2)).astype(np.float32)
        np.save(project / "x.npy", x)
        run(project / "model", project / "x.npy", "--out-dir", project)
        y = np.load(project / "output_0.npy")
        expected = np.fft.fft(x[..., 0] + 1j * x[..., 1])
        error = compare(y, np.stack([expected.real, expected.imag], -1), "f32")
        if error > TOLERANCE["f32"]:
            raise Failure(f"complex numbers: error {error}")
    np.save(project / "x.npy", x[..., 0])
    run(project / "model", project / "x.npy", ok=(1,))


def check_equal(project, model, cc, flags):
    """Sizes that a node takes to be equal are so in every run."""
    small, large = MODELS / "mlp" / "input_0.npy", MODELS / "chain" / "input_0.npy"
    run(project / "model", small, small)
    done = run(project / "model", small, large, ok=(1,))
    if "c takes s0 and s2 to be equal; for these inputs they are 32 and 128" not in done.stderr:
        raise Failure(f"no message about sizes that differ: {done.stderr}")


def check_update(project, model, cc, flags):
    """What is written to an input is as large as the input."""
    for n, status in (4, 0), (3, 1):
        np.save(project / "x.npy", np.arange(n, dtype=np.float32))
        done = run(project / "model", project / "x.npy", ok=(status,))
        if status and "x has 12 bytes, and y, which it is updated from, 16" not in done.stderr:
            raise Failure(f"no message about an update: {done.stderr}")


def index_files(project, ids, pos):
    arrays = [np.arange(40, dtype=np.float32).reshape(10, 4), np.array(ids),
              np.zeros((8, 4), np.float32), np.array([pos])]
    for i, array in enumerate(arrays):
        np.save(project / f"index_{i}.npy", array)
    return [project / f"index_{i}.npy" for i in range(len(arrays))]


GOOD = [[0, 1, 2], [9, 3, 4]]
INDEX_MESSAGES = [
    ([[0, 1, 2], [9, 10, 4]], 3, "embedding: index 10 at [1, 1] of ids is out of range: 0 to 9"),
    ([[0, -1, 2]], 3, "embedding: index -1 at [0, 1] of ids is out of range: 0 to 9"),
    (GOOD, 2**40, f"index_copy_: index {2**40} at [0] of pos is out of range: 0 to 7")]


def check_index(project, model, cc, flags):
    """An index that is out of range ends the run, unless the project was built without checks."""
    for ids, pos, message in INDEX_MESSAGES:
        done = run(project / "model", *index_files(project, ids, pos), ok=(1,))
        if message not in done.stderr:
            raise Failure(f"no message '{message}' in {done.stderr}")
    run(project / "model", *index_files(project, GOOD, 7), "--out-dir", project / "out")
    got = np.load(project / "out" / "output_1.npy")
    if not np.array_equal(got[7], np.arange(40).reshape(10, 4)[np.array(GOOD)].sum((0, 1))):
        raise Failure(f"wrong results: {got}")
    task = Task("unchecked", cc=cc, cflags="-O0", options=["--no-checks"],
                source=SOURCES / "index.py")
    build(task, project / "unchecked")
    run(project / "unchecked" / "model", *index_files(project, *INDEX_MESSAGES[0][:2]))


def check_index_driver(project, model, cc, flags):
    """What a GPU's kernels record is told by the run that waits for them, and by `nereid graph`."""
    fake = project / "libcuda.so.1"
    run(cc, "-shared", "-fPIC", "-O1", "-o", fake, ROOT / "tests/support/fake_cuda.c")
    files = index_files(project, GOOD, 7)
    message = "index_copy_: index 7 at [0] of pos is out of range: 0 to 7, for an axis of 8"
    graph = [NEREID, "graph", SOURCES / "index.py", *files, "--device", "cuda"]
    commands = [[project / "model", *files], [project / "model", *files, "--runs", 4, "--graphs"],
                graph, [*graph, "--mode", "reduce-overhead"]]
    for command in commands:
        for setting, status in ("sm=90", 0), ("sm=90,index=5", 1):
            done = run(*command, ok=(status,), FAKE_CUDA=setting, NEREID_LIBCUDA=str(fake),
                       LD_LIBRARY_PATH=str(project))
            if status and message not in done.stderr:
                raise Failure(f"no message '{message}' in {done.stderr}")


def check_maps(project, model, cc, flags):
    """A product's operands are boxes of tensors, whose maps a launch makes if they are others than
    the last launch's; where the hardware takes no such map the kernel without maps runs."""
    fake, log = project / "libcuda.so.1", project / "log"
    run(cc, "-shared", "-fPIC", "-O1", "-o", fake, ROOT / "tests/support/fake_cuda.c")
    fakes = {"LD_LIBRARY_PATH": str(project), "FAKE_CUDA_LOG": str(log)}
    for k, setting, maps in (64, "sm=90", 2), (72, "sm=90", 2), (60, "sm=90", 0), (64, "sm=87", 0):
        files = [project / "x.npy", project / "w.npy"]
        for path, shape in zip(files, ((256, k), (k, 512))):
            np.save(path, np.ones(shape, np.float16))
        run(project / "model", *files, "--runs", 2, "--out-dir", project / "out",
            FAKE_CUDA=setting, **fakes)
        lines = log.read_text().splitlines()
        log.unlink()
        made = [line for line in lines if line.startswith("map")]
        arguments = [len(line.split(" : ")[1].split()) for line in lines
                     if line.startswith("launch")]
        plain = arguments[0] - maps
        if len(made) != maps or arguments != [plain + maps] * 2 or plain not in (3, 4):
            raise Failure(f"K of {k} on {setting}: {len(made)} maps, kernels of {arguments}")
        if maps and f"of {k} by 0" not in made[0]:
            raise Failure(f"K of {k}: rows of {made[0]}")


def check_refused(project, model, cc, flags):
    """Data that an operator refuses ends the run."""
    arrays = [np.arange(6).reshape(2, 3), np.array([1, 0, 2]), np.ones((2, 3), np.float32)]
    for i, array in enumerate(arrays):
        np.save(project / f"data_{i}.npy", array)
    done = run(project / "model", *(project / f"data_{i}.npy" for i in range(3)), ok=(1,))
    if "a refuses its data: the divisor y is 0, at [1]" not in done.stderr:
        raise Failure(f"no message about a divisor: {done.stderr}")


def check_writes(project, model, cc, flags):
    link(project / "writes", SOURCES / "writer.c", project, cc, flags)
    run(project / "writes", project / "weights.bin")


def without_addresses(line):
    head, arguments = line.split(":")
    return head, ["address" if int(a, 16) >> 32 else a for a in arguments.split()]


def launches(log):
    """Grids, threads, shared memory, arguments; a run of a fake driver wrote them down."""
    lines = log.read_text().splitlines()
    log.unlink()
    return [without_addresses(line) for line in lines if line.startswith("launch")]


def check_graphs(project, inputs, fake, fakes):
    """Runs after the second are a graph of the same launches."""
    log = pathlib.Path(fakes["FAKE_CUDA_LOG"])
    once = int(re.search(r"\.nonce = (\d+)", (project / "plan.c").read_text())[1])
    command = [project / "model", *inputs, "--runs", 4, "--graphs", "--out-dir", project / "out"]
    run(*command, **fakes)
    lines = log.read_text().splitlines()
    log.unlink()
    expected = [line.split(" : ")[1] for line in lines if line.startswith("launch")][once:]
    if [line.split(" : ")[1] for line in lines if line.startswith("replayed")] != 3 * expected:
        raise Failure("a graph's launches are not those of a run")
    run("cc", "-shared", "-fPIC", "-DWITHOUT_GRAPHS", "-o", fake,
        ROOT / "tests/support/fake_cuda.c")
    run(*command, **fakes)
    if len(launches(log)) != once + 4 * len(expected):
        raise Failure("a driver without graphs runs otherwise")


def check_driver(project, model, cc, flags):
    """On a fake driver the program starts what `nereid graph` starts, and tells what fails."""
    fake, log = project / "libcuda.so.1", project / "log"
    run(cc, "-shared", "-fPIC", "-O1", "-o", fake, ROOT / "tests/support/fake_cuda.c")
    fakes = {"LD_LIBRARY_PATH": str(project), "FAKE_CUDA_LOG": str(log)}
    for case in cases(model):
        for sm in ("sm=90", "sm=87"):
            inputs = numbered(case, "input")
            run(NEREID, "graph", model / "model.pt2", *inputs, "--device", "cuda", "--out-dir",
                project / "out", NEREID_LIBCUDA=str(fake), FAKE_CUDA=sm, **fakes)
            expected = launches(log)
            run(project / "model", *inputs, "--out-dir", project / "out", FAKE_CUDA=sm, **fakes)
            if launches(log) != expected or not expected:
                raise Failure(f"other launches than those of `nereid graph` on {sm}")
    check_spills(project, numbered(model, "input"), fakes)
    for setting, message in DRIVER_FAILURES.items():
        inputs = numbered(model, "input")
        done = run(project / "model", *inputs, ok=(1,), FAKE_CUDA=setting, **fakes)
        if message not in done.stderr:
            raise Failure(f"{setting}: no message '{message}' in\n{done.stderr}")
    if len(expected) < 64:
        check_graphs(project, numbered(model, "input"), fake, fakes)


def check_spills(project, inputs, fakes):
    """PTX that spills is loaded once more, with a directive that gives it more registers, unless it
    has it; products have it not."""
    log = pathlib.Path(fakes["FAKE_CUDA_LOG"])
    sizes = {}
    for spill in (0, 64):
        run(project / "model", *inputs, "--out-dir", project / "out",
            **{**fakes, "FAKE_CUDA": f"spill={spill}"})
        sizes[spill] = [int(line.split()[1]) for line in log.read_text().splitlines()
                        if line.startswith("module")]
        log.unlink()
    more = len("\n.minnctapersm 1")
    again = [next - size for size, next in zip(sizes[64], sizes[64][1:])].count(more)
    firsts = [size for i, size in enumerate(sizes[64])
              if not (i and size == sizes[64][i - 1] + more)]
    if firsts != sizes[0] or not again:
        raise Failure("PTX that spills is not assembled with more registers")


class Task:
    def __init__(self, name, target="cpu", cc="cc", cflags="-O1", options=(), also=None,
                 source=None):
        self.name, self.target, self.cc, self.cflags = name, target, cc, cflags
        self.options, self.also = options, also
        self.source = source or MODELS / name / "model.pt2"

    def __str__(self):
        return " ".join([self.name, self.target, self.cc, *self.options])


def build(task, project):
    run(NEREID, "build", task.source, "-o", project, "--target", task.target, *task.options)
    # Sanitizers are for what is written by hand: in kernels they take compilers minutes.
    kernels = "-O0" if task.cflags == SANITIZE else task.cflags
    cc = os.environ["CC"] if task.cc == "cc" else task.cc
    run("make", "-C", project, f"CC={cc} -Wshadow -Werror", f"CFLAGS={task.cflags}",
        f"KERNEL_CFLAGS={kernels}", "-s")


def check_task(task, folder):
    project = folder / re.sub(r"\W+", "-", str(task))
    model = MODELS / task.name
    gpu = task.target.startswith("sm_")
    build(task, project)
    if "--embed-weights" in task.options:
        (project / "weights.bin").unlink()
    if gpu and not task.also and shutil.which("ptxas"):
        assemble(project, shutil.which("ptxas"))
    if gpu and not has_gpu():
        if model.exists():
            check_without_gpu(project, model)
        if task.also:
            task.also(project, model, task.cc, task.cflags)
        return
    for i, case in enumerate(cases(model) if model.exists() else []):
        before = cross_arm.emulator() if task.cc == ARM else ()
        check_case(project, case, project / f"out{i}", before)
    if task.also:
        task.also(project, model, task.cc, task.cflags)


def check(task, folder):
    """The failure, empty if there is none."""
    try:
        check_task(task, folder)
    except Failure as failure:
        return f"FAIL {task}: {failure}"
    return ""


def some():
    """What `make check` does."""
    clang = "clang" if shutil.which("clang") else "cc"
    armed = shutil.which(ARM) and cross_arm.emulator()
    if not armed:
        print(f"skipped: projects for 64-bit Arm: no {ARM}, or no qemu-aarch64")
    arms = {"mlp": "cpu:4", "dyn_mlp": "cpu:4", "hf_t5enc": "cpu:4,cpu:8"} if armed else {}
    return [*(Task(name, target, cc=ARM, cflags="-O1") for name, target in arms.items()),
            Task("tv_shufflenet_v2_x0_5", "cpu:4,cpu:8", cflags="-O1", also=check_widths),
            Task("chain", cc=clang, options=["--name", "links"], also=check_names),
            Task("mlp", "cpu:4", options=["--embed-weights"]),
            Task("dyn_gpt", "cpu:8", cflags="-O0"),
            Task("kv_decode", "cpu:16", cflags="-O0", also=check_example),
            Task("dyn_mlp", cflags=SANITIZE, also=check_library),
            Task("writes", cflags=SANITIZE, also=check_writes, source=SOURCES / "writes.py"),
            Task("index", cflags=SANITIZE, also=check_index, source=SOURCES / "index.py"),
            Task("index", "sm_90a", cflags=SANITIZE, options=["--ptx-only"],
                 also=check_index_driver, source=SOURCES / "index.py"),
            Task("data", cflags=SANITIZE, also=check_refused,
                 source=ROOT / "tests/graph/commands/data.py"),
            Task("numbers", cflags=SANITIZE, also=check_numbers,
                 source=ROOT / "tests/graph/commands/number.py"),
            Task("equal", cflags=SANITIZE, also=check_equal,
                 source=ROOT / "tests/graph/commands/equal.py"),
            Task("complex", cflags=SANITIZE, also=check_complex, source=SOURCES / "complex.py"),
            Task("update", cflags=SANITIZE, also=check_update,
                 source=SOURCES / "update.plan"),
            Task("fixed", cflags=SANITIZE, also=check_fixed, source=SOURCES / "fixed.plan"),
            Task("dyn_gpt", "sm_90a,sm_86", cflags=SANITIZE, options=["--ptx-only"],
                 also=check_driver),
            Task("kv_decode", "sm_90a,sm_86", options=["--ptx-only"], cflags=SANITIZE,
                 also=check_driver),
            Task("tv_shufflenet_v2_x0_5", "sm_90a,sm_86", cflags=SANITIZE, options=["--ptx-only"],
                 also=check_driver),
            Task("product", "sm_90a,sm_86", cflags=SANITIZE, options=["--ptx-only"],
                 also=check_maps, source=SOURCES / "product.py"),
            Task("mlp", "sm_90a")]


def chosen(args):
    if not args.names and not args.target:
        return some()
    names = [m.name for m in sorted(MODELS.iterdir())
             if not args.names or any(n in m.name for n in args.names)]
    options = [] if args.machine_code or args.target == "cpu" else ["--ptx-only"]
    return [Task(n, args.target or "cpu", args.cc, args.cflags, options) for n in names]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cflags", default="-O1")
    parser.add_argument("--machine-code", action="store_true", help="cubins too, with ptxas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="a folder for the projects")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    tasks = chosen(args)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.keep or temporary)
        folder.mkdir(exist_ok=True)
        os.environ["NEREID_CACHE_DIR"] = str(folder / "cache")  # and no records
        os.environ["CC"] = quick_cc.write(temporary, "")  # keeps objects that projects share
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            results = list(pool.map(lambda task: check(task, folder), tasks))
    failures = [text for text in results if text]
    print("".join(text.rstrip() + "\n" for text in failures), end="")
    print(f"{len(results) - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
