#!/usr/bin/env python3
"""Products of matrices and convolutions on a GPU: kernels of ours, cuBLASLt and cuDNN as plans call
them, and PyTorch.

    libraries.py [--seconds N] [--names ...] [--share I/N] RESULTS
                                                          measures, and adds to a file of JSON lines
    libraries.py --report RESULTS                         its table
    libraries.py --table RESULTS...                       runtime/library/library_times.def

Times are microseconds of a CUDA graph of several runs, the median of some replays; values of both
are compared with PyTorch's.  Cases are those of training steps and of inference of models, then a
grid of sizes; what a file has is not measured again.  Of rows with the same name the last counts in
the table of times, which chooses between kernels and libraries where there are no records."""

import argparse
import concurrent.futures
import json
import math
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

NAMES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32"}
LIMITS = {"f32": 1e-2, "f16": 1e-2, "bf16": 3e-2}  # of errors, over the largest value


@dataclass
class Case:
    """The text of a model, how its inputs look, and what PyTorch computes of them."""

    name: str
    key: dict
    inputs: list  # (shape, dtype, scale)
    params: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    eager: object = None

    def text(self):
        params = ", ".join(f'{name}: "{dtype}[{", ".join(map(str, shape))}]"'
                           for name, (shape, dtype, _) in zip(self.params, self.inputs))
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def forward(self, {params}):\n{body}    return (r,)\n"


# ---- products ----


def product(of, layout, m, n, k, batch=1, dtype="bf16", follow=""):
    """out[m, n] = a[m, k] by b[k, n]; the letters of the layout say which operand is a transposed
    view of rows.  `follow`: bias, gelu, gelu_tanh, relu, add (of a tensor), f32 (a cast)."""
    words = follow.split()
    key = {"kind": "product", "layout": layout, "m": m, "n": n, "k": k, "batch": batch,
           "dtype": dtype, "follow": follow}
    head = [batch] if batch > 1 else []
    case = Case(f"{of} {layout} {batch}x{m}x{n}x{k} {dtype} {follow}".strip(), key, [
        ([*head, *((m, k) if layout[0] == "n" else (k, m))], dtype, 1.0),
        ([*head, *((k, n) if layout[1] == "n" else (n, k))], dtype, k**-0.5)], ["a0", "b0"])
    for name, letter in zip("ab", layout):
        view = "alias.default({0}0)" if letter == "n" else "transpose.int({0}0, -1, -2)"
        case.lines.append(f"{name} = torch.ops.aten.{view.format(name)}")
    case.lines.append(f"r = torch.ops.aten.{'bmm' if head else 'mm'}.default(a, b)")
    if "bias" in words:
        case.inputs.append(([n], dtype, 1.0))
        case.params.append("c")
        case.lines.append("r = torch.ops.aten.add.Tensor(r, c)")
    for word in words:
        if word.startswith("gelu"):
            how = "tanh" if word.endswith("tanh") else "none"
            case.lines.append(f"r = torch.ops.aten.gelu.default(r, approximate = '{how}')")
        elif word == "relu":
            case.lines.append("r = torch.ops.aten.relu.default(r)")
        elif word == "add":
            case.inputs.append(([*head, m, n], dtype, 1.0))
            case.params.append("d")
            case.lines.append("r = torch.ops.aten.add.Tensor(r, d)")
        elif word == "f32":
            case.lines.append("r = torch.ops.aten._to_copy.default(r, dtype = torch.float32)")
    case.lines = _numbered(case.lines)

    def eager(torch, given):
        a, b, *rest = given
        a = a.transpose(-1, -2) if layout[0] == "t" else a
        b = b.transpose(-1, -2) if layout[1] == "t" else b
        if "bias" in words:
            r = torch.addmm(rest.pop(0), a, b)
        else:
            r = torch.bmm(a, b) if head else torch.mm(a, b)
        for word in words:
            if word.startswith("gelu"):
                r = torch.nn.functional.gelu(
                    r, approximate="tanh" if word.endswith("tanh") else "none")
            elif word == "relu":
                r = torch.relu(r)
            elif word == "add":
                r = r + rest.pop(0)
            elif word == "f32":
                r = r.float()
        return r

    case.eager = eager
    return case


def _numbered(lines):
    """Each value has a name of its own; the last is r."""
    out, value = [], ""
    for i, line in enumerate(lines):
        name, _, rest = line.partition(" = ")
        if name != "r":
            out.append(line)
            continue
        rest = rest.replace("(r, ", f"({value}, ").replace("(r)", f"({value})")
        value = "r" if i == len(lines) - 1 else f"r{i}"
        out.append(f"{value} = {rest}")
    return out


def linear(of, rows, inputs, outputs, follow="bias"):
    """A layer of a training step: forward, the gradients of its input and of its weight."""
    return [product(f"{of}.fwd", "nt", rows, outputs, inputs, follow=follow),
            product(f"{of}.dgrad", "nn", rows, inputs, outputs),
            product(f"{of}.wgrad", "tn", outputs, inputs, rows)]


def layers():
    out = []
    for of, rows, width, wide in ("bert", 8192, 768, 3072), ("vit", 12608, 768, 3072):
        out += linear(f"{of}.proj", rows, width, width)
        out += linear(f"{of}.ffn1", rows, width, wide)
        out += linear(f"{of}.ffn2", rows, wide, width)
    out += linear("vit.qkv", 12608, 768, 2304)
    out += linear("bert.head", 8192, 768, 30522)
    for name, inputs, outputs, follow in (("qkv", 768, 2304, "bias"), ("proj", 768, 768, "bias"),
                                          ("ffn1", 768, 3072, "bias gelu_tanh"),
                                          ("ffn2", 3072, 768, "bias")):
        out += [product(f"gpt2.{name}.fwd", "nn", 4096, outputs, inputs, follow=follow),
                product(f"gpt2.{name}.dgrad", "nt", 4096, inputs, outputs),
                product(f"gpt2.{name}.wgrad", "tn", inputs, outputs, 4096)]
    out += linear("gpt2.head", 4096, 768, 50257, "")
    out += linear("gpt2.padded", 4096, 768, 50264, "")  # as pass align_rows has it
    out += linear("bert.padded", 8192, 768, 30528, "")
    for name, inputs, outputs, follow in (("q", 2048, 2048, ""), ("kv", 2048, 512, ""),
                                          ("up", 2048, 8192, ""), ("down", 8192, 2048, "")):
        out += linear(f"llama.{name}", 2048, inputs, outputs, follow)
    out += linear("llama.head", 2048, 2048, 128256, "")
    for size, narrow, wide in ((56, 64, 256), (28, 128, 512), (14, 256, 1024), (7, 512, 2048)):
        rows = 128 * size * size
        out += linear(f"resnet.{size}.out", rows, narrow, wide, "")
        out += linear(f"resnet.{size}.in", rows, wide, narrow, "")
    for layout, m, n, k in (("nt", 512, 512, 64), ("nn", 512, 64, 512), ("tn", 512, 64, 512)):
        out.append(product("bert.attention", layout, m, n, k, batch=192))
    return out


def epilogues():
    """What is a kernel of its own after a library's call."""
    return [product("bert.ffn1.fwd", "nt", 8192, 3072, 768, follow="bias gelu"),
            product("bert.ffn2.fwd", "nt", 8192, 768, 3072, follow="bias add"),
            product("bert.proj.wgrad", "tn", 768, 768, 8192, follow="f32"),
            product("bert.ffn1.wgrad", "tn", 3072, 768, 8192, follow="f32"),
            product("llama.up.wgrad", "tn", 8192, 2048, 2048, follow="f32"),
            product("llama.down.fwd", "nt", 2048, 2048, 8192, follow="add")]


def rounded(case):
    """With operands of f32 rounded to TF32."""
    case.name += " tf32"
    case.key["tf32"] = 1
    return case


def grid():
    out = [rounded(product("grid", layout, m, n, n, dtype="f32"))
           for layout in ("nt", "nn", "tn") for m, n in ((2048, 1024), (2048, 4096))]
    out += [rounded(convolution("resnet", work, 32, 28, 128, 128, 3, 1, dtype="f32"))
            for work in WORKS]
    for dtype, rows, widths in (("bf16", (128, 512, 2048, 8192), (512, 1024, 2048, 4096)),
                                ("f16", (2048,), (1024, 4096)),
                                ("f32", (32, 512, 2048), (1024, 4096))):
        for layout in ("nt", "nn", "tn"):
            for m in rows:
                for width in widths:
                    sizes = (width, width, m) if layout == "tn" else (m, width, width)
                    out.append(product("grid", layout, *sizes, dtype=dtype))
    out += [product("grid", layout, 2048, 2048, 2048) for layout in ("tt",)]
    out += [product("grid", layout, m, m, 64, batch=64) for layout in ("nt", "nn")
            for m in (256, 1024)]
    out += [product("tall", "tn", n, k, rows) for rows in (16384, 65536)
            for n, k in ((256, 256), (768, 768))]
    return out


# ---- convolutions ----


def padding_of(window):
    """Windows of patches have none."""
    return window // 2 if window % 2 else 0


def convolution(of, work, images, size, channels, features, window, stride=1, groups=1,
                dtype="bf16"):
    pad = padding_of(window)
    out = (size + 2 * pad - window) // stride + 1
    key = {"kind": work, "images": images, "size": size, "channels": channels,
           "features": features, "window": window, "stride": stride, "groups": groups,
           "dtype": dtype}
    name = f"{of} {work} {images}x{size}x{channels}->{features} {window}/{stride} {dtype}"
    name += f" groups {groups}" if groups > 1 else ""
    x = [images, size, size, channels], dtype, 1.0
    w = [features, window, window, channels // groups], dtype, (channels // groups *
                                                                window**2)**-0.5
    g = [images, out, out, features], dtype, 1.0
    case = Case(name, key, [x, w] if work == "forward" else [x, w, g])
    case.params = [f"{letter}0" for letter in "xwg"[:len(case.inputs)]]
    case.lines = [f"{letter} = torch.ops.aten.permute.default({letter}0, [0, 3, 1, 2])"
                  for letter in "xwg"[:len(case.inputs)]]
    options = [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], groups
    words = ", ".join(map(str, options))
    mask = [work == "input", work == "weight", False]
    if work == "forward":
        case.lines.append(f"y = torch.ops.aten.convolution.default(x, w, None, {words})")
    else:
        case.lines += [f"t = torch.ops.aten.convolution_backward.default(g, x, w, [0], {words}, "
                       f"{mask})", f"y = t[{int(mask[1])}]"]
    case.lines.append("r = torch.ops.aten.permute.default(y, [0, 2, 3, 1])")

    def eager(torch, given):
        first = [a.permute(0, 3, 1, 2) for a in given]
        if work == "forward":
            y = torch.ops.aten.convolution(*first, None, *options)
        else:
            y = torch.ops.aten.convolution_backward(first[2], first[0], first[1], [0], *options,
                                                    mask)[int(mask[1])]
        return y.permute(0, 2, 3, 1)

    case.eager = eager
    return case


WORKS = "forward", "input", "weight"
# size, channels, features, window, stride
RESNET = ((56, 64, 64, 3, 1), (56, 128, 128, 3, 2), (28, 128, 128, 3, 1), (28, 256, 256, 3, 2),
          (14, 256, 256, 3, 1), (14, 512, 512, 3, 2), (7, 512, 512, 3, 1))


def convolutions():
    out = [convolution("resnet", work, 128, *sizes) for sizes in RESNET for work in WORKS]
    out += [convolution("resnet.stem", work, 128, 224, 3, 64, 7, 2) for work in
            ("forward", "weight")]
    out += [convolution("resnet.down", work, 128, 56, 256, 512, 1, 2) for work in WORKS]
    out += [convolution("resnet", "forward", 16, *sizes) for sizes in RESNET]
    out += [convolution("resnet.stem", "forward", 16, 224, 3, 64, 7, 2),
            convolution("convnext.stem", "forward", 16, 224, 3, 96, 4, 4),
            convolution("convnext.down", "forward", 16, 56, 96, 192, 2, 2),
            convolution("convnext.dw", "forward", 16, 56, 96, 96, 7, groups=96),
            convolution("convnext.dw", "forward", 16, 14, 384, 384, 7, groups=384),
            convolution("mobilenet.dw", "forward", 16, 56, 72, 72, 3, groups=72),
            convolution("mobilenet.dw", "forward", 16, 14, 480, 480, 5, groups=480),
            convolution("mobilenet.stem", "forward", 16, 224, 3, 16, 3, 2),
            convolution("resnext", "forward", 16, 28, 256, 256, 3, groups=32)]
    out += [convolution("mobilenet.dw", work, 64, *sizes) for work in WORKS
            for sizes in ((56, 72, 72, 3, 1, 72), (28, 120, 120, 5, 2, 120))]
    out += [convolution("convnext.dw", work, 32, 28, 192, 192, 7, groups=192) for work in WORKS]
    out += [convolution("convnext.down", work, 32, 56, 96, 192, 2, 2) for work in WORKS]
    out += [convolution("unet", work, 4, size, channels, features, 3)
            for size, channels, features in ((256, 64, 64), (128, 128, 128), (64, 256, 256),
                                             (64, 512, 256)) for work in ("forward",)]
    out += [convolution("resnet", work, 32, 28, 128, 128, 3, 1, dtype=dtype)
            for dtype in ("f16", "f32") for work in WORKS]
    return out


# ---- measuring ----


def sides_of(nereid, case):
    made = {}
    for side, libraries in (("kernels", "none"), ("library", "always")):
        try:
            made[side] = model = nereid.load(case.text(), libraries=libraries)
            model._options["tf32"] = 3 * case.key.get("tf32", 0)
            model._on("cuda")
        except Exception as problem:
            made[side] = f"{type(problem).__name__}: {str(problem)[:600]}"
    return made


def time_us(torch, run):
    """Of a CUDA graph of several runs; without one where it can't be captured."""
    run()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    each = (time.perf_counter() - begin) / 3
    count = max(1, min(20, int(1e-3 / each)))
    replay, how = None, "graph"
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(count):
                run()
        replay = graph.replay
    except Exception as problem:
        how = f"{type(problem).__name__}: {str(problem)[:300]}"
        torch.cuda.synchronize()
        replay = lambda: [run() for _ in range(count)]
    replay()
    times = []
    for _ in range(9):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        events[0].record()
        replay()
        events[1].record()
        events[1].synchronize()
        times.append(events[0].elapsed_time(events[1]) * 1e3 / count)
    return statistics.median(times), how


def error_of(got, want):
    scale = want.float().abs().max().item() or 1.0
    return (got.float() - want.float()).abs().max().item() / scale


def measure(torch, case, sides):
    draw = lambda shape, dtype, scale: (torch.randn(*shape, device="cuda") * scale).to(
        getattr(torch, NAMES[dtype]))
    inputs = [draw(*x) for x in case.inputs]
    tf32 = bool(case.key.get("tf32"))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    row = {"name": case.name, **case.key, "us": {}, "error": {}, "problem": {}, "calls": []}
    want = case.eager(torch, inputs)
    row["us"]["torch"], how = time_us(torch, lambda: case.eager(torch, inputs))
    for side, model in sides.items():
        if isinstance(model, str):
            row["problem"][side] = model
            continue
        out = [torch.empty_like(want, memory_format=torch.contiguous_format)]
        try:
            model.run(*inputs, out=out)
            torch.cuda.synchronize()
            row["error"][side] = error_of(out[0], want)
            row["us"][side], how = time_us(torch, lambda: model.run(*inputs, out=out))
            if how != "graph":
                row["problem"][f"{side} capture"] = how
            if side == "library":
                plan = model.explain(*inputs)
                row["calls"] = [word for line in plan.splitlines() for word in line.split()
                                if word.startswith(("cublas.", "cudnn."))]
        except Exception as problem:
            row["problem"][side] = f"{type(problem).__name__}: {str(problem)[:600]}"
            if "CUDA" in str(problem) or "device" in str(problem):
                torch.cuda.synchronize()  # ends here where the context is lost
    return row


def show(row):
    us = row["us"]
    cell = lambda side: f"{us[side]:10.1f}" if side in us else f"{'-':>10}"
    limit = LIMITS[row["dtype"]]
    bad = [side for side, error in row["error"].items() if not error < limit]
    text = f"{row['name']:58}" + "".join(cell(side) for side in ("torch", "kernels", "library"))
    if "kernels" in us and "library" in us:
        text += f"{us['kernels'] / us['library']:7.2f}"
    print(text + ("" if row["calls"] else "  no call") +
          "".join(f"  WRONG {side} {row['error'][side]:.1g}" for side in bad), flush=True)
    for side, problem in row["problem"].items():
        print(f"    {side}: {problem[:240]}", flush=True)


def cases_of(options):
    def chosen(case):
        return not options.names or any(name in case.name for name in options.names)

    # The small ones of each kind first, to see early what works.
    first = convolutions()[:6] + layers()[:9]
    rest = layers()[9:] + convolutions()[6:] + epilogues() + grid()
    return [case for case in first + rest if chosen(case)]


def run_all(options):
    import torch

    import nereid

    results = Path(options.results)
    done = {row["name"] for row in read(results)}
    cases = [case for case in cases_of(options) if case.name not in done]
    mine, shares = options.share
    cases = cases[mine::shares]
    begin = time.monotonic()
    torch.zeros(1, device="cuda")
    device = torch.cuda.get_device_name()
    print(f"{device}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}; {len(cases)} cases\n"
          f"{'us':58}{'torch':>10}{'kernels':>10}{'library':>10}  ratio", flush=True)
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    waiting: list = []
    with results.open("a") as file:
        for i, case in enumerate(cases):
            while len(waiting) < min(3 * options.jobs, len(cases) - i):
                waiting.append(pool.submit(sides_of, nereid, cases[i + len(waiting)]))
            if time.monotonic() - begin > options.seconds:
                print(f"{len(cases) - i} cases are left", flush=True)
                break
            try:
                row = measure(torch, case, waiting.pop(0).result())
            except torch.OutOfMemoryError as problem:
                print(f"{case.name}: {str(problem)[:100]}", flush=True)
                continue
            row["device"], row["date"] = device, time.strftime("%Y-%m-%d")
            file.write(json.dumps(row) + "\n")
            file.flush()
            show(row)
    pool.shutdown(wait=False, cancel_futures=True)


# ---- results ----


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


CAPABILITIES = {"H100": 90, "H200": 90}
# What cuBLASLt has in an epilogue; the cost of a kernel after it is reckoned apart.
ABSORBED = {"", "bias", "bias relu", "bias gelu_tanh"}


def timed_row(row):
    """A row of the table; None: it is of something else."""
    us, kind = row["us"], row["kind"]
    library = us.get("library") if row["calls"] else us.get("torch")
    if "kernels" not in us or library is None:
        return None
    capability = next((c for name, c in CAPABILITIES.items() if name in row["device"]), None)
    if capability is None or (kind == "product" and row["follow"] not in ABSORBED):
        return None
    if kind != "product" and row["groups"] == row["features"]:
        return None  # depthwise, for which PyTorch has kernels of its own
    if kind == "product":
        work, batch, taps, stride = row["layout"].upper(), row["batch"], 1, 1
        m, n, k = row["m"], row["n"], row["k"]
    else:
        pads = 2 * padding_of(row["window"])
        out = (row["size"] + pads - row["window"]) // row["stride"] + 1
        work, batch, taps, stride = kind.upper(), row["groups"], row["window"]**2, row["stride"]
        m, n = row["images"] * out**2, row["features"] // batch
        k = taps * row["channels"] // batch
    sizes = ", ".join(map(str, (batch, m, n, k, taps, stride)))
    return (f"ROW({capability}, {work}, {row['dtype'].upper()}, {row.get('tf32', 0)}, {sizes}, "
            f"{us['kernels']:.1f}, {library:.1f})")


def table(paths):
    rows = {row["name"]: row for path in paths for row in read(Path(path))}
    devices = sorted({f"{row['device']}, {row.get('date', '2026-11-24')}" for row in rows.values()})
    print("/* ROW(capability, work, dtype, tf32, batch, m, n, k, taps, stride, us of kernels, "
          "us of a library):\n"
          f" * written by bench/compile/libraries.py --table, of {'; '.join(devices)}. */")
    for line in sorted(filter(None, map(timed_row, rows.values()))):
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--names", default=[], type=lambda text: text.split(","))
    parser.add_argument("--jobs", type=int, default=10, help="models compiled at a time")
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("--share", default=(0, 1),
                        type=lambda text: tuple(map(int, text.split("/"))),
                        help="every Nth case from case I on: one of several GPUs")
    options = parser.parse_args()
    if options.report:
        for path in options.results:
            for row in read(Path(path)):
                show(row)
        return
    if options.table:
        table(options.results)
        return
    options.results = options.results[0]
    run_all(options)


if __name__ == "__main__":
    main()
