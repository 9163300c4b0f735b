#!/usr/bin/env python3
"""Convolutions on a CPU beside eager PyTorch (oneDNN): forward, the input's and the weight's
gradient, by torch.compile, weights as inputs.

    convolutions_cpu.py [--threads 1,4] [--names PART,..] [--parts f,i,w] [--seconds S]
                        [--rounds N] [--kernels]

A row is a case and a number of threads, a column a part: least microseconds of a call of eager mode
and of ours, and eager's over ours.  Sides take turns of TURN seconds; the least of one thread is of
the thread's processor time, which other processes on the machine disturb less.  Operands are f32
with their channels last, as a model after `.to(memory_format=torch.channels_last)` has them, or
contiguous, where a name says `first`.  Values are compared with f64 before.  No case starts after S
seconds.  --kernels prints the time of each of our kernels, too."""

import argparse
import math
import time

PARTS = {"f": "forward", "i": "input", "w": "weight"}
TURN, TOLERANCE = 4e-3, 1e-5


class Case:
    """A name's convolution: sizes are those of the input, or of a transposed one's input."""

    def __init__(self, images, channels, size, features, window, stride=1, pad=None, dilation=1,
                 groups=1, axes=2, transposed=False, first=False, more=0):
        def spread(x):
            return list(x) if isinstance(x, tuple) else [x] * axes
        self.window, self.stride, self.dilation = map(spread, (window, stride, dilation))
        if pad is None:
            pad = tuple(d * (k - 1) // 2 for d, k in zip(self.dilation, self.window))
        self.pad, self.more = spread(pad), spread(more)
        self.groups, self.transposed, self.axes, self.first = groups, transposed, axes, first
        self.x = [images, channels, *spread(size)]
        of = [channels, features // groups] if transposed else [features, channels // groups]
        self.w = [*of, *self.window]

    def options(self):
        return (self.stride, self.pad, self.dilation, self.transposed, self.more, self.groups)


def cases():
    """By name: shapes of nets, batch x channels x size."""
    all_ = {}
    for n, c, s in ((2, 64, 56), (2, 128, 28), (2, 256, 14), (8, 256, 7), (2, 512, 7), (1, 256, 32),
                    (2, 16, 128), (2, 32, 64)):
        all_[f"3x3 {n}x{c}x{s}"] = Case(n, c, s, c, 3)
    for n, c, s, o in ((4, 64, 56, 128), (2, 256, 28, 512), (2, 32, 64, 64)):
        all_[f"3x3 stride 2 {n}x{c}x{s} to {o}"] = Case(n, c, s, o, 3, 2)
    for n, c, s, o in ((4, 64, 56, 256), (4, 256, 56, 64), (4, 256, 14, 1024), (4, 1024, 14, 256),
                       (8, 96, 28, 24), (8, 24, 56, 144), (8, 960, 7, 160)):
        all_[f"1x1 {n}x{c}x{s} to {o}"] = Case(n, c, s, o, 1)
    for n, c, s, o in ((8, 64, 28, 128), (4, 512, 28, 1024)):
        all_[f"1x1 stride 2 {n}x{c}x{s} to {o}"] = Case(n, c, s, o, 1, 2)
    all_["7x7 stem 4x3x224 to 64"] = Case(4, 3, 224, 64, 7, 2)
    all_["7x7 stem 8x3x64 to 64"] = Case(8, 3, 64, 64, 7, 2)
    all_["3x3 stem 4x3x224 to 16"] = Case(4, 3, 224, 16, 3, 2)
    all_["3x3 first 4x3x64 to 64"] = Case(4, 3, 64, 64, 3)
    all_["patches 4x4 8x3x224 to 96"] = Case(8, 3, 224, 96, 4, 4, 0)
    all_["patches 16x16 2x3x224 to 768"] = Case(2, 3, 224, 768, 16, 16, 0)
    all_["patches 2x2 4x96x56 to 192"] = Case(4, 96, 56, 192, 2, 2, 0)
    for per, n, c, s in ((4, 4, 128, 28), (8, 4, 256, 28), (16, 4, 512, 14), (24, 4, 120, 28),
                         (32, 4, 1024, 7)):
        all_[f"groups of {per} {n}x{c}x{s}"] = Case(n, c, s, c, 3, groups=c // per)
    all_["groups of 8 stride 2 4x256x56"] = Case(4, 256, 56, 256, 3, 2, groups=32)
    all_["groups of 24 stride 2 4x240x28"] = Case(4, 240, 28, 240, 3, 2, groups=10)
    for k, n, c, s, stride in ((3, 4, 72, 56, 1), (3, 8, 72, 28, 1), (3, 4, 64, 112, 2),
                               (3, 4, 32, 112, 1), (3, 4, 512, 14, 1), (5, 4, 120, 28, 1),
                               (5, 4, 72, 56, 2), (5, 8, 960, 7, 1), (7, 4, 96, 56, 1),
                               (4, 4, 64, 56, 2)):
        name = f"depthwise {k}x{k}" + f" stride {stride}" * (stride > 1) + f" {n}x{c}x{s}"
        all_[name] = Case(n, c, s, c, k, stride, 1 if k == 4 else None, groups=c)
    all_["dilation 2 4x64x28"] = Case(4, 64, 28, 64, 3, dilation=2)
    all_["dilation 6 2x256x32"] = Case(2, 256, 32, 256, 3, dilation=6)
    all_["transposed 2x2 stride 2 2x128x28 to 64"] = Case(2, 128, 28, 64, 2, 2, 0, transposed=True)
    all_["transposed 4x4 stride 2 4x128x16 to 64"] = Case(4, 128, 16, 64, 4, 2, 1, transposed=True)
    all_["transposed 3x3 stride 2 4x64x28 to 32"] = Case(4, 64, 28, 32, 3, 2, 1, transposed=True,
                                                        more=1)
    all_["transposed 4x4 stride 2 4x64x32 to 3"] = Case(4, 64, 32, 3, 4, 2, 1, transposed=True)
    all_["1-d 3 2x80x1500 to 384"] = Case(2, 80, 1500, 384, 3, axes=1, first=True)
    all_["1-d 3 stride 2 2x384x1500"] = Case(2, 384, 1500, 384, 3, 2, axes=1, first=True)
    all_["1-d 3 stride 2 2x512x800"] = Case(2, 512, 800, 512, 3, 2, 0, axes=1, first=True)
    all_["1-d 10 stride 5 2x1x16000 to 512"] = Case(2, 1, 16000, 512, 10, 5, 0, axes=1, first=True)
    all_["1-d 3 dilation 4 4x64x1000"] = Case(4, 64, 1000, 64, 3, dilation=4, axes=1, first=True)
    all_["1-d depthwise 31 4x256x200"] = Case(4, 256, 200, 256, 31, axes=1, groups=256, first=True)
    all_["1-d depthwise 3 4x512x400"] = Case(4, 512, 400, 512, 3, axes=1, groups=512, first=True)
    all_["1-d 1 4x256x400 to 512"] = Case(4, 256, 400, 512, 1, axes=1, first=True)
    all_["3-d 3x3x3 2x32x16"] = Case(2, 32, 16, 32, 3, axes=3)
    all_["3x3 2x64x56 first"] = Case(2, 64, 56, 64, 3, first=True)
    all_["1x1 4x256x14 to 1024 first"] = Case(4, 256, 14, 1024, 1, first=True)
    all_["depthwise 3x3 4x72x56 first"] = Case(4, 72, 56, 72, 3, groups=72, first=True)
    all_["7x7 stem 4x3x224 to 64 first"] = Case(4, 3, 224, 64, 7, 2, first=True)
    return all_


def draw(case, part):
    """The part as a function and its operands, which are those of the op of ATen."""
    import torch
    layouts = [None, None, None, torch.contiguous_format, torch.channels_last,
               torch.channels_last_3d]
    fmt = torch.contiguous_format if case.first else layouts[case.axes + 2]
    fmt = fmt or torch.contiguous_format
    x = torch.randn(case.x).contiguous(memory_format=fmt)
    scale = math.prod(case.w[0 if case.transposed else 1:]) ** -0.5
    w = (scale * torch.randn(case.w)).contiguous(memory_format=fmt)
    options = case.options()
    if part == "f":
        return lambda x, w: torch.ops.aten.convolution(x, w, None, *options), (x, w)
    y = torch.ops.aten.convolution(x, w, None, *options)
    grad = torch.randn(y.shape).contiguous(memory_format=fmt)
    which, mask = int(part == "w"), [part == "i", part == "w", False]

    def gradient(g, x, w):
        return torch.ops.aten.convolution_backward(g, x, w, None, *options, mask)[which]
    return gradient, (grad, x, w)


def least(sides, operands, rounds, threads):
    """The least seconds of a call of each side, in turns."""
    clock = time.process_time if threads == 1 else time.perf_counter
    times = [math.inf] * len(sides)
    calls = []
    for call in sides:
        begin = clock()
        call(*operands)
        calls.append(max(1, int(TURN / max(clock() - begin, 1e-6))))
    for _ in range(rounds):
        for i, call in enumerate(sides):
            if threads > 1:
                time.sleep(2e-3)  # another side's threads go to sleep
                call(*operands)
            begin = clock()
            for _ in range(calls[i]):
                call(*operands)
            times[i] = min(times[i], (clock() - begin) / calls[i])
    return times


def measure(case, part, threads, options):
    import torch
    torch._dynamo.reset()
    torch.manual_seed(0)
    function, operands = draw(case, part)
    ours = torch.compile(function, backend="nereid", fullgraph=True)
    want = function(*(x.double() for x in operands))
    got = ours(*operands).double()
    error = ((got - want).norm() / want.norm()).item()
    times = [least((function, ours), operands, options.rounds, n) for n in after(threads)]
    if options.kernels:
        import nereid.torch_backend.explain as by_kernel
        torch.set_num_threads(threads[0])
        text = str(by_kernel.explain(function, *operands))
        print(*(line for line in text.splitlines() if "%" in line), sep="\n")
    return times, error


def after(threads):
    import torch
    for n in threads:
        torch.set_num_threads(n)
        yield n


def run_all(options):
    import torch
    begin = time.monotonic()
    threads = [int(n) for n in options.threads.split(",")]
    names = [n for n in cases() if not options.names
             or any(part in n for part in options.names.split(","))]
    ratios = {(n, part): [] for n in threads for part in options.parts}
    print(f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}; "
          "eager us, ours, eager over ours")
    for name in names:
        if time.monotonic() - begin > options.seconds:
            print(f"no time for {name} and those after it")
            break
        rows = [[] for _ in threads]
        for part in options.parts:
            times, error = measure(cases()[name], part, threads, options)
            for row, n, (eager, ours) in zip(rows, threads, times):
                wrong = f" ERROR {error:.1e}" if not error < TOLERANCE else ""
                row.append(f"{1e6 * eager:9.1f}{1e6 * ours:9.1f} {eager / ours:5.2f}{wrong}")
                ratios[n, part].append(eager / ours)
        for n, row in zip(threads, rows):
            print(f"{name:40} {n:2} |" + " |".join(row), flush=True)
    for (n, part), values in ratios.items():
        if values:
            mean = math.exp(sum(map(math.log, values)) / len(values))
            behind = sum(x < .97 for x in values)
            print(f"{n} threads, {PARTS[part]}: geometric mean {mean:.3f}, {behind} of "
                  f"{len(values)} behind")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", default="1")
    parser.add_argument("--names", default="")
    parser.add_argument("--parts", default="fiw")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kernels", action="store_true")
    run_all(parser.parse_args())


if __name__ == "__main__":
    main()
