#!/usr/bin/env python3
"""Fourier transforms by torch.compile at random shapes, with gradients, beside float64: real and
complex, along one axis or several, of lengths that are cut or filled up, in any norm; spectra that
are multiplied between two transforms, windows of signals, and copies in another order of axes.

    torch_fourier.py [--count N] [--seed S] [FAMILY...]

N shapes of each family (2)."""
import os, pathlib, random, sys, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch  # noqa: F401
    import nereid  # noqa: F401: registers the backend
except ImportError:
    torch = None
ELEMENTS = 1 << 13  # of an input, at most
FAMILIES = {}


def family(function):
    FAMILIES[function.__name__] = function
    return function


class Draw(random.Random):
    def begin(self):
        self.dtype = self.choice((torch.float32, torch.float32, torch.float64))
        self.norm = self.choice(("backward", "ortho", "forward"))
        self.log = [self.dtype, self.norm]

    def length(self, most):
        kind = self.random()
        if kind < .4:
            return min(most, 2 ** self.randint(1, 10))
        if kind < .7:
            return min(most, self.choice((3, 5, 7, 9, 15, 25)) * 2 ** self.randint(0, 6))
        return self.randint(2, most)

    def shape(self, rank, longest=1500):
        sizes, room = [], ELEMENTS
        for _ in range(rank):
            sizes.append(self.length(max(2, min(longest, room // 2 ** (rank - len(sizes) - 1)))))
            room = max(2, room // sizes[-1])
        self.shuffle(sizes)
        return sizes

    def tensor(self, shape, real):
        x = torch.randn(*shape, dtype=self.dtype)
        x = x if real else torch.complex(x, torch.randn(*shape, dtype=self.dtype))
        order = list(range(len(shape)))
        if self.random() < .3:  # in another order in memory
            self.shuffle(order)
            x = x.permute(order).contiguous().permute([order.index(i) for i in range(len(order))])
        self.log += [tuple(shape), "real" if real else "complex", order]
        return x


@family
def along_one(draw):
    kind = draw.choice(("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
    x = draw.tensor(draw.shape(draw.randint(1, 3)), kind in ("rfft", "ihfft"))
    dim = draw.randrange(x.dim())
    n = draw.choice((None, None, draw.length(1000)))
    draw.log += [kind, n, dim]
    return lambda x: getattr(torch.fft, kind)(x, n, dim, draw.norm), [x]


@family
def along_some(draw):
    kind = draw.choice(("fftn", "ifftn", "rfftn", "irfftn"))
    x = draw.tensor(draw.shape(draw.randint(2, 4), 150), kind == "rfftn")
    dims = sorted(draw.sample(range(x.dim()), draw.randint(2, min(3, x.dim()))))
    draw.log += [kind, dims]
    return lambda x: getattr(torch.fft, kind)(x, None, dims, draw.norm), [x]


@family
def multiplied(draw):
    """A layer of a Fourier neural operator: some of the lowest frequencies are multiplied."""
    shape = draw.shape(3, 100)
    h, w = shape[1], shape[2] // 2 + 1
    m, k = draw.randint(1, h), draw.randint(1, w)
    draw.log += [m, k]

    def layer(x, a):
        y = torch.fft.rfft2(x, norm=draw.norm)
        z = torch.zeros_like(y)
        z[:, :m, :k] = y[:, :m, :k] * a
        return torch.fft.irfft2(z, s=x.shape[-2:], norm=draw.norm)
    return layer, [draw.tensor(shape, True), draw.tensor([1, m, k], False)]


@family
def spectrum(draw):
    n, hop = draw.choice((16, 25, 64, 100, 128)), draw.choice((8, 10, 16))
    x = draw.tensor([draw.randint(1, 3), draw.randint(n, 1500)], True)
    center, window = draw.random() < .5, torch.hann_window(n, dtype=draw.dtype)
    draw.log += [n, hop, center]

    def power(x):
        y = torch.stft(x, n, hop, window=window.to(x.dtype), center=center, return_complex=True)
        return y.real ** 2 + y.imag ** 2, y.transpose(1, 2)
    return power, [x]


@family
def turned(draw):
    x = draw.tensor(draw.shape(draw.randint(2, 4), 300), False)
    order = draw.sample(range(x.dim()), x.dim())
    kind = draw.choice(("copy", "square", "fft"))
    draw.log += [order, kind]

    def copy(x):
        y = x.permute(order).contiguous()
        return y if kind == "copy" else y * y if kind == "square" else torch.fft.fft(y)
    return copy, [x]


def parts(x):
    x = x.detach().resolve_conj().resolve_neg()
    return torch.view_as_real(x.contiguous()) if x.is_complex() else x


def results(function, inputs, heads):
    inputs = [x.detach().requires_grad_() for x in inputs]
    y = function(*inputs)
    y = list(y) if isinstance(y, tuple) else [y]
    wide = [h.to(x.dtype) for h, x in zip(heads, y)] if heads else [torch.ones_like(x) for x in y]
    return y + list(torch.autograd.grad(y, inputs, wide))


def problem_of(function, inputs):
    eager = results(function, inputs, None)
    heads = [torch.randn_like(y) for y in eager[:len(eager) - len(inputs)]]
    eager = results(function, inputs, heads)
    torch._dynamo.reset()
    got = results(torch.compile(function, backend="nereid", dynamic=False), inputs, heads)
    double = [x.to(torch.complex128 if x.is_complex() else torch.float64) for x in inputs]
    want = results(function, double, heads)
    for i, (x, y, z) in enumerate(zip(got, eager, want)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{i}: {tuple(x.shape)} {x.dtype}"
        x, y, z = parts(x), parts(y), parts(z)
        bound = 8 * float((y - z).norm()) + (1e-6 if x.dtype == torch.float32
                                             else 2e-15) * float(z.norm())
        if not float((x - z).norm()) <= bound:
            return f"{i}: off by {float((x - z).norm()):.3g} of {float(z.norm()):.3g}"
    return None


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    warnings.simplefilter("ignore")

    def argument(name, otherwise):
        return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else otherwise
    names = [name for name in FAMILIES if name in sys.argv] or list(FAMILIES)
    seed = argument("--seed", 1)
    torch.manual_seed(seed)
    for name in names:
        draw = Draw(f"{name} {seed}")
        for _ in range(argument("--count", 2)):
            draw.begin()
            try:
                problem = problem_of(*FAMILIES[name](draw))
            except Exception as e:  # noqa: BLE001
                problem = f"{type(e).__name__}: {str(e)[:300]}"
            tally.check(not problem, f"{name} {draw.log}: {problem}")
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
