"""Measures a kernel under Triton over sizes, for `nereid bench --peer`; the same command line.

    python3 bench/peer_triton.py FILE:KERNEL NAME=VALUE... [-D NAME=VALUE]... --x NAME=V1,V2,...
        --grid X[,Y[,Z]] [--num-warps N] [--num-stages N] [--bytes EXPR | --flops EXPR]
        [--label TEXT] --json OUT.json

Needs PyTorch and Triton, and a GPU.  Values are numbers, true, none, and zeros:, ones:, empty:,
rand:, randn:, randint: arrays; -D takes numbers, True, False, None, tl.DTYPE and fn:NAME.  Times
are do_bench's: medians and quartiles, the L2 cache flushed before each run.
"""
import argparse, importlib.util, json, pathlib, re

DTYPES = dict(f16="float16", fp16="float16", bf16="bfloat16", f32="float32", fp32="float32",
              f64="float64", fp64="float64", i8="int8", i16="int16", i32="int32", i64="int64",
              u8="uint8", i1="bool")


def cdiv(a, b):
    return -(-a // b)


def evaluate(text, names):
    """An integer expression of `nereid bench`, which is one of Python's, too."""
    functions = dict(cdiv=cdiv, min=min, max=max)
    return int(eval(text, {"__builtins__": {}, **functions}, names))


def split(text):
    """At commas outside of parentheses."""
    return re.split(r",\s*(?![^(]*\))", text)


def fill_braces(text, names):
    return re.sub(r"\{([^}]*)\}", lambda m: str(evaluate(m[1], names)), text)


def integers(settings):
    return {n: int(t) for n, t in settings.items() if re.fullmatch(r"[+-]?\d+", t)}


def array(torch, text, names):
    kind, dtype, shape, rest = re.fullmatch(r"(\w+):(\w+)\[(.*)\](?::(.*))?", text).groups()
    sizes = [evaluate(e, names) for e in split(shape)] if shape else []
    options = dict(dtype=getattr(torch, DTYPES[dtype]), device="cuda")
    if kind == "randint":
        lo, hi = rest.split(":")[:2]
        return torch.randint(int(lo), int(hi), sizes, **options)
    if kind in ("rand", "randn"):  # not every dtype can be drawn
        return getattr(torch, kind)(sizes, device="cuda").to(options["dtype"])
    return getattr(torch, kind)(sizes, **options)


def value(torch, text, names):
    words = {"true": True, "false": False, "none": None}
    if text in words:
        return words[text]
    if "[" in text:
        return array(torch, text, names)
    number = text.split(":")[0]
    return int(number) if re.fullmatch(r"[+-]?\d+", number) else float(number)


def constant(module, text):
    if text.startswith("fn:"):
        return getattr(module, text[3:])
    if text.startswith("tl."):
        return getattr(module.tl, text[3:])
    words = {"True": True, "False": False, "None": None}
    return words[text] if text in words else float(text) if "." in text else int(text)


def load(path):
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(kernel, module, options, x_name, x):
    """[x, median, low, high] in the unit that the options name."""
    import torch, triton
    pairs = lambda list: dict(pair.split("=", 1) for pair in list)
    given, defines = pairs(options.values), pairs(options.D)
    names = {**integers(given), **integers(defines), x_name: x}
    given = {n: fill_braces(t, names) for n, t in given.items()}
    defines = {n: fill_braces(t, names) for n, t in defines.items()}
    names = {**integers(given), **integers(defines), x_name: x}
    args = {n: value(torch, t, names) for n, t in given.items() if not t.startswith("&")}
    args |= {n: args[t[1:]] for n, t in given.items() if t.startswith("&")}
    args |= {n: constant(module, t) for n, t in defines.items()}
    if x_name in kernel.arg_names:
        args[x_name] = x
    tuned = {n: v for n, v in (("num_warps", options.num_warps),
                               ("num_stages", options.num_stages)) if v}
    grid = tuple(evaluate(e, names) for e in split(options.grid))
    run = lambda: kernel[grid](**args, **tuned)
    run()  # compiles
    times = triton.testing.do_bench(run, quantiles=[0.5, 0.25, 0.75])
    median, low, high = (1e3 * t for t in times)
    work = options.bytes or options.flops
    if not work:
        return [x, median, low, high]
    work = evaluate(work, names) / (1e3 if options.bytes else 1e6)
    return [x, work / median, work / high, work / low]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernel")
    parser.add_argument("values", nargs="*")
    parser.add_argument("-D", action="append", default=[])
    for option in ("--x", "--grid", "--json"):
        parser.add_argument(option, required=True)
    for option in ("--num-warps", "--num-stages"):
        parser.add_argument(option, type=int)
    for option in ("--bytes", "--flops", "--label"):
        parser.add_argument(option)
    options = parser.parse_intermixed_args()
    path, _, name = options.kernel.rpartition(":")
    module = load(path)
    kernel = getattr(module, name)
    while hasattr(kernel, "fn") and not hasattr(kernel, "arg_names"):
        kernel = kernel.fn
    x_name, sizes = options.x.split("=")
    sizes = sorted(map(int, sizes.split(",")))
    points = [measure(kernel, module, options, x_name, x) for x in sizes]
    unit = "GB/s" if options.bytes else "TFLOP/s" if options.flops else "us"
    series = dict(label=options.label or "triton", x_name=x_name, unit=unit, points=points)
    pathlib.Path(options.json).write_text(json.dumps(series) + "\n")


if __name__ == "__main__":
    main()
