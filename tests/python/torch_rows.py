#!/usr/bin/env python3
"""Functions of rows by torch.compile at random shapes, with gradients, beside float64: softmax,
norms, cross entropy, sums, maxima, running sums, sorts and the largest elements.  Rows have 1 to
300,000 elements, often one more or less than a power of two, begin at odd elements, and lie apart
in a wider array; few or many; f32, bf16 and f16.  Each function runs twice, for the same bits; of
every second one the sizes are open on the CPU.

    torch_rows.py [cuda] [--count N] [--seconds S] [--seed S] [--jobs N] [--rows N] [FAMILY...]

On tensors of the CPU, or with cuda of a GPU; N shapes of each family (2), none begun after S
seconds, of at most --rows rows."""
import concurrent.futures, math, os, pathlib, random, subprocess, sys, time, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import tally

try:
    import torch
    import quick_torch
    import torch.nn.functional as F
except ImportError:
    torch = None
DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
ELEMENTS = 1 << (22 if DEVICE == "cuda" else 15)  # of an input, at most
WIDEST = 300000 if DEVICE == "cuda" else 9000
FAMILIES = {}
START = time.time()


def argument(name, otherwise):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else otherwise


# ---- what is random ----


class Draw(random.Random):
    def begin(self):
        self.dtype = self.choice((torch.float32, torch.bfloat16, torch.float16))
        self.columns = self.width()
        most = min(argument("--rows", 20000), max(1, ELEMENTS // self.columns))
        self.rows = self.choice((1, self.randint(1, min(most, 8)), self.randint(1, most), most))
        self.place = self.choice(("dense", "dense", "odd", "apart"))

    def width(self):
        kind = self.random()
        if kind < .5:
            power = 1 << self.randint(0, WIDEST.bit_length() - 1)
            width = power + self.choice((-8, -1, 0, 0, 1, 3, 8, power // 2))
        elif kind < .75:
            width = int(math.exp(self.uniform(0, math.log(WIDEST))))
        else:
            width = 8 * self.randint(1, 700)
        return max(1, min(width, WIDEST))

    def normal(self, *shape, dtype=None):
        return torch.randn(*shape, device=DEVICE).to(dtype or self.dtype)

    def matrix(self):
        """The rows, where `place` says: side by side, from an odd element on, or apart."""
        pitch = self.columns + (self.choice((1, 5, 8, 64)) if self.place == "apart" else 0)
        first = self.choice((1, 3, 8)) if self.place in ("odd", "apart") else 0
        memory = self.normal(first + self.rows * pitch)
        return memory.as_strided((self.rows, self.columns), (pitch, 1), first)

    def text(self):
        return f"{self.rows}x{self.columns} {str(self.dtype)[6:]} {self.place}"


# ---- families: each gives (function, arguments); those of floats have gradients ----


def family(function):
    FAMILIES[function.__name__] = function
    return function


@family
def softmax(draw):
    return lambda x: torch.softmax(x, -1), [draw.matrix()]


@family
def log_softmax(draw):
    return lambda x: torch.log_softmax(x, -1), [draw.matrix()]


@family
def layer_norm(draw):
    weights = [draw.normal(draw.columns) for _ in range(2)]
    if draw.random() < .2:
        weights = []
    return lambda x, *w: F.layer_norm(x, x.shape[-1:], *w), [draw.matrix(), *weights]


@family
def rms_norm(draw):
    weights = [draw.normal(draw.columns)] if draw.random() < .8 else []
    return lambda x, *w: F.rms_norm(x, x.shape[-1:], *w, eps=1e-6), [draw.matrix(), *weights]


@family
def group_norm(draw):
    """A group's elements are a row: channels of a group by pixels."""
    per, groups = draw.choice((1, 2, 3, 8)), draw.choice((1, 2, 5))
    pixels = max(2, draw.columns // per)
    images = max(1, min(draw.rows, ELEMENTS // (pixels * per * groups)))
    x = draw.normal(images, groups * per, pixels)
    weights = [draw.normal(groups * per) for _ in range(2)]
    draw.rows, draw.columns, draw.place = images * groups, per * pixels, f"{groups} groups"
    return lambda x, w, b: F.group_norm(x, groups, w, b), [x, *weights]


@family
def cross_entropy(draw):
    target = torch.randint(0, draw.columns, (draw.rows,), device=DEVICE)
    target[torch.rand(draw.rows, device=DEVICE) < .1] = -100
    target[0] = 0
    how = draw.choice(("mean", "sum", "none"))
    smoothing = draw.choice((0.0, 0.0, 0.1))
    return (lambda x: F.cross_entropy(x, target, reduction=how, label_smoothing=smoothing),
            [draw.matrix()])


@family
def sums(draw):
    return lambda x: (x.sum(-1), x.mean(-1)), [draw.matrix()]


@family
def maxima(draw):
    return lambda x: (x.amax(-1), x.amin(-1)), [draw.matrix()]


@family
def argmaxima(draw):
    return lambda x: (*x.max(-1), x.argmin(-1)), [with_ties(draw, draw.matrix())]


@family
def variance(draw):
    draw.columns = max(2, draw.columns)
    if draw.random() < .5:  # not both: their gradients may cancel
        return lambda x: x.var(-1), [draw.matrix()]
    return lambda x: x.std(-1, correction=0), [draw.matrix()]


@family
def cumsum(draw):
    return lambda x: x.cumsum(-1), [draw.matrix()]


@family
def sort(draw):
    down = draw.random() < .5
    draw.columns = min(draw.columns, 70000)
    return (lambda x: torch.sort(x, dim=-1, descending=down, stable=True),
            [with_ties(draw, draw.matrix())])


@family
def topk(draw):
    k = draw.choice((1, min(8, draw.columns), draw.randint(1, draw.columns)))
    largest = draw.random() < .5
    draw.columns = min(draw.columns, 140000)
    k = min(k, draw.columns)
    return lambda x: torch.topk(x, k, -1, largest=largest), [with_ties(draw, draw.matrix())]


def with_ties(draw, x):
    """Elements of few values in some arrays, and some that are no numbers or infinite."""
    if draw.random() < .3:
        x.copy_((2 * x).round())
    if draw.random() < .3:
        for value in (math.nan, math.inf, -math.inf):
            x[torch.rand(x.shape, device=DEVICE) < 1 / (2 * draw.columns)] = value
    return x


# ---- one shape ----


def tensors(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def floats(results):
    return [y for y in results if y.is_floating_point()]


def with_gradients(function, inputs, slopes):
    """Results, and gradients of inputs where results are floats that depend on them."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    results = tensors(function(*inputs))
    heads = [(y, g) for y, g in zip(floats(results), slopes) if y.requires_grad]
    if not heads:
        return [y.detach() for y in results], []
    ys, gs = zip(*((y, g.to(y.dtype)) for y, g in heads))
    return [y.detach() for y in results], list(torch.autograd.grad(ys, inputs, gs))


def rows_of(x):
    """A gradient of weights, or a number for each row, is one row: its elements are alike."""
    return x.reshape(1, -1) if x.dim() < 2 else x.reshape(-1, x.shape[-1])


def off(got, eager, want):
    """Whether an element is farther from float64 than its row's farthest by eager is, roughly."""
    eps = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}.get(got.dtype, 2.0**-18)
    got, eager, want = (rows_of(t.double()) for t in (got, eager, want))
    if got.shape != want.shape:
        return f"shape {tuple(got.shape)}"
    same = torch.isfinite(want).logical_not() & ((got == eager) | (got.isnan() & eager.isnan()))
    distance = (got - want).abs().masked_fill(same, 0)
    by_eager = (eager - want).abs().masked_fill(same, 0).amax(1, keepdim=True)
    if want.shape[1] < 64:  # few errors tell little of how large one may be
        by_eager = by_eager.amax()
    scale = want.abs().masked_fill(same, 0)
    bound = (2 * by_eager + eps * scale + eps / 4 * scale.amax(1, keepdim=True) + 1e-7)
    wrong = (distance <= bound).logical_not()
    if not wrong.any():
        return None
    ratio = (distance / bound).nan_to_num(math.inf).max().item()
    return f"{int(wrong.sum())} of {wrong.numel()} elements, {ratio:.3g} times the bound"


def problem_of_indices(name, x, values, indices, eager):
    picked = torch.gather(x, 1, indices.reshape(x.shape[0], -1)).reshape(values.shape)
    if not torch.equal(picked.nan_to_num(7), values.nan_to_num(7)):
        return "indices don't lead to the values"
    if name == "sort" and not torch.equal(indices, eager):
        return "not stable"
    return None


def exact_problem(name, x, got, eager):
    """Of functions whose results are elements: they are the same elements."""
    for y, z in zip(floats(got), floats(eager)):
        if not torch.equal(y.isnan(), z.isnan()) or not torch.equal(y.nan_to_num(7),
                                                                    z.nan_to_num(7)):
            return "other elements than eager's"
    if name == "maxima":
        return None
    others = got[2:]  # argmin, whose values are not given
    problem = problem_of_indices(name, x, got[0], got[1], eager[1])
    for y, z in zip(others, eager[2:]):
        problem = problem or problem_of_indices(name, x, torch.gather(x, 1, z[:, None])[:, 0], y, z)
    return problem


def problem_of(name, function, inputs, dynamic=False):
    slopes = [torch.randn_like(y) for y in floats(tensors(function(*inputs)))]
    exact = name in ("argmaxima", "maxima", "sort", "topk")
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="nereid", dynamic=dynamic)
    got = with_gradients(compiled, inputs, slopes)
    again = with_gradients(compiled, inputs, slopes)
    for x, y in zip(got[0] + got[1], again[0] + again[1]):
        if not torch.equal(x.nan_to_num(7), y.nan_to_num(7)):
            return "other bits in a second run"
    eager = with_gradients(function, inputs, slopes)
    if exact:
        return exact_problem(name, inputs[0], got[0], eager[0])
    want = with_gradients(function, [x.double() for x in inputs], slopes)
    for part, which in (("result", 0), ("gradient", 1)):
        for i, three in enumerate(zip(got[which], eager[which], want[which])):
            problem = off(*three)
            if problem:
                return f"{part} {i}: {problem}"
    return None


def run_family(name, count, seconds, seed):
    draw, end, done, wrong = Draw(f"{name} {seed}"), START + seconds, 0, 0
    torch.manual_seed(seed)
    while done < count and time.time() < end:
        draw.begin()
        try:
            function, inputs = FAMILIES[name](draw)
            open_sizes = DEVICE == "cpu" and done % 2 == 1
            problem = problem_of(name, function, inputs, dynamic=open_sizes)
        except Exception as e:  # noqa: BLE001
            problem = f"{type(e).__name__}: {str(e)[:300]}"
        done += 1
        if not tally.check(not problem, f"{name} {draw.text()}: {problem}"):
            wrong += 1
    print(f"@ {name} {done} {wrong}", flush=True)


def run_process(command):
    """The lines of a process, which are also printed as they come."""
    lines = []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        lines.append(line.rstrip())
        if not line.startswith("@ ") and not line.endswith(" failed\n"):
            print(line, end="", flush=True)
    process.wait()
    return lines


def in_processes(names, jobs, more):
    """A process a family, `jobs` of them at once, or more of different seeds."""
    share = max(1, jobs // len(names))
    commands = [[sys.executable, __file__, *more(share, part), name]
                for name in names for part in range(share)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waits = [pool.submit(run_process, command) for command in commands]
        for wait in concurrent.futures.as_completed(waits):
            counted = False
            for line in wait.result():
                if line.startswith("@ "):
                    name, done, wrong = line[2:].split()
                    print(f"{name}: {done} shapes, {wrong} wrong", flush=True)
                    tally.passed += int(done) - int(wrong)
                    tally.failed += int(wrong)
                    counted = int(done) > 0
            if not counted:
                tally.check(False, "a process ended without a shape")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    warnings.simplefilter("ignore")
    count, seconds = argument("--count", 2), argument("--seconds", 600)
    seed, jobs = argument("--seed", 1), argument("--jobs", 1)
    names = [name for name in FAMILIES if name in sys.argv] or list(FAMILIES)
    if jobs > 1:
        in_processes(names, jobs, lambda share, part: [
            *["cuda"] * (DEVICE == "cuda"), "--count", str(-(-count // share)), "--seconds",
            str(seconds), "--seed", str(seed + part), "--rows", str(argument("--rows", 20000))])
        return tally.report()
    for name in names:
        run_family(name, count, seconds, seed)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
