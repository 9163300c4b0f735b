#!/usr/bin/env python3
"""Times whole models on a GPU: Nereid beside PyTorch's eager mode and torch.compile.

    graphs.py [--modes default] [--profile DIR] [--json FILE] [NAME...]

Each model is exported by torch.export, and Nereid reads that file; all sides get the same inputs on
the same stream and take turns, with events around each run, and the median counts.  `err` is the
norm of the difference to the model in float32, by its norm, and PyTorch's own in brackets.
Compiling is all from the file to the end of the first run; `again` is that with a filled cache.
Peak memory is what a side adds to weights and inputs.  Models run in processes of their own.
Needs PyTorch, transformers and torchvision.
"""
import argparse, json, pathlib, sys, tempfile
from graph_bench import bound, clock, error, export, first, median, run_all

RUNS, WARM_UP = 30, 5
MODES = ["default", "reduce-overhead"]


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("names", nargs="*")
    p.add_argument("--modes", default="default", help="of Nereid, comma-separated")
    p.add_argument("--profile", help="folder for the times of all kernels of a run")
    p.add_argument("--json")
    p.add_argument("--case", help=argparse.SUPPRESS)
    p.add_argument("--no-inductor", action="store_true")
    return p.parse_args()


# ---- one model, in a process of its own ----

def medians(functions):
    import torch
    for f in functions.values():
        for _ in range(WARM_UP):
            f()
    pairs = {name: [] for name in functions}
    for _ in range(RUNS):
        for name, f in functions.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in "12")
            torch.cuda.synchronize()
            start.record()
            f()
            end.record()
            pairs[name].append((start, end))
    torch.cuda.synchronize()
    return {name: median([a.elapsed_time(b) * 1e3 for a, b in p]) for name, p in pairs.items()}


def peak_of(function):
    import torch
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    function()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def profile(function, file):
    import torch
    from torch.profiler import ProfilerActivity
    with torch.profiler.profile(activities=[ProfilerActivity.CUDA]) as p:
        function()
        torch.cuda.synchronize()
    rows = sorted(p.key_averages(), key=lambda e: -e.self_device_time_total)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{e.self_device_time_total:10.1f} us {e.count:5}x {e.key[:100]}\n"
                            for e in rows))


def from_dlpack(t, like):
    """A copy of an output as a tensor of PyTorch."""
    import torch
    y = torch.empty(tuple(t.shape[i] for i in range(t.ndim)), dtype=like.dtype, device="cuda")
    device.copy(y.data_ptr(), t.data, y.nbytes)
    device.sync()
    return y


def inductor(result, sides, module, args, y, reference):
    import torch
    import torch._inductor.metrics as metrics
    for mode in MODES:
        torch._dynamo.reset()
        metrics.reset()
        compiled = torch.compile(module, mode=None if mode == "default" else mode, dynamic=False)
        seconds, out = clock(lambda: (first(compiled(*args)), torch.cuda.synchronize())[0])
        result[f"compile {mode}"] = seconds
        result[f"error {mode}"] = error(out, reference)
        if mode == "default":
            result["inductor kernels"] = metrics.generated_kernel_count
            result["inductor peak"] = peak_of(lambda: compiled(*args))
        sides[f"inductor {mode}"] = lambda compiled=compiled: compiled(*args)


def nereid(result, sides, file, args, y, reference, modes):
    import torch
    from graph_binding import Model
    stream = device.stream(torch.cuda.current_stream().cuda_stream or 1)
    inputs = bound(args)
    for mode in modes:
        def cold():
            model = Model(file, device, mode)
            run = model.bind(inputs, stream)
            out = run()
            device.sync()
            return model, run, out
        try:
            result[f"compile nereid {mode}"], (model, run, out) = clock(cold)
        except Exception as problem:
            print(f"{file.parent.name} {mode}: {problem}", file=sys.stderr)
            continue
        if mode == "default":
            result["compile again"] = clock(cold)[0]
        result[f"error nereid {mode}"] = error(from_dlpack(out[0], y), reference)
        result[f"info {mode}"] = model.info()
        sides[f"nereid {mode}"] = run


def run_case(options):
    global device
    import torch
    import binding
    from graph_cases import CASES
    make, dtype = CASES[options.case]
    torch.manual_seed(0)
    module, args = make()
    module = module.eval()
    args = tuple(a.cuda() for a in args)
    result, sides = {"name": options.case}, {}
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        reference = first(module.cuda()(*args)).double()
        module = module.to(dtype)
        args = tuple(a.to(dtype) if a.is_floating_point() else a for a in args)
        file = pathlib.Path(folder) / "model.pt2"
        export(module, args, file)
        y = first(module(*args))
        result["error eager"] = error(y, reference)
        sides["eager"] = lambda: module(*args)
        device = binding.Device("cuda")
        nereid(result, sides, file, args, y, reference, options.modes.split(","))
        if not options.no_inductor:
            inductor(result, sides, module, args, y, reference)
        result["us"] = medians(sides)
        if options.profile:
            for name, f in sides.items():
                profile(f, pathlib.Path(options.profile) /
                        f"{options.case}_{name.replace(' ', '_')}.txt")
    print(json.dumps(result))


# ---- the table ----

def megabytes(n):
    return f"{n / 1e6:.0f}"


COLUMNS = {
    "model": lambda r: r["name"],
    "eager us": lambda r: f"{r['us']['eager']:.0f}",
    "inductor": lambda r: f"{r['us']['inductor default']:.0f}",
    "with graphs": lambda r: f"{r['us']['inductor reduce-overhead']:.0f}",
    "nereid": lambda r: f"{r['us']['nereid default']:.0f}",
    "to inductor": lambda r: f"{r['us']['inductor default'] / r['us']['nereid default']:.2f}",
    "reduce-overhead": lambda r: f"{r['us']['nereid reduce-overhead']:.0f}",
    "max-autotune": lambda r: f"{r['us']['nereid max-autotune']:.0f}",
    "kernels": lambda r: f"{r['info default']['launches']} [{r['inductor kernels']}]",
    "compile s": lambda r: f"{r['compile nereid default']:.2f} [{r['compile default']:.1f}]",
    "again ms": lambda r: f"{1e3 * r['compile again']:.0f}",
    "MB": lambda r: f"{megabytes(r['info default']['pool'])} [{megabytes(r['inductor peak'])}]",
    "err": lambda r: f"{r['error nereid default']:.1e} [{r['error eager']:.1e}]",
}


def main():
    options = parse()
    if options.case:
        return run_case(options)
    try:
        import torch, transformers, torchvision
    except ImportError as problem:
        print(f"graphs.py: skipped: {problem}")
        return
    from graph_cases import CASES
    run_all(__file__, CASES, options, COLUMNS, 300)


device = None
if __name__ == "__main__":
    main()
