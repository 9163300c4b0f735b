#!/usr/bin/env python3
"""Fourier transforms on a CPU: eager mode (MKL or pocketfft) and Nereid by torch.compile.

    bench/fourier.py [--threads 1,4] [--seconds S] [--each S] [--group G,...] [NAME...]

NAME is a regular expression, found in the names of cases such as `fft f32 64x1024`.  Groups:
powers (of 2), mixed (3 and 5 times powers of 2), odd (composites and primes), planes (two axes and
more), sound (stft, mel, istft), train (with gradients).  A row: the least us of either side, which
take turns, eager's time in ours, and errors of the norm beside a transform of a wider type, of ours
and of SciPy's pocketfft in the same type.  --seconds bounds a thread count's cases, --each one
case's measurement.  Cases are in an order that spreads groups, so that a cut table has all of
them."""
import argparse, os, pathlib, re, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parents[1]

POWERS = ["1x64", "1x1024", "1x4096", "1x16384", "1x65536", "1x1048576", "4096x64", "64x256",
          "512x256", "126x1024", "64x2048", "32x4096", "16x8192", "8x16384", "4x65536"]
MIXED = ["1x6144", "1x98304", "64x96", "64x400", "100x480", "64x768", "64x1280", "64x2000",
         "32x6144", "16x10240"]
ODD = ["1x59049", "1x65537", "1x1009", "512x45", "1024x49", "256x97", "64x243", "64x315", "64x1009",
       "64x1155", "32x2187", "16x4099", "64x257", "64x509", "64x3125"]
KINDS = ["fft", "rfft", "irfft"]


def along_rows(sizes, dtypes=("f32", "f64")):
    # f64 has every third case of each kind.
    return [f"{kind} {dtype} {size}" for i, size in enumerate(sizes)
            for j, kind in enumerate(KINDS) for dtype in dtypes
            if dtype == "f32" or (i + j) % 3 == 0]


PLANES = ["fft2 f32 16x64x64", "fft2 f32 1x512x512", "rfft2 f32 16x64x64", "rfft2 f32 4x256x256",
          "irfft2 f32 4x256x256", "fftn f32 64x64x64", "fft2 f64 4x256x256", "rfft2 f64 16x64x64",
          "fft2 f32 1x1024x1024", "rfft2 f32 3x480x640", "middle f32 16x128x64",
          "middle f64 4x1024x48", "fft2 f32 32x14x14", "rfft2 f32 32x28x28", "rfftn f32 2x40x48x56"]
SOUND = ["stft f32 4x64000", "spectrum f32 4x64000", "mel f32 1x480000", "istft f32 513x200",
         "stft f64 2x64000"]
TRAIN = ["train_fft f32 64x1024", "train_rfft f32 64x1024", "train_irfft f32 64x1024",
         "train_fno f32 4x16x64x64", "train_stft f32 4x32000"]
GROUPS = {"powers": along_rows(POWERS), "mixed": along_rows(MIXED), "odd": along_rows(ODD),
          "planes": PLANES, "sound": SOUND, "train": TRAIN}


def spread(groups):
    """The cases of all groups, each group's evenly among the others'."""
    at = [((i + 0.5) / len(GROUPS[g]), case) for g in groups for i, case in enumerate(GROUPS[g])]
    return [case for _, case in sorted(at)]


def arrays_of(torch, kind, shape, dtype):
    """The operand of a transform: shapes are those of signals."""
    torch.manual_seed(1)
    x = torch.randn(*shape, dtype=dtype)
    back = kind.startswith("irfft") or kind == "istft"
    if kind == "istft":
        return torch.complex(x, torch.randn(*shape, dtype=dtype))
    if back:
        return getattr(torch.fft, kind[1:])(x)
    wide = kind in ("fft", "fft2", "fftn")
    return torch.complex(x, torch.randn(*shape, dtype=dtype)) if wide else x


def mel_filters(torch, bins, bands):
    at = torch.linspace(0, bins - 1, bands + 2)
    i = torch.arange(bins, dtype=torch.float32)
    up, down = (i - at[:-2, None]), (at[2:, None] - i)
    return torch.minimum(up, down).clamp(min=0) / (bins / bands)


def function_of(torch, kind, shape, dtype):
    window = torch.hann_window(400 if kind == "mel" else 512, dtype=dtype)
    filters = mel_filters(torch, 201, 80) if kind == "mel" else None
    if kind in ("irfft", "irfft2"):
        dims = {"irfft": shape[-1], "irfft2": shape[-2:]}[kind]
        return lambda x: getattr(torch.fft, kind)(x, dims)
    if kind == "middle":
        return lambda x: torch.fft.rfft(x, dim=1)
    if kind in ("spectrum", "stft"):
        def stft(x):
            y = torch.stft(x, 512, 256, window=window, return_complex=True)
            return y if kind == "spectrum" else y.abs()
        return stft
    if kind == "mel":
        def mel(x):
            y = torch.stft(x, 400, 160, window=window, return_complex=True)
            y = filters @ y.abs()[..., :-1] ** 2
            return torch.clamp(y, min=1e-10).log10()
        return mel
    if kind == "istft":
        long = torch.hann_window(1024, dtype=dtype)
        return lambda x: torch.istft(x, 1024, 256, window=long)
    return getattr(torch.fft, kind)


def training(torch, kind, shape, dtype):
    """A function of a real operand whose gradients are taken."""
    weights = torch.randn(*shape[:-1], shape[-1] // 2 + 1, dtype=torch.complex64)
    window = torch.hann_window(512, dtype=dtype)

    def loss(x):
        if kind == "train_fft":
            y = torch.fft.fft(x)
        elif kind == "train_stft":
            y = torch.stft(x, 512, 256, window=window, return_complex=True)
        elif kind == "train_irfft":
            return (torch.fft.irfft(x * weights, shape[-1]) ** 2).sum()
        elif kind == "train_fno":
            return (torch.fft.irfft2(torch.fft.rfft2(x) * weights) ** 2).sum()
        else:
            y = torch.fft.rfft(x)
        return (y.real ** 2 + y.imag ** 4).sum()
    return loss


def with_gradient(torch, f, x):
    x = x.detach().clone().requires_grad_()

    def run(x=x):
        return torch.autograd.grad(f(x), x)[0]
    return run


def relative(np, y, want):
    y = np.asarray(y).astype(want.dtype)
    return float(np.linalg.norm((y - want).ravel()) / max(np.linalg.norm(want.ravel()), 1e-300))


def errors(np, kind, shape, x, ours, eager):
    """Ours and pocketfft's beside a transform of long doubles; where pocketfft has no function of
    the kind, ours and eager mode's beside eager mode in f64."""
    from scipy import fft
    name = {"middle": "rfft"}.get(kind, kind)
    if not hasattr(fft, name):
        wide = eager["f64"]
        return relative(np, ours, wide), relative(np, eager["same"], wide)
    more = {}
    if kind == "irfft":
        more["n"] = shape[-1]
    if kind == "irfft2":
        more["s"] = shape[-2:]
    if kind == "middle":
        more["axis"] = 1
    f = getattr(fft, name)
    x = x.numpy()
    wide = np.clongdouble if np.iscomplexobj(x) else np.longdouble
    want = f(x.astype(wide), **more)
    return relative(np, ours, want), relative(np, f(x, **more), want)


def least(calls, seconds):
    """The least seconds of each call, in turns."""
    best, end = [float("inf")] * len(calls), time.perf_counter() + seconds
    rounds = 0
    while rounds < 5 or time.perf_counter() < end:
        for i, call in enumerate(calls):
            for _ in range(3):
                start = time.perf_counter()
                call()
                best[i] = min(best[i], time.perf_counter() - start)
        rounds += 1
        if rounds >= 2 and time.perf_counter() > end + 2:
            break
    return best


def measure(torch, np, case, options):
    kind, dtype_name, size = case.split()
    shape = [int(n) for n in size.split("x")]
    dtype = {"f32": torch.float32, "f64": torch.float64}[dtype_name]
    torch._dynamo.reset()
    if kind.startswith("train_"):
        f = training(torch, kind, shape, dtype)
        x = torch.randn(*shape, dtype=dtype)
        if kind == "train_irfft":
            x = torch.fft.rfft(x)
        eager, ours = with_gradient(torch, f, x), with_gradient(
            torch, torch.compile(f, backend="nereid"), x)
    else:
        f = function_of(torch, kind, shape, dtype)
        x = arrays_of(torch, kind, shape, dtype)
        compiled = torch.compile(f, backend="nereid")
        eager, ours = (lambda: f(x)), (lambda: compiled(x))
    y, same = ours(), eager()
    if kind.startswith("train_"):
        ours_off, theirs = relative(np, y.numpy(), same.numpy()), 0.0
    else:
        wide = None
        if kind in ("stft", "spectrum", "mel", "istft"):
            g = function_of(torch, kind, shape, torch.float64) if kind != "mel" else None
            wide = g(x.to(torch.complex128 if x.is_complex() else torch.float64)).numpy() \
                if g else same.numpy()
        ours_off, theirs = errors(np, kind, shape, x, y.numpy(),
                                  {"f64": wide, "same": same.numpy()})
    a, b = least([eager, ours], options.each)
    print(f"| {case} | {a * 1e6:.1f} | {b * 1e6:.1f} | {a / b:.2f} | {ours_off:.1e} | {theirs:.1e} "
          f"|", flush=True)
    return case, a / b


def means(np, ratios):
    rows = {}
    for case, ratio in ratios:
        kind, dtype, size = case.split()
        group = next(g for g, cases in GROUPS.items() if case in cases)
        for key in (group, f"{kind} {dtype}" if kind in KINDS else group, "all"):
            rows.setdefault(key, {})[case] = ratio
    for key, some in rows.items():
        values = np.array(list(some.values()))
        print(f"{key}: {len(values)} cases, geometric mean {np.exp(np.log(values).mean()):.2f}, "
              f"least {values.min():.2f}, {int((values >= 0.97).sum())} at 0.97 and above")


def run(options):
    import numpy as np
    import torch

    import nereid  # noqa: F401: registers the backend
    torch.set_num_threads(options.thread)
    end, ratios = time.perf_counter() + options.seconds, []
    print(f"\n{options.thread} thread(s), {torch.__version__}\n\n"
          "| transform | eager us | Nereid us | ratio | error | pocketfft's |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for case in options.cases:
        if time.perf_counter() > end:
            break
        try:
            ratios.append(measure(torch, np, case, options))
        except Exception as problem:
            print(f"| {case} | {type(problem).__name__}: {str(problem).splitlines()[0][:200]} |",
                  flush=True)
    print()
    means(np, ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", default="1")
    parser.add_argument("--thread", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--each", type=float, default=0.3)
    parser.add_argument("--group", default=",".join(GROUPS))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.cases = [case for case in spread(options.group.split(","))
                     if not options.names or any(re.search(name, case) for name in options.names)]
    if options.thread:
        return run(options)
    for threads in options.threads.split(","):
        environment = dict(os.environ, PYTHONPATH=os.environ.get("PYTHONPATH")
                           or str(ROOT / "build/python"), OMP_NUM_THREADS=threads)
        subprocess.run([sys.executable, __file__, "--thread", threads, *sys.argv[1:]],
                       env=environment, check=True)


if __name__ == "__main__":
    main()
