#!/usr/bin/env python3
"""Models of timm, torchvision and transformers through torch.compile(backend="nereid"), beside
PyTorch itself: values, graph breaks, operators that PyTorch runs, seconds of compilation, and with
--train the loss of a training in bf16 autocast.

    models.py [--device cpu|cuda] [--full] [--train] [--names A,B] [--shard I/N] [--results FILE]
    models.py --report FILE... >> bench/compile.md

Each model is a process of its own with a time limit; FILE has a line of JSON a model, and models
that it has already are not run again.  PYTHONPATH has nereid.
"""

from __future__ import annotations

import argparse
import collections
import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 100
TRACED = {"cache_autograd": False}  # programs are looked at
SEED = 7


# ---- one model, in a process of its own ----


def leaves(value) -> list:
    import torch
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def moved(value, device, dtype=None):
    import torch
    from torch.utils._pytree import tree_map

    def move(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return leaf.to(device, dtype if leaf.is_floating_point() else None)

    return tree_map(move, value)


def build(name: str, full: bool, device: str):
    """(module, positional inputs, keyword inputs)"""
    import architectures
    import torch

    torch.manual_seed(SEED)
    module, args, kwargs = architectures.TABLE[name].make(full)
    for parameter in module.parameters():
        # Some heads start as zeros, and so would the outputs be.
        if parameter.dim() > 1 and not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    return module.to(device), moved(args, device), moved(kwargs, device)


def distance(got, want) -> float:
    """The norm of the difference by that of `want`."""
    got, want = got.double(), want.double()
    norm = want.norm().item()
    return (got - want).norm().item() / (norm or 1.0)


def reference(module, args, kwargs, device):
    """Outputs in f64; None: the model can't."""
    import torch

    try:
        exact = copy.deepcopy(module).double()
        with torch.no_grad():
            return leaves(exact(*moved(args, device, torch.float64),
                                **moved(kwargs, device, torch.float64)))
    except Exception:  # a model that fixes a type itself
        return None


def compare(got: list, want: list, exact: list | None, loose: float = 1e-4) -> dict:
    """`error` is ours and `eager` PyTorch's, both against f64 where there is one."""
    import torch

    shapes = [[(x.shape, x.dtype, x.stride()) for x in side] for side in (got, want)]
    out = {"outputs": len(want), "same form": shapes[0] == shapes[1], "error": 0.0, "eager": 0.0}
    if [s[0] for s in shapes[0]] != [s[0] for s in shapes[1]]:
        return {**out, "wrong": f"shapes {[list(s[0]) for s in shapes[0]]}, not "
                                f"{[list(s[0]) for s in shapes[1]]}"}
    if not any(bool(x.any()) for x in want):
        return {**out, "wrong": "nothing to compare: the outputs are zeros, or have no elements"}
    if exact is not None and [x.shape for x in exact] != [x.shape for x in want]:
        exact = None
    for i, (mine, theirs) in enumerate(zip(got, want)):
        if not theirs.is_floating_point():
            if not torch.equal(mine, theirs):
                out["wrong"] = f"output {i} of {theirs.dtype} differs"
            continue
        same = torch.equal(mine.isfinite(), theirs.isfinite())
        mine, theirs = mine.nan_to_num(0, 0, 0), theirs.nan_to_num(0, 0, 0)
        true = exact[i].nan_to_num(0, 0, 0) if exact is not None else theirs
        error, eager = distance(mine, true), distance(theirs, true)
        out["error"], out["eager"] = max(out["error"], error), max(out["eager"], eager)
        if not same or error > max(loose if exact is not None else 1e-3, 4 * eager):
            out["wrong"] = f"output {i}: {error:.2g} away, eager {eager:.2g}"
    return out


class Watch:
    """Graphs, breaks, fallbacks, and where the seconds of compilation go."""

    def __init__(self):
        import torch._dynamo.utils as utils
        from nereid import torch_backend

        self.backend, self.utils, self.seconds = torch_backend, utils, 0.0
        torch_backend._programs.keep()
        utils.counters.clear()
        inner = torch_backend._compile

        def timed(*args, **kwargs):
            start = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - start

        torch_backend._compile = timed

    def figures(self) -> dict:
        spent = self.utils.compilation_time_metrics
        whole = sum(spent.get("_compile.compile_inner", spent.get("compile_inner", [])))
        behind = sum(spent.get("OutputGraph.call_user_compiler", []))
        counts, segments, nodes, waited = collections.Counter(), 0, 0, 0.0
        for program in self.backend._programs:
            segments += len(program.segments)
            waited += program.seconds  # for code, at the first run, too
            nodes += sum(n.op == "call_function" for n in program.graph.nodes)
            for node, reason in program.reasons.items():
                counts[f"{node.target}: {str(reason)[:120]}"] += 1
        breaks = self.utils.counters["graph_break"]
        return {"graphs": self.utils.counters["stats"].get("unique_graphs", 0),
                "breaks": {str(k).splitlines()[0][:120]: v for k, v in breaks.items()},
                "segments": segments, "nodes": nodes, "fallbacks": dict(counts.most_common()),
                "s Dynamo": round(whole - behind, 2),
                "s AOT": round(behind - self.seconds, 2), "s ours": round(waited, 2)}


def run_forward(name: str, options) -> dict:
    import torch

    module, args, kwargs = build(name, options.full, options.device)
    module.eval()
    exact = reference(module, args, kwargs, options.device)
    with torch.no_grad():
        want = leaves(module(*args, **kwargs))
        watch = Watch()
        compiled = torch.compile(module, backend="nereid", options=TRACED)
        got = leaves(compiled(*args, **kwargs))
        again = leaves(compiled(*args, **kwargs))
    # cuDNN may round to TF32, does so for some sizes, and Nereid for all.
    convolves = any(isinstance(part, torch.nn.modules.conv._ConvNd) for part in module.modules())
    rounds = options.device == "cuda" and convolves and torch.backends.cudnn.allow_tf32
    found = compare(got, want, exact, 1e-3 if rounds else 1e-4)
    if "wrong" not in found and any(distance(a, b) > 1e-6 for a, b in zip(again, got)):
        found["wrong"] = "a second call gives other values"
    return {**found, **watch.figures()}


def loss_of(outputs, target_seed: int):
    """Cross entropy of drawn classes where a model gives logits, else distance to drawn values."""
    import torch
    import torch.nn.functional as F

    value = next(x for x in leaves(outputs) if x.is_floating_point() and x.dim() >= 2)
    draw = torch.Generator().manual_seed(target_seed)
    if value.dim() in (2, 3) and value.shape[-1] > 1:
        flat = value.float().reshape(-1, value.shape[-1])
        classes = torch.randint(0, flat.shape[1], (flat.shape[0],), generator=draw)
        return F.cross_entropy(flat, classes.to(value.device))
    return F.mse_loss(value.float(), torch.randn(value.shape, generator=draw).to(value.device))


def train(module, call, args, kwargs, device: str, autocast: bool) -> list:
    import torch

    for part in module.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
        if isinstance(getattr(part, "drop_prob", None), float):
            part.drop_prob = 0.0
    module.train()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=autocast):
            outputs = call(*args, **kwargs)
            loss = loss_of(outputs, SEED)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [loss.item() for loss in losses]


def run_training(name: str, options) -> dict:
    """The loss beside that of eager in bf16 autocast; the noise is what separates the latter from
    eager in fp32."""
    import torch

    curves = []
    for kind in ("fp32", "eager", "nereid"):
        module, args, kwargs = build(name, options.full, options.device)
        call = module
        if kind == "nereid":
            watch = Watch()
            call = torch.compile(module, backend="nereid", options=TRACED)
        curves.append(train(module, call, args, kwargs, options.device, kind != "fp32"))
    exact, eager, ours = curves
    noise = max(abs(a - b) for a, b in zip(exact, eager))
    apart = max(abs(a - b) for a, b in zip(ours, eager))
    found = {"first": ours[0], "last": ours[-1], "eager": eager[-1], "fp32": exact[-1],
             "noise": noise, "apart": apart, "curves": curves}
    if not apart <= max(2 * noise, 0.02 * abs(eager[0])):
        found["wrong"] = f"the loss is {apart:.3g} from eager's, whose noise is {noise:.3g}"
    elif not abs(ours[0] - eager[0]) <= max(0.02 * abs(eager[0]), 2 * abs(exact[0] - eager[0])):
        found["wrong"] = f"the first loss is {ours[0]:.4g}, not {eager[0]:.4g}"
    return {**found, **watch.figures()}


def run_one(options) -> None:
    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(options.threads)
    torch._dynamo.config.suppress_errors = False
    (name,) = options.names.split(",")
    run = run_training if options.train else run_forward
    print(json.dumps(run(name, options)), flush=True)


# ---- all of them ----


def key_of(row: dict) -> tuple:
    return row["name"], row["mode"], row["device"], row["full"]


def read(paths) -> dict:
    """The last row of each model."""
    rows: dict = {}
    for path in paths:
        if pathlib.Path(path).exists():
            for line in pathlib.Path(path).read_text().splitlines():
                row = json.loads(line)
                rows[key_of(row)] = row
    return rows


def run_child(name: str, options) -> dict:
    command = [sys.executable, __file__, "--child", "--names", name, "--device", options.device,
               "--threads", str(options.threads), *(["--full"] if options.full else []),
               *(["--train"] if options.train else [])]
    child = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             start_new_session=True)
    try:
        out, errors = child.communicate(timeout=options.limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return {"failed": f"no end after {options.limit} s"}
    lines = out.strip().splitlines()
    if child.returncode == 0 and lines:
        return json.loads(lines[-1])
    said = [line for line in errors.strip().splitlines() if line.strip()] or ["nothing said"]
    last = next((line for line in reversed(said) if "Error" in line), said[-1])
    return {"failed": f"status {child.returncode}: {last.strip()[:300]}", "tail": said[-25:]}


def run_all(options) -> None:
    sys.path.insert(0, str(HERE))
    import architectures

    index, count = map(int, options.shard.split("/"))
    names = options.names.split(",") if options.names else [
        name for name, entry in architectures.TABLE.items() if entry.train or not options.train]
    done = {} if options.again else read([options.results])
    mode = "train" if options.train else "forward"
    for i, name in enumerate(names):
        head = {"name": name, "library": architectures.TABLE[name].library, "mode": mode,
                "device": options.device, "full": options.full}
        if i % count != index or key_of(head) in done:
            continue
        start = time.perf_counter()
        row = {**head, **run_child(name, options), "s": round(time.perf_counter() - start, 1)}
        with open(options.results, "a") as file:
            file.write(json.dumps(row) + "\n")
        problem = row.get("failed") or row.get("wrong")
        print(f"{name:40} {row['s']:6.1f} s  {problem or 'right'}; "
              f"{sum(row.get('fallbacks', {}).values())} of {row.get('nodes', 0)} nodes by PyTorch",
              flush=True)


# ---- report ----


def verdict(row: dict) -> str:
    return row.get("failed") or row.get("wrong") or "right"


def fallbacks(row: dict) -> str:
    names = collections.Counter()
    for text, count in row.get("fallbacks", {}).items():
        names[text.split(":")[0]] += count
    return ", ".join(f"{name} {count}" for name, count in names.most_common(4)) or "none"


def table(rows: list, mode: str) -> list[str]:
    extra = "loss at the end, eager's, noise" if mode == "train" else "error, eager's"
    lines = [f"| model | answer | {extra} | graphs, breaks | nodes, by PyTorch | operators | "
             "Dynamo, AOT, ours, s |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        if mode == "train":
            figures = [row.get(key) for key in ("last", "eager", "noise")]
        else:
            figures = [row.get(key) for key in ("error", "eager")]
        told = ", ".join("" if x is None else f"{x:.2g}" for x in figures)
        left = sum(row.get("fallbacks", {}).values())
        seconds = ", ".join(str(row.get(f"s {part}", "")) for part in ("Dynamo", "AOT", "ours"))
        lines.append(f"| {row['name']} | {verdict(row)[:80]} | {told} | {row.get('graphs', '')}, "
                     f"{sum(row.get('breaks', {}).values())} | {row.get('nodes', '')}, {left} | "
                     f"{fallbacks(row)} | {seconds} |")
    return lines


def report(paths) -> str:
    rows = list(read(paths).values())
    lines = []
    for mode, device, full in dict.fromkeys(key_of(row)[1:] for row in rows):
        some = [row for row in rows if key_of(row)[1:] == (mode, device, full)]
        right = sum(verdict(row) == "right" for row in some)
        whole = sum(verdict(row) == "right" and not row["fallbacks"] for row in some)
        sizes = "published sizes" if full else "small sizes"
        lines += ["", f"## {'Training' if mode == 'train' else 'Forward'} of {len(some)} models",
                  "", f"On {device}, {sizes}: {right} right, {whole} of them without an "
                  "operator that PyTorch runs.", "", *table(some, mode)]
        why = collections.Counter()
        for row in some:
            for text in row.get("fallbacks", {}):
                why[text] += 1
        lines += ["", "| operator that PyTorch runs, and why | models |", "| --- | ---: |",
                  *(f"| {text} | {count} |" for text, count in why.most_common())]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--full", action="store_true", help="published sizes")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--again", action="store_true", help="also models that FILE has")
    parser.add_argument("--names", default="")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--results", default="results.jsonl")
    parser.add_argument("--limit", type=float, default=300, help="seconds a model")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--report", nargs="+")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report:
        print(report(options.report))
    elif options.child:
        run_one(options)
    else:
        run_all(options)


if __name__ == "__main__":
    main()
