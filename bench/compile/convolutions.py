#!/usr/bin/env python3
"""Convolutions by kernels of ours alone beside cuDNN, channels last, weights a layer's own.

    convolutions.py [--seconds N] [--names ...] [--no-tuning]

Microseconds of CUDA graphs, sides in turns, medians: PyTorch with cudnn.benchmark, kernels by the
planner's estimate, and with tiles that were measured (mode max-autotune).  Values are compared with
f64 before.  A case is bf16 unless its name says more."""

import argparse
import concurrent.futures
import math
import statistics
import time

# name: images, height and width, channels, features, window, stride, padding, dilation, groups
CASES = {
    "3x3 128 at 28": (32, 28, 128, 128, 3, 1, 1, 1, 1),
    "3x3 128 at 56 stride 2": (32, 56, 128, 128, 3, 2, 1, 1, 1),
    "1x1 1024 to 256 at 14": (32, 14, 1024, 256, 1, 1, 0, 1, 1),
    "3x3 256 at 14": (32, 14, 256, 256, 3, 1, 1, 1, 1),
    "3x3 256 at 14 f16": (32, 14, 256, 256, 3, 1, 1, 1, 1),
    "3x3 64 at 56": (32, 56, 64, 64, 3, 1, 1, 1, 1),
    "3x3 512 at 7": (32, 7, 512, 512, 3, 1, 1, 1, 1),
    "3x3 320 at 64 batch 8": (8, 64, 320, 320, 3, 1, 1, 1, 1),
    "3x3 640 at 32 batch 8": (8, 32, 640, 640, 3, 1, 1, 1, 1),
    "3x3 1280 at 16 batch 8": (8, 16, 1280, 1280, 3, 1, 1, 1, 1),
    "3x3 256 at 32 dilation 2 batch 16": (16, 32, 256, 256, 3, 1, 2, 2, 1),
    "1x1 64 to 256 at 56": (32, 56, 64, 256, 1, 1, 0, 1, 1),
    "1x1 256 to 512 at 56 stride 2": (32, 56, 256, 512, 1, 2, 0, 1, 1),
    "1x1 96 to 24 at 56 batch 64": (64, 56, 96, 24, 1, 1, 0, 1, 1),
    "7x7 3 to 64 at 224 stride 2": (32, 224, 3, 64, 7, 2, 3, 1, 1),
    "4x4 3 to 96 at 224 stride 4": (32, 224, 3, 96, 4, 4, 0, 1, 1),
    "16x16 3 to 768 at 224 stride 16": (32, 224, 3, 768, 16, 16, 0, 1, 1),
    "2x2 96 to 192 at 56 stride 2": (32, 56, 96, 192, 2, 2, 0, 1, 1),
    "7x7 of each of 96 at 56": (32, 56, 96, 96, 7, 1, 3, 1, 96),
    "3x3 128 at 56 in 32 groups": (32, 56, 128, 128, 3, 1, 1, 1, 32),
    "3x3 256 at 28 in 32 groups": (32, 28, 256, 256, 3, 1, 1, 1, 32),
    "3x3 512 at 14 in 32 groups": (32, 14, 512, 512, 3, 1, 1, 1, 32),
    "3x3 128 at 28 tf32": (32, 28, 128, 128, 3, 1, 1, 1, 1),
    "3x3 256 at 14 tf32": (32, 14, 256, 256, 3, 1, 1, 1, 1),
}
RUNS, ROUNDS = 10, 15


NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
TEXT = """def forward(self, x0: "{dtype}[{x}]", w0: "{dtype}[{w}]"):
    x = torch.ops.aten.permute.default(x0, [0, 3, 1, 2])
    w = torch.ops.aten.permute.default(w0, [0, 3, 1, 2])
    y = torch.ops.aten.convolution.default(x, w, None, {options}, {groups})
    r = torch.ops.aten.permute.default(y, [0, 2, 3, 1])
    return (r,)
"""
TF32 = 3  # bits of nereid_graph_tf32


class Side:
    def __init__(self, name, run):
        self.name, self.run, self.times, self.error = name, run, [], None


class Case:
    def __init__(self, name):
        self.name, self.sides = name, []
        images, size, channels, features, window, stride, pad, dilation, groups = CASES[name]
        self.dtype = {"f16": "f16", "tf32": "f32"}.get(name.split()[-1], "bf16")
        self.x_shape = [images, size, size, channels]
        self.w_shape = [features, window, window, channels // groups]
        self.options = [stride] * 2, [pad] * 2, [dilation] * 2, False, [0, 0]
        self.groups = groups

    def text(self):
        def joined(sizes):
            return ", ".join(map(str, sizes))
        return TEXT.format(dtype=self.dtype, x=joined(self.x_shape), w=joined(self.w_shape),
                           options=joined(self.options), groups=self.groups)

    def model(self, nereid, mode):
        model = nereid.load(self.text(), libraries="none", mode=mode)
        model._options["tf32"] = TF32 * self.name.endswith("tf32")
        model.set_static("w0")
        return model

    def draw(self, torch):
        self.torch = torch
        dtype = getattr(torch, NAMES[self.dtype])
        scale = math.prod(self.w_shape[1:]) ** -0.5
        self.x = torch.randn(*self.x_shape, device="cuda").to(dtype)
        self.w = (scale * torch.randn(*self.w_shape, device="cuda")).to(dtype)

    def by_torch(self, x, w):
        y = self.torch.ops.aten.convolution(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), None,
                                            *self.options, self.groups)
        return y.permute(0, 2, 3, 1)

    def add_model(self, name, model):
        out = [self.torch.empty_like(self.by_torch(self.x, self.w),
                                     memory_format=self.torch.contiguous_format)]

        def run():
            model.run(self.x, self.w, out=out)
            return out[0]
        self.sides.append(Side(name, run))

    def check(self):
        """The relative error of each side, over some images."""
        want = self.by_torch(self.x[:4].double(), self.w.double())
        for side in self.sides:
            got = side.run()[:4].double()
            side.error = ((got - want).norm() / want.norm()).item()

    def captured(self, run):
        """A replay of several runs."""
        graph = self.torch.cuda.CUDAGraph()
        run()
        self.torch.cuda.synchronize()
        try:
            with self.torch.cuda.graph(graph):
                for _ in range(RUNS):
                    run()
        except RuntimeError as problem:
            print(f"{self.name}: no graph: {str(problem)[:200]}", flush=True)
            self.torch.cuda.synchronize()
            return lambda: [run() for _ in range(RUNS)]
        return graph.replay

    def measure(self):
        replays = [(side, self.captured(side.run)) for side in self.sides]
        for _ in range(ROUNDS):
            for side, replay in replays:
                begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                replay()
                end.record()
                end.synchronize()
                side.times.append(1e3 * begin.elapsed_time(end) / RUNS)

    def us(self, name):
        return next((statistics.median(s.times) for s in self.sides if s.name == name), math.nan)


def compiled(model):
    """Compiles a model for the device; a problem is a text."""
    try:
        model._on("cuda")
        return model
    except Exception as problem:
        return f"{type(problem).__name__}: {str(problem)[:300]}"


def show(case):
    cudnn, cells = case.us("cuDNN"), []
    for side in case.sides[1:]:
        us = case.us(side.name)
        cells.append(f"{us:8.1f} {cudnn / us:6.3f} {side.error:8.1e}")
    print(f"{case.name:36}{cudnn:8.1f} {case.sides[0].error:8.1e} | " + " | ".join(cells),
          flush=True)


def run_all(options):
    import torch

    import nereid

    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = True
    begin = time.monotonic()
    modes = [("estimate", "default")] + [("measured", "max-autotune")] * options.tuning
    names = [n for n in CASES if not options.names or any(part in n for part in options.names)]
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN "
          f"{torch.backends.cudnn.version()}\n{'case':36}{'cuDNN us':>8} {'error':>8} | "
          + " | ".join(f"{name + ' us':>8} {'ratio':>6} {'error':>8}" for name, _ in modes),
          flush=True)
    ratios = {name: [] for name, _ in modes}
    cases = [Case(name) for name in names]
    torch.zeros(1, device="cuda")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = [[pool.submit(compiled, case.model(nereid, mode)) for _, mode in modes[:1]]
                for case in cases]
        made = [[future.result() for future in models] for models in made]
    print(f"compiled after {time.monotonic() - begin:.1f} s", flush=True)
    for case, models in zip(cases, made):
        if time.monotonic() - begin > options.seconds:
            print(f"no time for {case.name} and those after it")
            break
        models += [compiled(case.model(nereid, mode)) for _, mode in modes[1:]]
        case.draw(torch)
        case.sides = [Side("cuDNN", lambda: case.by_torch(case.x, case.w))]
        for (name, _), model in zip(modes, models):
            if isinstance(model, str):
                print(f"{case.name}: {name}: {model}", flush=True)
            else:
                case.add_model(name, model)
        case.check()
        case.measure()
        show(case)
        for name in ratios:
            if not math.isnan(case.us(name)):
                ratios[name].append(case.us("cuDNN") / case.us(name))
        case.x = case.w = case.sides = None
    for name, values in ratios.items():
        if values:
            mean = math.exp(sum(map(math.log, values)) / len(values))
            print(f"{name}: geometric mean {mean:.3f} of cuDNN, {len(values)} cases")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", default=[], type=lambda text: text.split(","))
    parser.add_argument("--no-tuning", dest="tuning", action="store_false")
    parser.add_argument("--jobs", type=int, default=12, help="models compiled at a time")
    parser.add_argument("--seconds", type=float, default=60.0)
    run_all(parser.parse_args())


if __name__ == "__main__":
    main()
