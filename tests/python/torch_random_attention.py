#!/usr/bin/env python3
"""Attention and its gradients at random shapes and with random masks, beside float64.

    torch_random_attention.py [cuda] [--count N] [--jobs N] [--seconds S] [--seed S]
                              [--only graph,source,flex] [CASE...]

N graphs (20) on tensors of the CPU.  With cuda on a GPU, of sizes up to 20,000 keys, and N / 5 of
the example kernels and N / 5 of FlexAttention by torch.compile as well, in jobs that end after S
seconds each at the latest.  CASEs: numbers of graphs, which run alone.
"""
import argparse, math, os, pathlib, random, re, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import tally

try:
    import torch
    import quick_torch
except ImportError:
    print("1 skipped: no torch")
    tally.check(True, "")
    sys.exit(tally.report())

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
ATEN, OWN = "torch.ops.aten", "torch.ops.nereid"
NONE = ", ".join(["None"] * 4)
CAP = 8.0
PARTS = 5  # processes of the example kernels, and of FlexAttention
SCORES_MOST = 1 << 25  # whose float64 several processes have at a time
TOLERANCE = 1.2e-2
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32", torch.bool: "b8",
         torch.int32: "i32"}


class Case:
    """`kind`: "mask": scaled_dot_product_attention, with a mask of truth values or numbers or none;
    "flex": a function of scores and one that hides some; "decode": few rows and many keys, without
    gradients."""

    def __init__(self, seed, number):
        pick = random.Random(f"{seed} {number}")
        choice = pick.choice
        self.kind = choice(("mask", "mask", "flex", "flex", "decode"))
        self.dtype = choice((torch.bfloat16, torch.bfloat16, torch.float16))
        self.batch, self.kv = pick.randint(1, 3), pick.randint(1, 3)
        self.heads = self.kv * choice((1, 1, 2, 4, 8))
        self.width = choice((16, 40, 64, 64, 80, 96, 128, 128, 192, 256))
        self.columns = choice((self.width, self.width, self.width, 64, 128))
        many = choice((20, 150, 700, 2400)) if DEVICE == "cuda" else choice((20, 90))
        self.rows = pick.randint(1, many)
        self.keys = self.rows if pick.random() < .4 else pick.randint(1, many)
        if self.kind == "decode":
            self.rows, self.keys = choice((1, 1, 1, 2, 5, 8)), pick.randint(
                1, 20000 if DEVICE == "cuda" else 600)
        elif many > 2000 and pick.random() < .7:  # whole blocks, as in training
            self.rows = self.keys = 128 * pick.randint(16, 20)
            self.columns = self.width
        while self.batch * self.heads * self.rows * self.keys > SCORES_MOST and self.batch > 1:
            self.batch -= 1
        if self.batch * self.heads * self.rows * self.keys > SCORES_MOST:
            self.heads = self.kv = 2
        self.causal = self.kind == "mask" and pick.random() < .4
        self.heads_last = pick.random() < .5
        self.mask = self.bias = None
        if self.kind != "flex" and not self.causal:
            self.mask = choice((None, None, "hides", "adds"))
        self.broadcast = [pick.random() < .5 for _ in range(3)]
        self.bias = self.mask == "adds" and self.kind == "mask" and pick.random() < .5
        self.score = choice((None, "cap", "slopes", "distances", "table", "factor"))
        self.hides = choice((None, "causal", "window", "documents", "prefix", "often"))
        self.reach, self.scale = pick.randint(1, 300), choice((None, .05, .3))
        self.seed = pick.randrange(1 << 30)
        self.make()

    def __str__(self):
        more = f"{self.mask} {self.bias}" if self.kind != "flex" else f"{self.score} {self.hides}"
        return (f"{self.kind} {self.batch}x{self.heads}/{self.kv}x{self.rows}x{self.keys}x"
                f"{self.width}/{self.columns} {NAMES[self.dtype]} causal {self.causal} {more}")

    def make(self):
        make = torch.Generator(DEVICE).manual_seed(self.seed)

        def normal(*shape, dtype=None):
            return torch.randn(*shape, generator=make, device=DEVICE).to(dtype or self.dtype)
        b, h, t, s = self.batch, self.heads, self.rows, self.keys
        sizes = dict(q=(h, t, self.width), k=(self.kv, s, self.width),
                     v=(self.kv, s, self.columns), g=(h, t, self.columns))
        self.inputs = {n: normal(b, *x) for n, x in sizes.items()}
        small = [1 if one else n for n, one in zip((b, h, t), self.broadcast)]
        if self.mask == "adds":
            self.inputs["mask"] = normal(*small, s)
        elif self.mask == "hides":
            self.inputs["mask"] = normal(*small, s) > -.7
        if self.kind != "flex":
            return
        extra = dict(slopes=lambda: normal(h, dtype=torch.float32).abs() * .2,
                     distances=lambda: normal(t + s, dtype=torch.float32),
                     table=lambda: normal(h, t, s))
        if self.score in extra:
            self.inputs["more"] = extra[self.score]()
        if self.hides == "documents":
            ends = torch.randint(0, 4, (max(t, s),), generator=make, device=DEVICE)
            self.inputs["documents"] = (ends == 0).cumsum(0).to(torch.int32)

    # ---- the graph ----

    def given(self):
        """Inputs as the graph has them: heads before rows, or rows before heads."""
        turn = lambda n, x: x.transpose(1, 2).contiguous() if self.turns(n) else x  # noqa: E731
        return {n: turn(n, x) for n, x in self.inputs.items()}

    def turns(self, name):
        return self.heads_last and name in "qkvg"

    def head_of_text(self):
        given = self.given()
        if self.kind == "decode":
            del given["g"]
        types = {n: f'"{NAMES[x.dtype]}[{", ".join(map(str, x.shape))}]"' for n, x in given.items()}
        names = {n: f"{n}0" if self.turns(n) else n for n in given}
        lines = [f"{n} = {ATEN}.permute.default({n}0, [0, 2, 1, 3])"
                 for n in given if self.turns(n)]
        return ", ".join(f"{names[n]}: {types[n]}" for n in given), lines

    def text(self):
        parameters, lines = self.head_of_text()
        lines += self.flex() if self.kind == "flex" else self.plain()
        outputs = [] if self.kind == "decode" else [f"b{i}" for i in range(3 + bool(self.bias))]
        body = "".join(f"    {line}\n" for line in lines)
        results = ", ".join(["o", *outputs])
        return f"def forward(self, {parameters}):\n{body}    return ({results},)\n"

    def plain(self):
        mask = "mask" if self.mask else "None"
        scale = f", scale = {self.scale}" if self.scale else ""
        op = f"{OWN}.scaled_dot_product_attention"
        lines = [f"a = {op}.default(q, k, v, {mask}, 0.0, {self.causal}, None{scale})", "o = a[0]",
                 "l = a[1]"]
        if self.kind == "decode":
            return lines[:2]
        lines += [f"b = {op}_backward.default(g, q, k, v, {mask}, o, l, None, 0.0, [True, True, "
                  f"True, {self.bias}], {self.causal}{scale})"]
        return lines + [f"b{i} = b[{i}]" for i in range(3 + bool(self.bias))]

    def flex(self):
        t, s, h = self.rows, self.keys, self.heads
        scale = f"scale = {self.scale or self.width**-.5}"
        lines = [f"x = {OWN}.attention_scores.default(q, k, {scale})",
                 f"rows = {ATEN}.arange.start_step(0, {t}, 1, dtype = torch.int32)",
                 f"row = {ATEN}.unsqueeze.default(rows, 1)",
                 f"key = {ATEN}.arange.start_step(0, {s}, 1, dtype = torch.int32)",
                 f"far = {ATEN}.sub.Tensor(key, row)"]
        scores = {
            "cap": [f"part = {ATEN}.div.Tensor(x, {CAP})", f"u = {ATEN}.tanh.default(part)",
                    f"y = {ATEN}.mul.Tensor(u, {CAP})"],
            "slopes": [f"slope = {ATEN}.view.default(more, [{h}, 1, 1])",
                       f"sloped = {ATEN}.mul.Tensor(far, slope)",
                       f"y = {ATEN}.add.Tensor(x, sloped)"],
            "distances": [f"at = {ATEN}.add.Tensor(far, {t})",
                          f"d = {ATEN}.index.Tensor(more, [at])",
                          f"y = {ATEN}.add.Tensor(x, d)"],
            "table": [f"y = {ATEN}.add.Tensor(x, more)"],
            "factor": [f"y = {ATEN}.mul.Tensor(x, 0.5)"]}
        hides = {
            "causal": [f"seen = {ATEN}.le.Tensor(key, row)"],
            "window": [f"side = {ATEN}.abs.default(far)",
                       f"seen = {ATEN}.le.Scalar(side, {self.reach})"],
            "prefix": [f"late = {ATEN}.le.Tensor(key, row)",
                       f"first = {ATEN}.lt.Scalar(key, {self.reach})",
                       f"seen = {ATEN}.bitwise_or.Tensor(late, first)"],
            "often": [f"rest = {ATEN}.remainder.Scalar(far, 3)",
                      f"seen = {ATEN}.ne.Scalar(rest, 1)"],
            "documents": [f"here = {ATEN}.index.Tensor(documents, [row])",
                          f"there = {ATEN}.index.Tensor(documents, [key])",
                          f"seen = {ATEN}.eq.Tensor(here, there)"]}
        lines += scores.get(self.score, []) + hides.get(self.hides, [])
        y, seen = "y" if self.score else "None", "seen" if self.hides else "None"
        lines += [f"a = {OWN}.flex_attention.default(q, k, v, {y}, {seen}, {NONE}, 0, 0, {scale})",
                  "o = a[0]", "l = a[1]"]
        chain = "None"
        if self.score:
            lines += [f"dy = {OWN}.attention_scores_grad.default(x)"]
            chain = "dy"
        if self.score == "cap":
            lines += [f"square = {ATEN}.mul.Tensor(u, u)", f"du = {ATEN}.rsub.Scalar(square, 1)",
                      f"dx = {ATEN}.mul.Tensor(dy, du)"]
            chain = "dx"
        elif self.score == "factor":
            lines += [f"dx = {ATEN}.mul.Tensor(dy, 0.5)"]
            chain = "dx"
        lines += [f"b = {OWN}.flex_attention_backward.default(g, None, q, k, v, o, l, {y}, {seen}, "
                  f"{chain}, {NONE}, {NONE}, 0, 0, [], [], [], {scale})"]
        return lines + [f"b{i} = b[{i}]" for i in range(3)]

    # ---- values ----

    def changed(self, x):
        """The scores and those that are seen, in float64."""
        row, key = torch.arange(self.rows, device=DEVICE)[:, None], torch.arange(self.keys,
                                                                                  device=DEVICE)
        mask = self.inputs.get("mask")
        seen = key <= row if self.causal else torch.ones_like(key <= row)
        if mask is not None and mask.dtype == torch.bool:
            seen = seen & mask
        if self.kind != "flex":
            return x + self.added if self.mask == "adds" else x, seen
        more = self.inputs["more"].double() if "more" in self.inputs else None
        change = {"cap": lambda: CAP * torch.tanh(x / CAP), "factor": lambda: x * .5,
                  "slopes": lambda: x + (key - row) * more[:, None, None],
                  "distances": lambda: x + more[key - row + self.rows], "table": lambda: x + more}
        of = self.inputs.get("documents")
        hides = {"causal": lambda: key <= row, "window": lambda: (key - row).abs() <= self.reach,
                 "prefix": lambda: (key <= row) | (key < self.reach),
                 "often": lambda: (key - row) % 3 != 1, "documents": lambda: of[row] == of[key]}
        return (change[self.score]() if self.score else x,
                hides[self.hides]() if self.hides else seen)

    def want(self):
        """Results of float64, and what of each comes from the rounding of the output, of which the
        gradient of a score is a difference."""
        leaves = [self.inputs[n].double().requires_grad_() for n in "qkv"]
        if self.mask == "adds":
            self.added = self.inputs["mask"].double().requires_grad_()
            leaves += [self.added] if self.bias else []
        q, k, v = leaves[:3]
        k, v = (y.repeat_interleave(self.heads // self.kv, 1) for y in (k, v))
        scale = self.scale or self.width**-.5
        x, seen = self.changed(q @ k.transpose(2, 3) * scale)
        some = seen.any(-1, keepdim=True)  # softmax of nothing is no number
        p = x.masked_fill(~(seen | ~some), -math.inf).softmax(-1) * some
        out = p @ v
        if self.kind == "decode":
            return [out.detach()], [0]
        g = self.inputs["g"].double()
        out.backward(g)
        p = p.detach() * (out.detach() * g).square().sum(-1, keepdim=True).sqrt() * 2.0**-8
        of_mask = p.sum_to_size(leaves[3].shape) if self.bias else p
        rests = [0, p @ k.detach() * scale, p.transpose(2, 3) @ q.detach() * scale, 0, of_mask]
        sizes = [x if isinstance(x, int) else x.norm().item() for x in rests]
        return [out.detach(), *(y.grad for y in leaves)], sizes

    def problem(self):
        run = nereid.load(self.text(), device=DEVICE)
        given = [x for n, x in self.given().items() if n != "g" or self.kind != "decode"]
        got = run.run(*given)
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        got = list(got) if isinstance(got, (list, tuple)) else [got]
        names = ("out", "dq", "dk", "dv", "dmask")
        wanted, rests = self.want()
        if self.bias:  # the operator leaves the sum over what broadcasts to its user
            got[4] = got[4].double().sum_to_size(wanted[4].shape)
        for name, x, want, rest in zip(names, got, wanted, rests):
            if x.shape != want.shape:
                return f"{name} is {list(x.shape)}, not {list(want.shape)}"
            off, norm = ((x.double() - want).norm()).item(), want.norm().item()
            if not off <= TOLERANCE * norm + 4 * rest + 1e-6:
                return f"{name} is off by {off:.3g} of {norm:.3g} and a rest of {rest:.3g}"
        return ""


def run_cases(options):
    done, end = 0, time.time() + options.seconds
    for number in range(options.part, options.count, options.parts):
        if time.time() > end:
            break
        text, case = "", None
        try:
            case = Case(options.seed, number)
            text = case.problem()
        except Exception as error:
            text = f"{type(error).__name__}: {str(error)[:300]}"
        kind = case.kind if case else "none"
        print(f"@ {kind}", flush=True)
        done += 1
        tally.check(not text, f"graph {number}: {case}: {text}")
    return tally.report()


class Jobs:
    """Commands, some at a time; their FAIL lines, and how many there were of each name."""

    def __init__(self, most):
        self.most, self.waiting, self.running = most, [], []
        self.counts = {}

    def add(self, name, *command):
        self.waiting.append((name, [sys.executable, *map(str, command)]))

    def count(self, name, more):
        self.counts[name] = self.counts.get(name, 0) + more

    def read(self, name, text):
        lines = text.splitlines()
        for line in lines:
            if line.startswith("@ "):  # a graph, or a family: launches, wrong ones
                words = line[2:].split()
                self.count(f"{name} {words[0]}", int(words[1]) if len(words) > 1 else 1)
            elif line.startswith("FAIL ") or "Error" in line or " times the bound" in line:
                tally.check(False, f"{name}: {line}")
        end = re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1]) if lines else None
        if not tally.check(end, f"{name}: ended with {lines[-3:]}"):
            return
        tally.passed += int(end[1])
        if name == "flex":
            self.count(name, int(end[1]) + int(end[2]))

    def run(self):
        while self.waiting or self.running:
            while self.waiting and len(self.running) < self.most:
                name, command = self.waiting.pop(0)
                self.running.append((name, subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
            name, process = self.running.pop(0)
            self.read(name, process.communicate()[0])
            print(f"{name}: {tally.passed} passed, {tally.failed} failed so far", flush=True)


def add_graphs(jobs, options):
    for i in range(options.jobs):
        jobs.add("graph", __file__, DEVICE, "--count", options.count, "--seed", options.seed,
                 "--seconds", options.seconds, "--part", i, "--parts", options.jobs)


def add_sources(jobs, options):
    for name in "attention_gradients", "attention":
        for i in range(PARTS):
            jobs.add("source", ROOT / "tests/python/torch_shapes.py", "cuda", "--count",
                     max(1, options.count // 5 // PARTS), "--seconds", options.seconds, "--seed",
                     1000 * options.seed + i, name)


def add_flex(jobs, options):
    for i in range(PARTS):
        jobs.add("flex", ROOT / "tests/python/torch_flex.py", "cuda", "--random",
                 options.count // 5, "--most", 900, "--seed", options.seed, "--limit",
                 options.seconds, "--part", i, "--parts", PARTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in ("--count", 20), ("--jobs", 1), ("--seconds", 600), ("--seed", 1):
        parser.add_argument(name, type=int, default=value)
    parser.add_argument("--only", default="graph,source,flex")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--parts", type=int, help=argparse.SUPPRESS)
    parser.add_argument("device", nargs="?", choices=("cuda", "cpu"), default="cpu")
    parser.add_argument("cases", type=int, nargs="*")
    options = parser.parse_args()
    if options.part is not None:
        torch.set_num_threads(1)
        return run_cases(options)
    for number in options.cases:
        case = Case(options.seed, number)
        text = case.problem()
        tally.check(not text, f"graph {number}: {case}: {text}")
    if options.cases:
        return tally.report()
    if DEVICE == "cpu":
        options.part, options.parts = 0, 1
        return run_cases(options)
    jobs = Jobs(options.jobs)
    add = {"graph": add_graphs, "source": add_sources, "flex": add_flex}
    for name in options.only.split(","):
        add[name](jobs, options)
    jobs.run()
    print(*(f"{name}: {n}" for name, n in sorted(jobs.counts.items())), sep="\n")
    return tally.report()


sys.exit(main())
