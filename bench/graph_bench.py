"""What the benches of whole models share: a process for each model, one table of all."""
import json, pathlib, subprocess, sys, time

DTYPE_NAMES = {"torch.float32": "f32", "torch.float64": "f64", "torch.bfloat16": "bf16",
               "torch.float16": "f16", "torch.int64": "i64", "torch.int32": "i32",
               "torch.bool": "b8"}


def clock(function):
    """The seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def median(values):
    return sorted(values)[len(values) // 2]


def first(y):
    return y[0] if isinstance(y, (tuple, list)) else y


def error(y, reference):
    """The norm of the difference by that of the reference, a tensor of f64."""
    return ((y.double() - reference).norm() / reference.norm()).item()


def export(module, args, file):
    """The model as a .pt2 file."""
    import torch
    program = torch.export.export(module, args, strict=False)
    torch.export.save(program, file)
    return program


def bound(args):
    """Tensors of PyTorch as Model.bind takes them."""
    return [(x.data_ptr(), DTYPE_NAMES[str(x.dtype)], tuple(x.shape)) for x in args]


# ---- the table ----

def row(columns, result):
    def cell(f):
        try:
            return f(result)
        except KeyError:
            return "-"
    return "| " + " | ".join(cell(f) for f in columns.values()) + " |"


def run_alone(script, name, limit):
    """What the script prints last for one model, as JSON, in a process of its own; None if that
    fails."""
    command = [sys.executable, script, *sys.argv[1:], "--case", name]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"{name}: over {limit} s", flush=True)
        return None
    if done.returncode:
        print(f"{name}: status {done.returncode}", flush=True)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def run_all(script, cases, options, columns, limit):
    """A row for each case that options.names asks for; results go to options.json as well."""
    print("| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns), flush=True)
    results = []
    for name in cases:
        if options.names and not any(n in name for n in options.names):
            continue
        result = run_alone(script, name, limit)
        if result is None:
            continue
        results.append(result)
        print(row(columns, result), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    return results
