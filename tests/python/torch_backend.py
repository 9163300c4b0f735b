#!/usr/bin/env python3
"""torch.compile(backend="nereid") against PyTorch itself: values, dtypes, strides, writes to inputs
and gradients.  On tensors of the CPU, or with the argument cuda of a GPU; NAME...: these cases."""
import copy, gc, itertools, logging, os, pathlib, sys, weakref

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"  # programs of this process are looked at
import tally

try:
    import torch
    import quick_torch
    from torch.nn import functional as F
except ImportError:
    torch = None

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
NAMES = [word for word in sys.argv[1:] if word != "cuda"]


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def same(got, want, what):
    """A line on the difference; None: there is none."""
    got, want = leaves(got), leaves(want)
    if len(got) != len(want):
        return f"{what}: {len(got)} values, not {len(want)}"
    for i, (a, b) in enumerate(zip(got, want)):
        if not isinstance(b, torch.Tensor):
            if type(a) is not type(b) or a != b:
                return f"{what} {i}: {a!r}, not {b!r}"
            continue
        strides = a.stride() != b.stride() and b.numel() > 0
        if (a.shape, a.dtype, a.device) != (b.shape, b.dtype, b.device) or strides:
            return (f"{what} {i}: {a.dtype} {tuple(a.shape)} {a.stride()} on {a.device}, not "
                    f"{b.dtype} {tuple(b.shape)} {b.stride()} on {b.device}")
        loose = 2e-2 if b.dtype in (torch.bfloat16, torch.float16) else 2e-4
        if not torch.allclose(a, b, rtol=loose, atol=loose, equal_nan=True):
            return f"{what} {i}: differs by {(a.double() - b.double()).abs().max().item():.3g}"
    return None


def total(value):
    """A number that each floating element changes."""
    return sum((leaf.double() * leaf.double()).sum() for leaf in leaves(value)
               if isinstance(leaf, torch.Tensor) and leaf.dtype.is_floating_point)


def copies(inputs):
    out = []
    for value in inputs:
        if isinstance(value, torch.Tensor):
            moved = value.detach().to(DEVICE, copy=True)
            value = moved.requires_grad_(value.requires_grad)
        out.append(value)
    return out


class Told(logging.Handler):
    """The warnings of the backend."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []
        logging.getLogger("nereid.torch_backend").addHandler(self)

    def emit(self, record):
        self.texts.append(record.getMessage()[:300])


TOLD = Told()


def check(name, function, *inputs, train=False, dynamic=None, runs=4 if DEVICE == "cuda" else 2,
          **options):
    """The function, or module, compiled and not; `train`: gradients too.  On a GPU the third run of
    its sizes is recorded."""
    if NAMES and name not in NAMES:
        return
    torch._dynamo.reset()
    if isinstance(function, torch.nn.Module):
        function = function.to(DEVICE).train(train)
        other = copy.deepcopy(function)
    else:
        other = function
    compiled = torch.compile(other, backend="nereid", dynamic=dynamic, **options)
    problem = None
    TOLD.texts.clear()
    for run in range(runs):
        mine, theirs = copies(inputs), copies(inputs)
        with torch.set_grad_enabled(train):
            got, want = compiled(*mine), function(*theirs)
        problem = problem or same(got, want, "output") or same(mine, theirs, "input")
        if train:
            total(got).backward()
            total(want).backward()
            grads = [[x.grad for x in side if isinstance(x, torch.Tensor) and x.requires_grad]
                     for side in (mine, theirs)]
            problem = problem or same(*grads, "gradient of input")
        if train and isinstance(function, torch.nn.Module):
            problem = problem or same([p.grad for p in other.parameters()],
                                      [p.grad for p in function.parameters()], "gradient")
            problem = problem or same(list(other.buffers()), list(function.buffers()), "buffer")
    problem = problem or next(iter(TOLD.texts), None)
    tally.check(problem is None, f"{name}: {problem}" if problem else name)


def randn(*sizes, grad=False, dtype=None):
    return torch.randn(*sizes, dtype=dtype, requires_grad=grad)


def write_part(x):
    x[:, 1:3].mul_(2)
    return x.sum(0)


def check_memory():
    """Views, orders of axes, writes."""
    x = randn(4, 16)
    check("views of inputs", lambda x: (x.t(), x[:, 2:4], x.expand(3, 4, 16), x.view(2, 2, 16)), x)
    check("views of inputs of open sizes", lambda x, n: (x[1], x[:, 2:4], x[1:].t(), x[n], x + 1),
          x, -2, dynamic=True)
    check("views of an input with gaps", lambda x: (x[1], x[:, 2:4], x + 1), randn(4, 32)[:, ::2],
          dynamic=True)
    check("views of results of open sizes", lambda x: (x * 2)[1:].split(1), x, dynamic=True)
    check("views of results with gradients", lambda x: (lambda y: (y, y[1], y[:, 2:]))(x * 2),
          randn(4, 16, grad=True), dynamic=True, train=True)
    check("views of results", lambda x: ((x + 1).t(), (x * 2)[1:3], (x * 3).chunk(2, 1)), x)
    check("parts", lambda x: list(x.split(5, 1)), x)
    check("a write", lambda x: (x.add_(1), x * 2)[1], x)
    check("places in memory", lambda x: (x * 2).t().as_strided((3, 5), (7, 2)) + 1, x)
    check("places in a part", lambda x: (x * 2)[1:, 3:].as_strided((3, 5), (7, 2)) + 1, x)
    check("a write to a part", write_part, x)
    check("a write to a transposed view", lambda x: x.t().add_(1).sum(), x)
    check("the same tensor twice", lambda x, y: x + y, x, x)
    check("numbers and None", lambda x: (None, x + 1, 3, x.shape[0]), x)
    check("no elements", lambda x: torch.cat([x[:0], x[:1]]), x)
    wide = randn(4, 6, 48)
    check("gaps between rows", lambda x: x @ x.transpose(1, 2), wide[:, ::2, 4:16])
    check("gaps, and no aligned place", lambda x: x @ x.transpose(1, 2), wide[:, ::2, 3:13])
    check("large gaps", lambda x: x * 2, wide[..., 8])
    check("gaps between elements", lambda x: x.t() + 1, wide[0, :, ::3])
    check("windows of memory", lambda x: torch.cat([x, x + 1]).flip(0),
          torch.arange(20.).as_strided((5, 4), (2, 1)))
    check("a write between gaps", lambda x: x.add_(1).sum(), wide[:, 1:3, 1:7])
    check("heads of one product", lambda x: torch.nn.functional.scaled_dot_product_attention(
        *(part.view(4, 6, 2, 8).transpose(1, 2) for part in x.split(16, 2))),
        wide.clone().requires_grad_(), train=True)
    last = randn(2, 8, 6, 6).contiguous(memory_format=torch.channels_last)
    place = torch.tensor(-2)
    check("places filled, columns first", lambda x, i: (x.index_fill(-1, i, 5),
                                                        x.index_fill(0, i, 6)), x.t(), place)
    check("channels last", torch.nn.Conv2d(8, 4, 3, padding=1), last)


def check_maxima():
    """Places of maxima, which are saved in as few bits as the numbers of a plane have."""
    from nereid import torch_backend

    functional = torch.nn.functional

    def pooled(*kind):
        return lambda x: functional.max_pool2d(x, *kind)

    for kind, shape, dtype in (((3, 2, 1), (2, 4, 8, 9), "int8"), ((2,), (4, 12, 12), "int16"),
                               ((4, 3, 2, 2), (1, 2, 20, 17), "int16"),
                               ((3, 2, 1), (1, 1, 128, 256), "int16"),
                               ((3, 2, 1), (1, 1, 129, 256), "int64")):
        name = f"maxima of {shape}"
        check(name, pooled(*kind), randn(*shape, grad=True), train=True)
        if NAMES:
            continue
        saved = [str(node.meta["val"].dtype) for program in torch_backend._programs[-2:]
                 if program.kind == "forward" for node in program.output.args[0]
                 if isinstance(node, torch.fx.Node)]
        tally.check(f"torch.{dtype}" in saved, f"{name}: saved as {saved}, not {dtype}")
    with_nan = randn(2, 3, 6, 6, grad=True)
    with_nan.data[0, 0, 2, 3] = float("nan")
    check("maxima: not a number", pooled(2), with_nan, train=True)
    check("maxima: channels last", pooled(3, 2, 1),
          randn(2, 8, 9, 9).contiguous(memory_format=torch.channels_last).requires_grad_(),
          train=True)
    check("maxima: places that are returned", lambda x: functional.max_pool2d(
        x, 3, 2, 1, return_indices=True), randn(2, 4, 8, 9, grad=True), train=False)


def check_operators():
    """What Nereid computes, and what PyTorch does between."""
    x = randn(4, 16)
    check("integers", lambda x: (x // 2, x % 3, x << 1, x.float().mean()),
          torch.arange(-8, 8).view(4, 4))
    check("bf16", lambda x: (x @ x.t()).relu().sum(-1), randn(8, 8, dtype=torch.bfloat16))
    check("f64", lambda x: (x.double() / 3).sum(), x)
    check("sort", lambda x: torch.sort(x, 1), x)
    check("an operator that is not there", lambda x: torch.linalg.eig(x[:, :4] * 2)[0].abs() + 1,
          x)
    check("a size that data decides", lambda x: (x > 0).nonzero() + 1, x)
    check("a number that data decides", lambda x: x * x.sum().item(), x)
    check("complex numbers", lambda x: torch.view_as_real(torch.view_as_complex(x) * 2j),
          randn(4, 8, 2))
    z = torch.randn(4, 3, dtype=torch.complex64)
    check("a conjugate for PyTorch and for kernels",
          lambda z: (torch.linalg.lu_factor(z[:3].conj())[0], z.conj() * 2j, z.mT.conj()), z)
    from nereid import torch_backend

    first = len(torch_backend._programs)
    check("complex sums, inverses and solutions",
          lambda z: (torch.add(z, z.sin(), alpha=2) + 1j, torch.linalg.inv(z[:3]),
                     torch.linalg.solve(z[:3].mH, z[1:]), torch.linalg.inv_ex(z[:3] * 0)[1],
                     torch.fft.fft(torch.linalg.inv_ex(z[1:])[0])), z)
    reasons = {str(node.target) for made in torch_backend._programs[first:]
               for node in made.reasons} - {"with_effects"}  # checks, from PyTorch 2.15 on
    tally.check(not reasons, f"complex numbers by PyTorch: {reasons}")
    check("a conjugate by a bit", lambda z: (z * 2j, z.imag + 1), z.conj())
    check("sizes that data decides without a symbol",
          lambda x, i: x[:, torch.ops.aten._unique(i)[0]].sum() + 1, x, torch.tensor([1, 1, 5]))
    check("a number that data decides", lambda x: torch.full((2,), x.sum().item()), x)
    check_numbers_of_data()
    check("gamma", lambda x: torch.digamma(x + 30) + torch.polygamma(2, x + 30), x)
    check("cond", lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)), x)
    nothing = torch.zeros(0, 4, dtype=torch.int64)
    check("places in nothing", lambda x, i: torch.take_along_dim(x, i, 0), randn(0, 4), nothing)
    check("nothing divided by 0", lambda i: i // 0 + i % 0, nothing)
    check("a constant", lambda x: x + torch.arange(16, device=x.device), x)
    check("a number on the host", lambda x: x.sum() + torch.tensor(3.0), x)


def checked_number(x, s):
    n = s.item()
    torch._check(n > -10)
    return x * n


def positive_number(x, s):
    n = s.item()
    torch._check(n >= 0)
    return x * n


def check_numbers_of_data():
    """Numbers that data decides are no sizes: they may be negative, and larger than any size."""
    x = torch.arange(1, 7).view(2, 3)
    functions = {"*": lambda x, s: x * s.item(), "//": lambda x, s: x // s.item(),
                 "-": lambda x, s: x - s.item(), "full": lambda x, s: torch.full((3,), s.item()),
                 "max": lambda x, s: x.float() * max(s.item(), -2),
                 "an element": lambda x, s: x.flatten()[s.clamp(-6, 5).item()] * 2 + 1,
                 "a checked number": checked_number,
                 "a size of": lambda x, s: torch.ones(s.clamp(-9, 9).item() + 10) * 2,
                 "a float": lambda x, s: x * s.double().item()}
    for name, function in functions.items():
        for number in (-3, 2**62 + 1):
            check(f"{name} by {number}", function, x, torch.tensor(number))
    check("a number that is not negative", positive_number, x, torch.tensor(2**62 + 1))


def check_numbers_in_16_bits():
    """A number that is compared, or becomes an element, has the tensor's dtype; a factor hasn't."""
    number = 0.1
    functions = {
        "==": lambda x: x == number, "!=": lambda x: x != number, "<": lambda x: x < number,
        "<=": lambda x: x <= number, ">": lambda x: x > number, ">=": lambda x: x >= number,
        "a tensor": lambda x: x == torch.tensor(number, device=x.device),
        "integers": lambda x: x * 2048 < torch.full(x.shape, 2049, device=x.device),
        "fmod": lambda x: torch.fmod(x, number), "%": lambda x: x % number,
        "of a number": lambda x: number % x, "isin": lambda x: torch.isin(x, number),
        "**": lambda x: x.abs() ** 2.2, "base": lambda x: 2.2 ** (x * 8),
        "hardshrink": lambda x: F.hardshrink(x, number),
        "softshrink": lambda x: F.softshrink(x, number),
        "clamp": lambda x: x.clamp(-number, number) == number,
        "where": lambda x: torch.where(x > 0, x, number) == number,
        "full": lambda x: torch.full_like(x, number) == number,
        "fill": lambda x: x.masked_fill(x > 0, number) == number, "*": lambda x: x * number,
        "/": lambda x: x / number}
    if DEVICE == "cpu":  # GPUs add in f32
        functions.update({"+": lambda x: x + number, "-": lambda x: x - number,
                          "alpha": lambda x: torch.sub(x, x[:1], alpha=number),
                          "threshold": lambda x: F.threshold(x, number, 1.0)})
    for dtype in (torch.float16, torch.bfloat16):
        values = [number, -number, 0.5, 1.0, 0.7, 0.30005, 150.0]
        x = torch.tensor(values, dtype=dtype, device=DEVICE)
        torch._dynamo.reset()
        every = torch.compile(lambda x: [f(x) for f in functions.values()], backend="nereid")
        found = every(x)
        for name, got in zip(functions, found):
            want = functions[name](x)
            tally.check(torch.equal(got, want), f"{name} in {dtype}: {got}, not {want}")


def check_integer_products():
    def ints(*sizes):
        return torch.randint(-9, 10, sizes, dtype=torch.int32)

    check("factors of integers", lambda x, a, b: torch.addbmm(x, a, b, beta=0.6, alpha=2.4),
          ints(3, 5), ints(2, 3, 4), ints(2, 4, 5))
    check("bilinear of integers", torch.nn.functional.bilinear, ints(3, 4), ints(3, 5),
          ints(2, 4, 5))


def check_products_along_an_axis():
    """Gradients of cumprod: as many kernels for any length, and those of rows with zeros."""
    import nereid

    x = torch.rand(5, 24) + 0.5
    x[1, 3] = x[2, 0] = x[3, 4] = x[3, 9] = x[4, 23] = 0
    check("cumprod with zeros", lambda x: x.cumprod(1), x.requires_grad_(), train=True)
    check("cumprod of columns", lambda x: x.cumprod(0), x, train=True)
    check("cumprod of a scalar", lambda x: x.cumprod(0), randn((), grad=True), train=True)
    if NAMES:
        return
    counts = [sum(graph.kernels for graph in nereid.explain(
        lambda x: x.cumprod(1), randn(2, n, grad=True).to(DEVICE), train=True).graphs)
              for n in (12, 48)]
    tally.check(counts[0] == counts[1], f"cumprod of 12 and of 48 elements: {counts} kernels")


def check_counted_sizes():
    """Sizes that data decides, in the segment that computes them and after it."""
    from nereid import torch_backend

    x = randn(5, 7)
    first = len(torch_backend._programs)

    def twice(x):
        y = x[x > 0]
        z = y[y < 1]
        return z * z.shape[0], y.shape[0] + x

    def later(x):
        y = x[x > 0]
        return torch.arange(y.shape[0], device=x.device) * y.sum(), y.sum() + y.shape[0]

    def joined(x):
        y = x[x > 0]
        return torch.cat([y, y * 2, y.new_zeros(3)]), y.view(-1, 1).expand(-1, 2)

    full = {"fullgraph": True}
    check("places of elements", lambda x: (x > 0).nonzero() + 1, x, **full)
    check("elements by a mask", lambda x, m: (x[m].sum(), x[m].sin()), x, x > 0, **full)
    check("rows by a mask", lambda x, w: x[x.sum(1) > 0] @ w, x, randn(7, 3), **full)
    check("a matrix times some matrices", lambda x, m: x @ x.view(5, 7, 1)[m], x, x[:, 0] > 0,
          **full)
    check("a mask of what a mask chose", twice, x, **full)
    check("numbers of elements", later, x, **full)
    check("elements side by side", joined, x, **full)
    check("no element", lambda x: (x[x > 100].sum(), torch.argwhere(x > 100).sum()), x,
          **full)
    check("a mask in training", lambda x, w: (lambda y: y[y > 0])(x @ w).sum(), x,
          randn(7, 4).requires_grad_(), train=True, **full)
    check("a mask of no input", lambda x: x[torch.ones_like(x, dtype=torch.bool)], x, **full)
    check("many places", lambda x: x.nonzero().sum(0), randn(200, 300).relu(), **full)
    reasons = {str(node.target) for made in torch_backend._programs[first:]
               for node in made.reasons}
    reads = {what for made in torch_backend._programs[first:] for what in made.reads.values()}
    tally.check(not reasons, f"counted sizes by PyTorch: {reasons}")
    if not NAMES:
        tally.check("the host reads a size" in reads, f"counted sizes are read: {reads}")
    torch._dynamo.reset()
    of_any_size = torch.compile(lambda x: (x[x > 0] * 2, x.nonzero()), backend="nereid",
                                dynamic=True, fullgraph=True)
    for n in (5, 9, 1000):
        y = randn(n, 3).to(DEVICE)
        chosen, places = of_any_size(y)
        right = torch.equal(chosen, y[y > 0] * 2) and torch.equal(places, y.nonzero())
        tally.check(right, f"counted sizes of {n} rows")
    y = torch.arange(1_000_000.0, device=DEVICE)
    few = torch.compile(lambda y: y[y < 10] + 1, backend="nereid", fullgraph=True)(y)
    room = few.untyped_storage().nbytes()
    tally.check(len(few) == 10 and room < y.nbytes / 4, f"ten elements hold {room} bytes")
    check("the place of a number", lambda x: x.sum().nonzero(), x)
    check("how often numbers occur", lambda i: torch.bincount(i, minlength=3) * 2,
          torch.tensor([1, 70000, 4]))


def check_training():
    nn = torch.nn
    check("a perceptron", nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32),
                                        nn.Linear(32, 8)), randn(4, 16), train=True)
    check("a convolution", nn.Sequential(nn.Conv2d(8, 4, 3, padding=1), nn.BatchNorm2d(4),
                                         nn.ReLU(), nn.MaxPool2d(2)),
          randn(2, 8, 6, 6, grad=True), train=True)
    check("an embedding", nn.Embedding(10, 8), torch.randint(0, 10, (4, 3)), train=True)
    check("cross entropy", torch.nn.functional.cross_entropy, randn(4, 16, grad=True),
          torch.randint(0, 16, (4,)), train=True)
    check("attention", lambda q: nn.functional.scaled_dot_product_attention(
        q, q * 2, q + 1, is_causal=True), randn(2, 3, 8, 16, grad=True), train=True)
    for sizes in ((3, 5, 4), (2, 3, 5, 4), (1, 5, 4), (0, 5, 4)):
        check(f"a matrix times matrices {sizes}", torch.matmul, randn(6, 5, grad=True),
              randn(*sizes, grad=True), train=True)
    check("a transposed matrix times matrices", lambda x, w: x.t() @ w.mT, randn(5, 6, grad=True),
          randn(3, 4, 5, grad=True), train=True, dynamic=True)


def saved_kinds(function, *inputs):
    """(dtype, sizes) of what the forward graph leaves for the backward graph."""
    from nereid import torch_backend

    before = len(torch_backend._programs)
    torch.compile(function, backend="nereid")(*copies(inputs)).sum().backward()
    (backward,) = [made for made in torch_backend._programs[before:] if made.kind == "backward"]
    return [(node.meta["val"].dtype, tuple(node.meta["val"].shape))
            for node in backward.placeholders]


def check_saved():
    pool = torch.nn.functional.max_pool2d
    images, image = randn(2, 3, 20, 24, grad=True), randn(2, 3, 8, 8, 8, grad=True)
    check("a maximum over windows", lambda x: pool((x * 2).relu(), 3, 2, 1), images, train=True)
    check("where a maximum is", lambda x: pool(x * 2, 2, return_indices=True), images, train=True)
    check("a maximum over boxes", lambda x: torch.nn.functional.max_pool3d(x.sin(), 3, 2, 1), image,
          train=True)
    check("a maximum of an open size", lambda x: pool(x * 2, 3), images, train=True, dynamic=True)
    check("a maximum by PyTorch", lambda x: pool((x * 2).relu(), 3, 2, 1), images, train=True,
          options={"by_pytorch": ["aten.max_pool2d_with_indices_backward.default"]})
    torch._dynamo.reset()
    found = saved_kinds(lambda x: pool(x.exp(), 2), images)
    tally.check((torch.int16, (2, 3, 10, 12)) in found, f"indices of windows: {found}")
    torch._dynamo.reset()
    found = saved_kinds(lambda x: pool(x.relu().sin(), 2), randn(1, 1, 8, 16, grad=True))
    tally.check((torch.int8, (1, 1, 4, 8)) in found, f"indices of few elements: {found}")
    tally.check(all(kind != torch.int64 for kind, _ in found), "indices are saved twice")
    torch._dynamo.reset()
    found = saved_kinds(torch.matmul, randn(6, 5, grad=True), randn(3, 5, 4, grad=True))
    if DEVICE == "cpu":
        sizes = {size for _, size in found}
        tally.check(sizes == {(3, 6, 4), (6, 5), (3, 4, 5)}, f"a matrix, matrices: {sizes}")


def check_rounded(name, function, *inputs, dynamic=None):
    """Where values of 16 bits are between those of 32: results and gradients, by their largest."""
    torch._dynamo.reset()
    sides = []
    for call in (torch.compile(function, backend="nereid", dynamic=dynamic), function):
        given = copies(inputs)
        result = call(*given)
        total(result).backward()
        sides.append([result.detach(), *(x.grad for x in given)])
    errors = [((a - b).abs().max() / b.abs().max()).item() for a, b in zip(*sides)]
    tally.check(max(errors) < 2e-2, f"{name}: relative errors {errors}")


def check_group_norm():
    from nereid import torch_backend

    norm, silu = torch.nn.functional.group_norm, torch.nn.functional.silu
    weight, bias = randn(12, grad=True), randn(12, grad=True)
    image = randn(2, 12, 5, 6, grad=True)

    def normed(x, *parameters, groups=3):
        return silu(norm(x.tanh(), groups, *parameters, eps=1e-3))

    def under_autocast(x, w, *parameters):
        with torch.autocast(DEVICE, torch.bfloat16):
            y = torch.nn.functional.conv2d(x, w, padding=1)
            y = silu(norm(y, 4, *parameters))
            return torch.nn.functional.conv2d(y, w[:, :8], padding=1)

    check("a group norm", normed, image, weight, bias, train=True)
    check("a group norm without a bias", normed, image, weight, train=True)
    check("a group norm without parameters", normed, image, train=True)
    check("a group norm of rows", normed, randn(3, 12, 7, grad=True), weight, bias, train=True)
    check("a group norm of vectors", normed, randn(3, 12, grad=True), weight, bias, train=True)
    check("a group norm of boxes", normed, randn(2, 12, 2, 3, 4, grad=True), weight, bias,
          train=True)
    check("a group norm of channels-last images", normed,
          randn(2, 12, 5, 6).to(memory_format=torch.channels_last).requires_grad_(), weight, bias,
          train=True)
    for axes in ((0, 2, 1, 3), (2, 1, 0, 3), (3, 1, 2, 0)):
        check(f"a group norm of axes {axes}", lambda x, *parameters, axes=axes: silu(norm(
            x.permute(axes), 3, *parameters)), randn(*(
                (2, 12, 5, 6)[axes.index(i)] for i in range(4)), grad=True), weight, bias,
              train=True)
    check("a group norm of an image for all", lambda x: silu(norm(x.expand(3, -1, -1, -1), 3)),
          randn(1, 12, 5, 6, grad=True), train=True)
    for groups in (1, 12):
        check(f"a group norm of {groups}", lambda *given, groups=groups: normed(
            *given, groups=groups), image, weight, bias, train=True)
    check("a group norm of an open size", normed, image, weight, bias, train=True, dynamic=True)
    check("a group norm by PyTorch", normed, image, weight, bias, train=True,
          options={"by_pytorch": ["aten.native_group_norm.default"]})
    reasons = [str(node.target) for made in torch_backend._programs[-2:] for node in made.reasons]
    tally.check("aten.native_group_norm.default" in reasons, f"PyTorch runs {reasons}")
    check("a group norm of halves", normed, *(
        given.detach().half().requires_grad_() for given in (image, weight, bias)), train=True)
    if DEVICE == "cpu":  # PyTorch's kernels of GPUs want one dtype
        for dynamic in (None, True):
            check_rounded("a group norm of halves by others", normed,
                          image.detach().half().requires_grad_(), weight, bias, dynamic=dynamic)
    check("a group norm that nothing reads", lambda x: (norm(x.tanh(), 3), x.sin())[1], image,
          train=True)
    check("a group norm of nothing", normed, randn(0, 12, 5, 6, grad=True), weight, bias,
          train=True)
    kernel = (randn(8, 8, 3, 3) * 0.1).requires_grad_()
    given = (randn(2, 8, 9, 7, grad=True), kernel, randn(8, grad=True),
             randn(8, grad=True))
    check_rounded("a group norm between convolutions", under_autocast, *given)
    torch._dynamo.reset()
    found = saved_kinds(under_autocast, *given)
    images = [kind for kind, sizes in found if len(sizes) == 4 and sizes[0] == 2]
    tally.check(images and all(kind is torch.bfloat16 for kind in images),
                f"images are saved as they were computed: {found}")
    torch._dynamo.reset()
    found = saved_kinds(normed, image, weight, bias)
    images = [sizes for _, sizes in found if len(sizes) == 4]
    tally.check(len(images) < 3, f"a group norm's result is saved: {found}")


def check_effects():
    """An operator with an effect has a token, which is no tensor that gradients need."""
    from torch._higher_order_ops import effects

    @torch.library.custom_op("nereid_tests::kept", mutates_args=())
    def kept(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    def save(ctx, inputs, output):
        ctx.save_for_backward(output)

    def gradient(ctx, of_output):
        y, = ctx.saved_tensors
        return y.mT @ of_output @ y.mT

    kept.register_fake(torch.empty_like)
    kept.register_autograd(gradient, setup_context=save)
    kinds = getattr(effects, "_EffectType", None) or effects.EffectType
    effects._register_effectful_op(torch.ops.nereid_tests.kept.default, kinds.ORDERED)
    check("a token", lambda w, x: (x @ kept(w)[:16]).sin(), randn(32, 32, grad=True),
          randn(8, 16), train=True)


def check_early_backward():
    """A backward graph is compiled with its forward graph; one that is compared, when it runs."""
    import nereid.torch_backend as backend

    for options, wanted in (({}, ["forward", "backward"]), ({"verify": True}, ["forward"])):
        torch._dynamo.reset()
        before = len(backend._programs)
        x = randn(6, 10, grad=True)
        y = torch.compile(lambda x: x.exp().sin(), backend="nereid", options=options)(x)
        found = [program.kind for program in backend._programs[before:]]
        tally.check(found == wanted, f"{options}: graphs before a backward pass: {found}")
        y.sum().backward()
        error = same(x.grad, x.detach().exp() * x.detach().exp().cos(), "gradient")
        tally.check(error is None, f"{options}: {error}")
        found = [program.kind for program in backend._programs[before:]]
        tally.check(found == ["forward", "backward"], f"{options}: graphs in the end: {found}")


def check_kept_graph():
    """A backward pass that comes again finds what was saved, whether its graph was compiled before
    the first one or with it, or is taken from PyTorch's cache."""
    def function(x, w):
        return ((x @ w).relu().sin() ** 2).sum()

    w = randn(5, 5, grad=True)
    wanted = [3 * grad for grad in torch.autograd.grad(function(w * 1, w), w)]
    for options in ({}, {"verify": True}, {"cache_autograd": True}, {"cache_autograd": True}):
        torch._dynamo.reset()
        made = w.detach().clone().requires_grad_()
        loss = torch.compile(function, backend="nereid", options=options)(made * 1, made)
        for last in (False, False, True):
            loss.backward(retain_graph=not last)
        error = same([made.grad], wanted, "gradient")
        tally.check(error is None, f"a graph that is kept, {options}: {error}")


class Alive:
    """Bytes of tensors that segments make, and the most of them at once."""

    def __init__(self):
        self.now = self.most = 0

    def watch(self, empty):
        def make(sizes, strides, dtype):
            tensor = empty(sizes, strides, dtype)
            self.now += tensor.nbytes
            self.most = max(self.most, self.now)
            weakref.finalize(tensor, self.gone, tensor.nbytes)
            return tensor

        return make

    def gone(self, count):
        self.now -= count


def check_lent_memory():
    """Saved tensors are freed, and gradients made, while the backward graph runs."""
    from nereid.torch_backend.segments.segment import Compiled

    alive, original = Alive(), Compiled.__init__

    def lending(self, *arguments):
        original(self, *arguments)
        self.makers = tuple((alive.watch(maker[0]), maker[1]) if isinstance(maker, tuple) else maker
                            for maker in self.makers or ()) or None

    layers, rows, width = 6, 1024, 512
    model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(width, width),
                                                      torch.nn.Softmax(-1))
                                  for _ in range(layers)])
    Compiled.__init__, Compiled.lends = lending, property(lambda self: True, lambda *_: None)
    try:
        check("memory that is lent", model, randn(rows, width, grad=True), train=True,
              options={"libraries": "none"})  # a GPU's want memory of their own
        one = rows * width * 4
        saved = layers * one  # of each softmax its result; in turn gradients of weights are made
        limit = saved + 5 * one
        tally.check(saved < alive.most < limit, f"{alive.most / one} tensors at once")
        alive.most = 0
        check("memory that is lent to two segments", lambda x: (x * 2).softmax(-1).sin().exp() * x,
              randn(600, 500, grad=True), train=True, options={"by_pytorch": ["aten.sin.default"]})
        tally.check(alive.most > 0, "nothing was lent")
    finally:
        Compiled.__init__ = original
        del Compiled.lends


def check_sizes():
    check("open sizes", lambda x: torch.cat([x, x * 2]).sum(0) + x.shape[0], randn(4, 16),
          dynamic=True)
    check("open sizes in views", lambda x: (x.view(-1, 2, 8) @ x.view(-1, 8, 2)).softmax(-1),
          randn(6, 16), dynamic=True)
    check("gradients of open sizes",
          lambda x: (x.view(x.shape[0] * 2, -1) @ x.view(-1, x.shape[0] * 2)).softmax(-1),
          randn(6, 16, grad=True), train=True, dynamic=True)
    if NAMES:
        return
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x.softmax(-1), backend="nereid", dynamic=True)
    for n in (3, 7, 1000):
        x = randn(n, 5).to(DEVICE)
        problem = same(compiled(x), x.softmax(-1), "output")
        tally.check(problem is None, f"softmax of {n} rows: {problem}")


def check_bags():
    """All results of sums, means and maxima of bags: eager mode on a CPU leaves some empty."""
    if DEVICE != "cpu" or NAMES:
        return
    calls, given = [], []
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for mode, last, padding, weighted in itertools.product((0, 1, 2), (False, True), (-1, 2),
                                                               (False, True)):
            if weighted and mode:
                continue
            offsets = torch.tensor([0, 2, 2, 5] if last else [0, 2, 2])
            weights = torch.randint(-4, 5, (5,)).to(dtype) if weighted else None
            given.append((torch.randint(-4, 5, (6, 3)).to(dtype), torch.tensor([1, 2, 4, 5, 2]),
                          offsets, weights))
            calls.append(lambda w, i, o, s, mode=mode, last=last, padding=padding:
                         torch.ops.aten._embedding_bag(w, i, o, False, mode, False, s, last,
                                                       padding))
    torch._dynamo.reset()
    got = torch.compile(lambda given: [call(*x) for call, x in zip(calls, given)],
                        backend="nereid")(given)
    for call, inputs, results in zip(calls, given, got):
        problem = same(results, call(*inputs), "bags")
        tally.check(problem is None, problem)


def check_strides_of_nothing():
    """Results that have no elements once data has decided so; on a GPU eager mode has others."""
    if DEVICE != "cpu":
        return
    for function in (lambda x: x.nonzero(), lambda x: x.nonzero() * 2, torch.argwhere,
                     lambda x: (x.nonzero(), x[:, x[0] > 0]),
                     lambda x: x.nonzero().float()):
        torch._dynamo.reset()
        call = torch.compile(function, backend="nereid")
        for x in (torch.zeros(3, 4), torch.eye(3, 4), torch.zeros(2, 0)):
            got, want = leaves(call(x.to(DEVICE))), leaves(function(x.to(DEVICE)))
            for a, b in zip(got, want):
                tally.check(a.stride() == b.stride(), f"strides {a.stride()}, not {b.stride()}")


def check_contradictions():
    """Sizes that nothing guards, in a graph that is views alone: what eager mode refuses is an
    error."""
    def reshaped(x, y):
        return x.reshape(y.shape)

    def first_half(x):
        return x.reshape(x.chunk(2, 0)[0].shape)

    for function, shapes in ((reshaped, [(4, 3), (6, 2)]), (reshaped, [(4, 3), (5, 2)]),
                             (first_half, [(4, 4)])):
        torch._dynamo.reset()
        given = [torch.randn(shape, device=DEVICE) for shape in shapes]
        for tensor in given:
            for axis in range(tensor.dim()):
                torch._dynamo.decorators.mark_unbacked(tensor, axis)
        results = []
        for call in (function, torch.compile(function, backend="nereid")):
            try:
                results.append(tuple(call(*given).shape))
            except RuntimeError:
                results.append("an error")
        name = f"{function.__name__} of {shapes}"
        tally.check(results[0] == results[1], f"{name}: {results[1]}, not {results[0]}")


def check_storages():
    """Arguments that are parts of one memory, but views of no tensor, one of which is written."""
    def write(a, b):
        found = a + 1
        b.mul_(2)
        return found, a * 2

    torch._dynamo.reset()
    compiled = torch.compile(write, backend="nereid", dynamic=False)
    for size in (7, 9, 6):
        results = []
        for call in (write, compiled):
            base = torch.arange(float(size), device=DEVICE)
            given = copy.deepcopy([base[:4], base[2:6]])
            results.append([*call(*given), *given])
        tally.check(all(map(torch.equal, *results)), f"parts of {size}: {results}")


def check_unique():
    """Places and counts of different elements are integers, also where fake tensors have floats."""
    def unique(x, y):
        rows = torch.unique(x.detach(), True, True, True, 0)
        _, places = torch.unique(x.detach(), True, True)
        counts = torch.unique_consecutive(x.detach().flatten(), return_counts=True)[1]
        return places + 1, rows[1] + 1, counts.sum(), y[places.long().flatten()] * places.flatten()

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        x = torch.tensor([[1.0], [2.0], [1.0], [1.0]], device=DEVICE)
        results = []
        for call in (unique, torch.compile(unique, backend="nereid", fullgraph=True)):
            y = torch.arange(4.0, device=DEVICE).requires_grad_()
            found = call(x, y)
            found[3].sum().backward()
            results.append([*found, y.grad])
    for i, (want, got) in enumerate(zip(*results)):
        same = want.dtype == got.dtype and torch.equal(want, got)
        tally.check(same, f"unique, result {i}: {got}, not {want}")


def check_dropout():
    """The mask of the backward pass is that of the forward one, and follows PyTorch's seed."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.4), backend="nereid")
    outputs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        x = torch.ones(64, 64, device=DEVICE, requires_grad=True)
        y = compiled(x)
        y.sum().backward()
        tally.check(torch.equal(x.grad, y.detach()), "the masks of both passes are one")
        outputs.append(y.detach())
    tally.check(torch.equal(outputs[0], outputs[1]), "a seed gives the same mask")
    tally.check(not torch.equal(outputs[0], outputs[2]), "another seed gives another mask")
    kept = (outputs[0] != 0).double().mean().item()
    tally.check(abs(kept - 0.6) < 0.03, f"{kept:.3f} of the elements are kept, not 0.6")
    scale = outputs[0].max().item()
    tally.check(abs(scale - 1 / 0.6) < 1e-5, f"kept elements are {scale}")


def draw_all(x):
    """Numbers of each distribution, in order: uniform, normal, of two values, and chosen."""
    return (x.clone().uniform_(-2, 6), torch.normal(1.0, 3.0, x.shape), x.clone().normal_(-1, 0.5),
            torch.nn.functional.dropout1d(torch.ones(9000, 4), 0.25), x.clone().bernoulli_(0.3))


def check_dropout_again():
    """A backward pass that may save next to nothing has the forward pass's mask."""
    if NAMES:
        return
    for budget in (0, 0.1):
        torch._dynamo.reset()
        x = torch.randn(64, 64, device=DEVICE).requires_grad_()
        with torch._functorch.config.patch(activation_memory_budget=budget):
            y = torch.compile(lambda x: torch.dropout(x.sin(), 0.5, True), backend="nereid")(x)
            y.sum().backward()
        tally.check(torch.equal(y != 0, x.grad != 0), f"a mask under a budget of {budget}")


def check_distributions():
    """None is drawn by PyTorch; they have the mean and the deviation that they should have."""
    import nereid

    torch._dynamo.reset()
    torch.manual_seed(3)
    x = torch.ones(400, 500)
    page = nereid.explain(draw_all, x)
    drawn = [one.operator for one in page.fallbacks if "seeds" not in one.operator]
    tally.check(not drawn, f"PyTorch draws: {drawn}")
    uniform, normal, of, dropped, coins = torch.compile(draw_all, backend="nereid")(x)
    for what, got, mean, deviation in (
            ("uniform", uniform, 2, 8 / 12**0.5), ("normal", normal, 1, 3),
            ("normal_", of, -1, 0.5), ("bernoulli_", coins, 0.3, 0.21**0.5),
            ("dropout1d", dropped, 1, (1 / 3)**0.5)):
        near = abs(got.mean() - mean) < 0.02 and abs(got.std() - deviation) < 0.02
        tally.check(near, f"{what}: mean {got.mean()}, deviation {got.std()}")
    tally.check(bool((uniform >= -2).all() and (uniform <= 6).all()), "uniform: its range")
    tally.check(bool((dropped.amax(1) == dropped.amin(1)).all()), "dropout1d: of channels")


def check_multinomial():
    rates = torch.tensor([[0.0, 1, 2, 3, 4], [5, 0, 0, 5, 0]])
    for count, again in ((4000, True), (1, False), (2, False)):
        torch._dynamo.reset()
        compiled = torch.compile(lambda p: torch.multinomial(p, count, again), backend="nereid")
        drawn = torch.stack([compiled(rates) for _ in range(1 if again else 200)])
        tally.check(drawn.dtype == torch.int64 and drawn.shape[1:] == (2, count),
                    f"multinomial: {drawn.dtype} of {list(drawn.shape)}")
        chosen = torch.gather(rates.expand(len(drawn), 2, 5), 2, drawn)
        tally.check(bool((chosen > 0).all()), "multinomial: what has no weight is not drawn")
        if again:
            share = torch.bincount(drawn[0, 0], minlength=5) / count
            tally.check(bool((share - rates[0] / 10).abs().max() < 0.03), f"multinomial: {share}")
        elif count == 2:
            tally.check(bool((drawn[..., 0] != drawn[..., 1]).all()), "multinomial: all differ")


def check_images():
    """What is made of other operators: gradients of sampled images, pools, smooth resizing."""
    functional = torch.nn.functional
    x, y = randn(2, 3, 5, 6, grad=True), randn(2, 2, 4, 5, 3, grad=True)
    grid, space = torch.randn(2, 4, 7, 2), torch.randn(2, 2, 3, 4, 3)
    for n, (mode, padding, corners) in enumerate((
            ("bilinear", "zeros", False), ("bilinear", "border", True), ("nearest", "zeros", True),
            ("bilinear", "reflection", False), ("bicubic", "reflection", True),
            ("bicubic", "border", False), ("bicubic", "zeros", False))):
        check(f"grid_sample {mode} {padding}", lambda x, g: functional.grid_sample(
            x, g, mode, padding, corners), x, grid.requires_grad_(), train=True)
        if n < 2:
            check(f"grid_sample of volumes {padding}", lambda x, g: functional.grid_sample(
                x, g, mode, padding, corners), y, space.requires_grad_(), train=True)
    check("grid_sample of float64", lambda x, g: functional.grid_sample(
        x, g, "bicubic", "border", False), randn(2, 3, 5, 6, dtype=torch.float64, grad=True),
        torch.randn(2, 4, 7, 2, dtype=torch.float64).requires_grad_(), train=True)
    for corners in (False, True):
        check("smooth resizing", lambda x: torch.cat([functional.interpolate(
            x, size, mode="bilinear", align_corners=corners, antialias=True).flatten()
            for size in ((3, 4), (9, 2))]), x, train=True)
    samples = torch.rand(2, 3, 2)
    check_maxima()
    for shape in ((2, 4, 9, 11), (3, 5, 6, 8)):
        images = randn(*shape).to(memory_format=torch.channels_last)
        check("max_unpool2d of channels last", lambda x: functional.max_unpool2d(
            *functional.max_pool2d(x, 2, return_indices=True), 2, output_size=x.shape[2:]), images)
    check("a fractional pool", lambda x, s: torch.ops.aten.fractional_max_pool2d(
        x, (2, 3), (3, 2), s), randn(2, 3, 9, 8), samples)
    check("its gradients", lambda x, s: functional.fractional_max_pool2d(
        x, (2, 3), (3, 2), _random_samples=s), randn(2, 3, 9, 8, grad=True), samples, train=True)
    check("a fractional pool in bf16", lambda x, s: torch.ops.aten.fractional_max_pool3d(
        x, 2, (3, 2, 4), s), randn(2, 3, 9, 8, 7, dtype=torch.bfloat16),
        torch.rand(2, 3, 3).bfloat16())


def check_segments():
    x = torch.tensor([[1.0, 0, 3], [2, 0, 3], [0, 5, -1], [4, torch.nan, 2], [7, 8, 9], [1, 1, 1]])
    for reduce in ("sum", "mean", "max", "min", "prod"):
        for initial in (None, 2.0):
            check(f"segments: {reduce} from {initial}", lambda x, n: torch.segment_reduce(
                x, reduce, lengths=n, initial=initial), x.clone().requires_grad_(),
                torch.tensor([3, 0, 2, 1]), train=True)
    check("segments by offsets, along an axis", lambda x, n: torch.segment_reduce(
        x, "sum", offsets=n, axis=1), randn(2, 5, 3, grad=True),
        torch.tensor([[0, 2, 5], [0, 0, 5]]), train=True)
    if DEVICE == "cpu":  # PyTorch has histograms of the CPU's tensors alone.
        values, weight = torch.randn(500), torch.rand(500)
        check("histograms", lambda x, w: [*torch.histogram(x, 7), *torch.histogram(
            x, 5, range=(-1.0, 2.0), weight=w, density=True)], values, weight)
        check("histograms of points", lambda x: torch.histogramdd(x, [3, 4]),
              values.reshape(-1, 2))
        check("histograms between edges", lambda x, e: torch.histogram(x, e), values,
              torch.tensor([-2.0, -0.5, 0.0, 3.0]))
    x = torch.tensor([0.0, -0.0, 1.0, -1.5, 3e-40, 1e38, torch.inf, torch.nan])
    check("frexp", torch.frexp, x)
    check("frexp of f64", torch.frexp, torch.tensor([5e-324, 1e-310, -1e308], dtype=torch.float64))
    mask = torch.tensor([[0, 3, 0], [1, 0, 0], [0, 5, 6]])
    check("nonzero_static", lambda x: [torch.nonzero_static(x, size=n, fill_value=-7)
                                       for n in (0, 2, 6)], mask)
    check("no indices, of bytes", lambda x, i: (x.gather(1, i), x * 2), randn(3, 4, grad=True),
          torch.zeros(3, 0, dtype=torch.uint8), train=True)
    check("no indices, of more axes", lambda x, i: (x.gather(0, i), x * 2), randn(4, grad=True),
          torch.zeros(2, 0, dtype=torch.int64), train=True)
    for last in (False, True):
        check("bags of a CPU", lambda w, i, o, s: torch.nn.functional.embedding_bag(
            i, w, o, mode="sum", per_sample_weights=s, include_last_offset=last),
            randn(10, 3, grad=True), torch.tensor([1, 2, 2, 9, 0, 4]), torch.tensor([0, 2, 2, 6]),
            torch.rand(6).requires_grad_(), train=True)
    check("masked_scatter", lambda x, m, s: x.masked_scatter(m, s), randn(3),
          torch.tensor([[True, False, True], [False, True, True]]), randn(6))
    check("put and take", lambda x, i, s: x.put(i, s, True) + x.take(i), randn(1, grad=True),
          torch.tensor(-1), randn(1, grad=True), train=True)
    check("pdist", torch.nn.functional.pdist, randn(5, 3, grad=True), train=True)


def check_open_bags():
    """Gradients of bags whose number changes, as an open size of the second call."""
    for mode in ("sum", "mean", "max"):
        for last in (False, True):
            torch._dynamo.reset()
            bags = lambda i, w, o: torch.nn.functional.embedding_bag(
                i, w, o, mode=mode, include_last_offset=last)
            compiled = torch.compile(bags, backend="nereid")
            for n in (4, 6, 8):
                i, o = torch.arange(n) % 5, torch.tensor([0, 2, 3, 4][:n // 2] + [n] * last)
                w = randn(6, 3, grad=True)
                got, want = compiled(i.to(w.device), w, o.to(w.device)), bags(i, w.cpu(), o)
                grads = [torch.autograd.grad(y.square().sum(), w)[0] for y in (got, want)]
                same = (torch.allclose(got.cpu(), want, atol=1e-5)
                        and torch.allclose(*grads, atol=1e-5))
                tally.check(same, f"{n} indices of bags, {mode}, last offset {last}")


def check_fallback_random():
    """With that option a seed gives the numbers that it gives in eager PyTorch."""
    F = torch.nn.functional
    drawing = {
        "dropout": lambda x: F.dropout(x, 0.25), "channels": lambda x: F.dropout1d(x, 0.3),
        "alpha dropout": lambda x: F.alpha_dropout(x, 0.3),
        "rand": lambda x: x + torch.rand_like(x), "randn": lambda x: torch.randn(8) + x,
        "rrelu": lambda x: F.rrelu(x, training=True),
        "bernoulli": lambda x: torch.bernoulli(x.sigmoid()) + x,
        "randint": lambda x: torch.randint(0, 9, (8,)) + x,
        "normal": lambda x: torch.normal(0.0, 1.0, (8,)) + x,
        "exponential": lambda x: torch.empty(8).exponential_() + x,
        "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None],
                                                              dropout_p=0.3)}
    for name, function in drawing.items():
        torch._dynamo.reset()
        run, found = torch.compile(function, backend="nereid",
                                   options={"fallback_random": True}), []
        given = randn(16, 8)
        for call in (function, run):
            x = given.clone().requires_grad_()
            torch.manual_seed(3)
            value = call(x)
            value.square().sum().backward()
            found.append((value, x.grad))
        tally.check(all(torch.allclose(*both, atol=1e-5) for both in zip(*found)),
                    f"{name} draws other numbers than in eager PyTorch")


def check_strides_of_gpu():
    """Tensors of a GPU have other strides there; none is needed to know them."""
    from nereid.torch_backend.decompositions.table import decompositions
    from torch._subclasses.fake_tensor import FakeTensorMode

    operator = torch.ops.aten.nonzero_static.default
    ours = decompositions()[operator]
    with FakeTensorMode():
        for shape in ((3,), (4, 3), (0, 3)):
            x = torch.ones(shape, device="cuda")
            found = ours(x, size=5)
            got = (operator(x, size=5) if found is NotImplemented else found).stride()
            want = operator(x, size=5).stride()
            tally.check(got == want, f"nonzero_static of {shape} on a GPU: {got}, not {want}")


def check_batch_norms():
    """Without gradients a batch norm by running statistics is one node, which the planner
    decomposes: as near to the exact values as eager mode, in its strides and dtypes."""
    from nereid.torch_backend.decompositions.table import decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    whole = torch.ops.aten._native_batch_norm_legit_no_training.default
    for gradients in (False, True):
        traced = make_fx(lambda x, y: whole(x, y, y, y, y, 0.1, 1e-5), tracing_mode="fake",
                         decomposition_table=decompositions(gradients=gradients))(
                             torch.randn(2, 3, 4), torch.rand(3))
        found = any(node.target is whole for node in traced.graph.nodes)
        tally.check(found is not gradients, f"a batch norm, gradients {gradients}: {found}")
    norms = {1: torch.nn.BatchNorm1d, 2: torch.nn.BatchNorm2d, 3: torch.nn.BatchNorm3d}
    dtypes = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
    layouts = (torch.contiguous_format, torch.channels_last)
    for axes, dtype, affine, layout in itertools.product((0, 1, 2, 3), dtypes, (True, False),
                                                         layouts):
        if layout is torch.channels_last and axes != 2:
            continue
        norm = norms[max(axes, 1)](6, affine=affine).to(DEVICE, dtype).eval()
        x = torch.randn(3, 6, *[5] * axes).to(DEVICE, dtype).contiguous(memory_format=layout)
        for i, value in enumerate((*norm.parameters(), *norm.buffers())):
            if value.dtype.is_floating_point:
                value.data.copy_(torch.rand_like(value) + 0.2 * i)
        what = f"batch norm of {tuple(x.shape)} {dtype} {affine} {layout}"
        with torch.no_grad():
            right = copy.deepcopy(norm).double()(x.double())
            want = torch.nn.functional.relu(norm(x))
            got = torch.compile(lambda x: torch.nn.functional.relu(norm(x)), backend="nereid")(x)
        tally.check(same(got, want, what) is None, same(got, want, what) or "")
        errors = [(y.double() - right.relu()).norm() for y in (got, want)]
        least = 4 * torch.finfo(dtype).eps * right.norm()
        tally.check(errors[0] <= 1.5 * errors[1] + least, f"{what}: {errors}")
        torch._dynamo.reset()


def check_collections():
    """A compilation leaves Python's collector as it was."""
    def compiled():
        torch._dynamo.reset()
        return torch.compile(lambda x: (x * 3).sum(), backend="nereid")(torch.ones(3)).item() == 9

    gc.unfreeze()  # what quick_torch froze
    tally.check(compiled() and gc.isenabled() and not gc.get_freeze_count(), "the collector")
    gc.disable()
    tally.check(compiled() and not gc.isenabled() and not gc.get_freeze_count(), "no collector")
    gc.enable()
    gc.freeze()
    frozen = gc.get_freeze_count()
    tally.check(compiled() and gc.get_freeze_count() > frozen // 2, "what is frozen")


def main():
    torch.manual_seed(0)
    check_strides_of_gpu()
    if not NAMES:
        check_batch_norms()
        check_collections()
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    torch.backends.cudnn.allow_tf32 = False  # two ways to sum in TF32 are 1e-3 apart
    check_memory()
    check_operators()
    check_numbers_in_16_bits()
    check_products_along_an_axis()
    if DEVICE == "cpu":
        check_integer_products()
    check_counted_sizes()
    check_training()
    if not NAMES:
        check_lent_memory()
        check_open_bags()
        check_bags()
        check_strides_of_nothing()
        check_saved()
        check_group_norm()
        check_effects()
        check_early_backward()
        check_kept_graph()
    check_sizes()
    check_contradictions()
    check_storages()
    check_unique()
    check_images()
    check_segments()
    if not NAMES:
        check_dropout()
        check_fallback_random()
        check_distributions()
        check_multinomial()
    check_dropout_again()
    if DEVICE == "cuda" and not NAMES:
        import torch_indices

        torch_indices.check_all_gpu()


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        from nereid import torch_backend

        torch_backend._programs.keep()
        main()
    sys.exit(tally.report())
