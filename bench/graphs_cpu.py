#!/usr/bin/env python3
"""Times whole models on the CPU, in f32: Nereid beside PyTorch's eager mode and ONNX Runtime.

    graphs_cpu.py [--threads N] [--runs N] [--processor-time] [--json FILE] [NAME...]

Each model is exported as .pt2, which Nereid reads, and as .onnx, which ONNX Runtime does.  All
sides have the same inputs and threads and take turns: a run that warms the caches up and lets other
sides' threads fall asleep, then one that counts; the median of these is told.  `err` is the norm of
the difference to the model in f64 by its norm.  Peak memory is what loading the file, and a run,
add to a process.  Models, and measurements of memory, run in processes of their own.
With --processor-time, which is for one thread on a machine that others use, the time is the
processor's.
Needs PyTorch, transformers and torchvision; ONNX Runtime and onnxscript may be missing.
"""
import argparse, ctypes, json, os, pathlib, subprocess, sys, tempfile, time
from graph_bench import bound, error, export, first, median, run_all

SETTLE_S = 0.02  # threads that spin after a parallel region are asleep then


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("names", nargs="*")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--runs", type=int, default=15)
    p.add_argument("--processor-time", action="store_true")
    p.add_argument("--no-memory", action="store_true", help="leaves out peak memory")
    p.add_argument("--no-onnx", action="store_true", help="leaves out ONNX Runtime")
    p.add_argument("--json")
    p.add_argument("--case", help=argparse.SUPPRESS)
    p.add_argument("--memory", help=argparse.SUPPRESS)
    p.add_argument("--folder", help=argparse.SUPPRESS)
    return p.parse_args()


# ---- sides: of the folder of a model's files, and inputs, a function that runs the model ----

def pytorch(folder, args, threads):
    import torch
    module = torch.load(folder / "module.pt", weights_only=False, mmap=True)

    def run():
        with torch.inference_mode():
            return first(module(*args))
    return run


def onnxruntime(folder, args, threads):
    import onnxruntime as ort
    import torch
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    # Its threads spin within a run, but take no processors from the sides after it.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = ort.InferenceSession(folder / "model.onnx", options,
                                   providers=["CPUExecutionProvider"])
    given = {i.name: x.numpy() for i, x in zip(session.get_inputs(), args)}
    return lambda: torch.from_numpy(session.run(None, given)[0])


def nereid(folder, args, threads):
    import binding
    from graph_binding import Model
    device = binding.Device("cpu")
    model = Model(folder / "model.pt2", device)
    execute = model.bind(bound(args))

    def run():
        return copied(execute()[0], args)
    run.bare, run.model, run.device = execute, model, device
    return run


def copied(t, args):
    import torch
    y = torch.empty(tuple(t.shape[i] for i in range(t.ndim)))
    ctypes.memmove(y.data_ptr(), t.data, y.nbytes)
    return y


SIDES = {"eager": pytorch, "ort": onnxruntime, "nereid": nereid}


# ---- memory ----

def kilobytes(name):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def reset_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def run_memory(options):
    """Prints what the side named options.memory adds to this process, in bytes: what it keeps
    after loading, and the peak of a run."""
    import torch
    torch.set_num_threads(options.threads)
    folder = pathlib.Path(options.folder)
    args = torch.load(folder / "inputs.pt")
    if options.memory == "ort":
        import onnxruntime
    warm = torch.randn(64, 64) @ torch.randn(64, 64)  # libraries that load late
    before = kilobytes("VmRSS")
    run = SIDES[options.memory](folder, args, options.threads)
    ctypes.CDLL(None).malloc_trim(0)
    reset_peak()
    getattr(run, "bare", run)()
    print(1024 * (kilobytes("VmHWM") - before))


def peak(options, side, folder):
    command = [sys.executable, __file__, *sys.argv[1:], "--memory", side, "--folder", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return int(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


# ---- one model, in a process of its own ----

def write_files(folder, module, args, onnx):
    import torch
    torch.save(args, folder / "inputs.pt")
    torch.save(module, folder / "module.pt")
    program = export(module, args, folder / "model.pt2")
    if not onnx:
        return
    try:
        torch.onnx.export(program, f=str(folder / "model.onnx"), dynamo=True, verbose=False)
    except Exception as problem:
        print(f"no file for ONNX Runtime: {problem}", file=sys.stderr)


def wanted_sides(folder):
    try:
        import onnxruntime
        ort = (folder / "model.onnx").exists()
    except ImportError:
        ort = False
    return [s for s in SIDES if s != "ort" or ort]


def medians(functions, options):
    """The median of each function's times in ms."""
    now = time.process_time if options.processor_time else time.perf_counter
    times = {name: [] for name in functions}
    for _ in range(options.runs):
        for name, f in functions.items():
            time.sleep(SETTLE_S)
            f()
            start = now()
            f()
            times[name].append(1e3 * (now() - start))
    return {name: median(t) for name, t in times.items()}


def start(side, folder, args, options):
    """The function that runs the model on that side, the seconds that it took until its first
    result, and that result."""
    begin = time.perf_counter()
    run = SIDES[side](folder, args, options.threads)
    y = run()
    return run, time.perf_counter() - begin, y


def reference_of(module, args):
    import copy
    module = copy.deepcopy(module).double()
    return first(module(*(a.double() if a.is_floating_point() else a for a in args)))


def run_case(options):
    import torch
    from graph_cases_cpu import CASES
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    made = CASES[options.case]()
    module, args = made[0].eval(), made[1]
    result = {"name": options.case, "compile": {}, "error": {}, "peak": {}}
    with torch.no_grad(), tempfile.TemporaryDirectory() as name:
        folder, runs = pathlib.Path(name), {}
        os.environ["NEREID_CACHE_DIR"] = str(folder / "cache")  # compiling is from nothing
        write_files(folder, module, args, not options.no_onnx)
        reference = reference_of(module, args)
        del module
        for side in wanted_sides(folder):
            run, result["compile"][side], y = start(side, folder, args, options)
            result["error"][side] = error(y, reference)
            runs[side] = getattr(run, "bare", run)
            if side == "nereid":
                result["info"] = run.model.info()
        result["ms"] = medians(runs, options)
        for side in runs if not options.no_memory else ():
            result["peak"][side] = peak(options, side, folder)
    print(json.dumps(result))


# ---- the table ----

def ratio(r, side):
    return f"{r['ms'][side] / r['ms']['nereid']:.2f}"


def megabytes(r, side):
    n = r["peak"][side]
    return "-" if n is None else f"{n / 1e6:.0f}"


COLUMNS = {
    "model": lambda r: r["name"],
    "eager ms": lambda r: f"{r['ms']['eager']:.2f}",
    "ORT ms": lambda r: f"{r['ms']['ort']:.2f}",
    "Nereid ms": lambda r: f"{r['ms']['nereid']:.2f}",
    "eager / Nereid": lambda r: ratio(r, "eager"),
    "ORT / Nereid": lambda r: ratio(r, "ort"),
    "launches": lambda r: str(r["info"]["launches"]),
    "compile s": lambda r: f"{r['compile']['nereid']:.1f}",
    "MB": lambda r: megabytes(r, "nereid"),
    "eager MB": lambda r: megabytes(r, "eager"),
    "ORT MB": lambda r: megabytes(r, "ort"),
    "err": lambda r: f"{r['error']['nereid']:.0e}",
    "eager err": lambda r: f"{r['error']['eager']:.0e}",
}


def main():
    options = parse()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    if options.memory:
        return run_memory(options)
    if options.case:
        return run_case(options)
    try:
        import torch, transformers, torchvision
    except ImportError as problem:
        print(f"graphs_cpu.py: skipped: {problem}")
        return
    from graph_cases_cpu import CASES
    print(f"{options.threads} threads, PyTorch {torch.__version__}", flush=True)
    run_all(__file__, CASES, options, COLUMNS, 900)


if __name__ == "__main__":
    main()
