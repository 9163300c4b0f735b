#!/usr/bin/env python3
"""Kernels of many families at random shapes, beside float64: sizes that are multiples of nothing,
of 1, and none; arrays side by side in one buffer, from odd elements on, and views of wider ones.
Each launch runs twice, for the same bits, and changes nothing outside of its result.

    torch_shapes.py [cuda] [--count N] [--seconds S] [--seed S] [--jobs N] [FAMILY...]

On tensors of the CPU, or with cuda of a GPU; N launches of each family (4), no longer than S."""
import importlib.util, math, os, pathlib, random, subprocess, sys, tempfile, time

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
    torch = None
DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
FAMILIES = {}


def argument(name, otherwise):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else otherwise


def kernels_of(path):
    """The module of a file with kernels, in this package's language."""
    text = path.read_text().replace("import triton\n", "import nereid as triton\n")
    text = text.replace("import triton.language as tl", "import nereid.language as tl")
    copy = pathlib.Path(tempfile.mkdtemp(), path.name)
    copy.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, copy)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Kernels(dict):
    def __missing__(self, name):
        folder = ROOT / "examples" / "kernels"
        path = pathlib.Path(__file__).parent / "shapes" / "kernels.py"
        self[name] = kernels_of(path if name == "shapes" else folder / f"{name}.py")
        return self[name]


KERNELS = Kernels()


# ---- what is random ----


class Draw(random.Random):
    """`even`: sizes and places of a launch are multiples of 16, as in most programs; else of
    nothing, as a rule.  So there are few variants of a kernel to compile."""

    def start(self, most):
        self.even, self.most = self.random() < .5, most
        self.beside, self.wide = self.random() < .5, self.random() < .4

    def size(self, most=None, zero=True):
        most = most or self.most
        if zero and self.random() < .03:
            return 0
        if self.even:
            return 16 * self.randint(1, max(1, self.choice((4, most)) // 16))
        return self.randint(1, self.choice((20, most, most)))

    def gap(self):
        return 16 * self.randint(0, 2) if self.even else self.choice((0, 1, 3, 8))


class Arrays:
    """Arrays of a launch: in one buffer, side by side, or each in its own; rows may be wider."""

    def __init__(self, draw):
        self.draw, self.parts = draw, []

    def add(self, values):
        self.parts.append((values, values.shape[1] + self.draw.gap()
                           if self.draw.wide and values.dim() == 2 else None))

    def place(self):
        """The arrays in the order in which they were added."""
        ends, places = {}, []
        for i, (values, pitch) in enumerate(self.parts):
            buffer, unit = 0 if self.draw.beside else i, values.element_size()
            unit = max(unit, 16) if self.draw.even else unit
            at = -(-ends.get(buffer, self.draw.gap() * unit) // unit) * unit
            places.append((buffer, at // values.element_size()))
            used = values.numel() if pitch is None else values.shape[0] * pitch
            ends[buffer] = at + (used + self.draw.gap()) * values.element_size()
        buffers = {i: torch.zeros(-(-end // 16) * 16 + 256, dtype=torch.uint8, device=DEVICE)
                   for i, end in ends.items()}
        views = []
        for (values, pitch), (buffer, at) in zip(self.parts, places):
            strides = values.contiguous().stride() if pitch is None else (pitch, 1)
            view = torch.empty(0, dtype=values.dtype, device=DEVICE).set_(
                buffers[buffer].untyped_storage(), at, values.shape, strides)
            view.copy_(values)
            views.append(view)
        return views


def normal(*shape, dtype=None):
    x = torch.randn(*shape, device=DEVICE)
    if dtype == torch.int8:
        return (40 * x).clamp(-127, 127).to(dtype)
    return x.to(dtype)


def wide(x):
    return x.double()


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


# ---- families: each draws a launch, and gives (run, [(result, expected, bound)], description) ----


def family(function):
    FAMILIES[function.__name__] = function
    return function


TILES = [((64, 64, 32), 4, 3), ((128, 128, 64), 8, 3), ((64, 128, 64), 4, 4),
         ((128, 256, 64), 8, 4), ((192, 192, 64), 8, 3), ((192, 128, 64), 8, 4),
         ((16, 64, 64), 4, 3)]


def operands(draw, dtype, out, most):
    """a, b and c of a product, in any layout."""
    draw.start(most)
    m, n, k = draw.size(), draw.size(), draw.size()
    layout = draw.choice(("NN", "NT", "TN", "TT"))
    arrays = Arrays(draw)
    arrays.add(normal(*((m, k) if layout[0] == "N" else (k, m)), dtype=dtype))
    arrays.add(normal(*((k, n) if layout[1] == "N" else (n, k)), dtype=dtype))
    arrays.add(torch.ones(m, n, device=DEVICE).to(out))
    a, b, c = arrays.place()
    return (a if layout[0] == "N" else a.T), (b if layout[1] == "N" else b.T), c, layout


def product_bound(a, b, dtype, out, expected, length=None):
    """How far a sum in f32 of products may be from the exact one, and its rounding."""
    of_sum = {"float32": 2.0**-9, "float8_e4m3fn": 2.0**-11, "float8_e5m2": 2.0**-11, "int8": 0}
    of_out = {"bfloat16": 2.0**-8, "float16": 2.0**-10, "float32": 2.0**-22, "int32": 0}
    name = str(dtype).split(".")[1]
    sums = wide(a).abs() @ wide(b).abs()
    return (of_sum.get(name, 2.0**-18) * sums + of_out[str(out).split(".")[1]] * expected.abs()
            + (0 if out == torch.int32 else 1e-7))


def product(draw, dtypes, kernel=None):
    dtype, out = draw.choice(dtypes)
    most = 96 if DEVICE == "cpu" else draw.choice((300, 1200))
    a, b, c, layout = operands(draw, dtype, out, most)
    (m, k), n = a.shape, b.shape[1]
    (bm, bn, bk), warps, stages = TILES[0] if DEVICE == "cpu" else draw.choice(TILES)
    bk = {4: 32, 1: 2 * bk}.get(dtype.itemsize, bk)
    if dtype.itemsize == 4 and bn == 256:
        bn = 128
    tiles = -(-m // bm) * -(-n // bn)
    grid = tiles if kernel is None else min(tiles, draw.choice((1, 3, 7, 132)))
    function = kernel or KERNELS["matmul"].matmul
    more = {} if kernel else dict(ACTIVATION=None)
    expected = wide(a) @ wide(b)

    def run():
        if grid:
            function[(grid,)](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BLOCK_M=bm,
                              BLOCK_N=bn, BLOCK_K=bk, GROUP_M=8, num_warps=warps,
                              num_stages=stages, **more)
    bound = product_bound(a, b, dtype, out, expected)
    return run, [(c, expected, bound)], f"{layout} {m}x{n}x{k} {dtype} {bm}x{bn}x{bk} {stages}"


@family
def matmul_bf16(draw):
    return product(draw, [(torch.bfloat16, torch.bfloat16), (torch.bfloat16, torch.float32)])


@family
def matmul_f16(draw):
    return product(draw, [(torch.float16, torch.float16), (torch.float16, torch.float32)])


@family
def matmul_tf32(draw):
    return product(draw, [(torch.float32, torch.float32)])


@family
def matmul_fp8(draw):
    return product(draw, [(torch.float8_e4m3fn, torch.bfloat16),
                          (torch.float8_e5m2, torch.float32)])


@family
def matmul_int8(draw):
    return product(draw, [(torch.int8, torch.int32)])


@family
def persistent(draw):
    return product(draw, [(torch.bfloat16, torch.bfloat16), (torch.float16, torch.float32)],
                   KERNELS["shapes"].persistent)


@family
def uneven(draw):
    dtype = draw.choice((torch.bfloat16, torch.float16))
    a, b, c, layout = operands(draw, dtype, dtype, 96 if DEVICE == "cpu" else 700)
    (m, k), n = a.shape, b.shape[1]
    (bm, bn, bk), warps, stages = TILES[0] if DEVICE == "cpu" else draw.choice(TILES[:-1])
    across = -(-n // bn)
    tiles = -(-m // bm) * across
    lengths = [draw.choice((0, min(k, 1), min(k, bk), k // 2, k, k)) for _ in range(tiles)]
    expected = torch.zeros(m, n, dtype=torch.float64, device=DEVICE)
    bound = torch.full_like(expected, 1e-7)
    for t, length in enumerate(lengths):
        rows, columns = slice(t // across * bm, None), slice(t % across * bn, None)
        rows, columns = (slice(s.start, s.start + size) for s, size in ((rows, bm), (columns, bn)))
        x, y = a[rows, :length], b[:length, columns]
        expected[rows, columns] = wide(x) @ wide(y)
        bound[rows, columns] = product_bound(x, y, dtype, dtype, expected[rows, columns])
    of = torch.tensor(lengths or [0], dtype=torch.int32, device=DEVICE)
    grid = min(tiles, draw.choice((1, 3, 7, 132)))

    def run():
        if grid:
            KERNELS["shapes"].uneven[(grid,)](
                a, b, c, of, m, n, *a.stride(), *b.stride(), *c.stride(), BLOCK_M=bm, BLOCK_N=bn,
                BLOCK_K=bk, num_warps=warps, num_stages=stages)
    return run, [(c, expected, bound)], f"{layout} {m}x{n}x{k} {dtype} {bm}x{bn}x{bk} {lengths[:6]}"


@family
def attention(draw):
    dtype, dim, causal = (draw.choice(x) for x in ((torch.bfloat16, torch.float16), (64, 128),
                                                   (False, True)))
    draw.start(64 if DEVICE == "cpu" else 700)
    heads, n = draw.randint(1, 5), draw.size(zero=False)
    arrays = Arrays(draw)
    for _ in range(3):
        arrays.add(normal(heads, n, dim, dtype=dtype))
    arrays.add(torch.ones(heads, n, dim, dtype=dtype, device=DEVICE))
    q, k, v, out = arrays.place()
    bm, bn, warps, stages = (64, 32, 4, 2) if DEVICE == "cpu" else draw.choice(
        ((64, 64, 4, 2), (128, 128, 8, 2), (128, 64, 4, 2), (64, 32, 4, 3)))
    scores = wide(q) @ wide(k).transpose(1, 2) * dim**-0.5
    if causal:
        scores = scores + torch.full_like(scores, -math.inf).triu(1)
    p = torch.softmax(scores, -1)
    expected = p @ wide(v)
    bound = 2.0**(-6 if dtype == torch.bfloat16 else -9) * (p @ wide(v).abs()) + 1e-5

    def run():
        KERNELS["attention"].attention[(-(-n // bm), heads)](
            q, k, v, out, n, dim**-0.5, HEAD_DIM=dim, BLOCK_M=bm, BLOCK_N=bn, CAUSAL=causal,
            num_warps=warps, num_stages=stages)
    return run, [(out, expected, bound)], f"{heads}x{n}x{dim} {causal} {dtype} {bm}x{bn}"


def shares_of(q, k, causal):
    """Shares of float64, and the binary logarithms of the rows' sums, [heads, rows]."""
    scores = wide(q) @ wide(k).transpose(1, 2) * q.shape[2]**-0.5
    if causal:
        scores = scores + torch.full_like(scores, -math.inf).triu(1)
    return torch.softmax(scores, -1), torch.logsumexp(scores, -1) / math.log(2)


def near(expected):
    """What an element of a product of rounded shares may be off by: 2^-5 of its row's mean."""
    mean = expected.square().mean(-1, keepdim=True).sqrt()
    return 2.0**-5 * (mean + mean.mean()) + 1e-6


@family
def attention_gradients(draw):
    dtype, dim, causal, keeps = (draw.choice(x) for x in (
        (torch.bfloat16, torch.float16), (64, 128), (False, True), (False, True)))
    draw.start(64 if DEVICE == "cpu" else 600)
    heads, n = draw.randint(1, 3), draw.size(zero=False)
    arrays = Arrays(draw)
    q, k, v, g = (normal(heads, n, dim, dtype=dtype) for _ in range(4))
    p, sums = shares_of(q, k, causal)
    out = (p @ wide(v)).to(dtype)
    for x in (q, k, v, g, out, sums.float().flatten(), torch.ones(heads * n, device=DEVICE),
              *(torch.ones_like(q) for _ in range(3))):
        arrays.add(x)
    pitch = -(-n // 32) * 32
    q, k, v, g, out, sums, delta, dq, dk, dv = arrays.place()
    kept = torch.zeros(heads, n, pitch, dtype=dtype, device=DEVICE)
    ds = p * (wide(g) @ wide(v).transpose(1, 2) - (wide(out) * wide(g)).sum(-1, keepdim=True))
    scale = dim**-0.5
    expected = [ds @ wide(k) * scale, ds.transpose(1, 2) @ wide(q) * scale,
                p.transpose(1, 2) @ wide(g)]
    keys, queries = ((64, 32, 4, 2), (32, 32, 4, 2)) if DEVICE == "cpu" else (
        draw.choice(((64, 64, 4, 2), (128, 64, 8, 3), (128, 64, 8, 2), (64, 32, 4, 3))),
        draw.choice(((64, 64, 4, 3), (64, 32, 4, 2)) if keeps else
                    ((64, 64, 4, 3), (64, 128, 4, 2), (128, 64, 8, 2))))

    def of(tile):
        return dict(HEAD_DIM=dim, BLOCK_M=tile[0], BLOCK_N=tile[1], CAUSAL=causal,
                    num_warps=tile[2], num_stages=tile[3])

    def run():
        module = KERNELS["attention_backward"]
        module.row_sums[(-(-heads * n // 32),)](out, g, delta, heads * n, HEAD_DIM=dim, BLOCK=32)
        more = dict(kept_ptr=kept, pitch=pitch) if keeps else {}
        module.grad_keys[(-(-n // keys[0]), heads)](q, k, v, g, sums, delta, dk, dv, n, scale,
                                                    **of(keys), **more)
        grid = (-(-n // queries[0]), heads)
        if keeps:
            module.grad_query_of_kept[grid](kept, k, dq, n, pitch, n * pitch, scale,
                                            **of(queries))
        else:
            module.grad_query[grid](q, k, v, g, sums, delta, dq, n, scale, **of(queries))
    text = f"{heads}x{n}x{dim} {causal} {dtype} {keys} {queries} keeps {keeps}"
    results = [(x, want, near(want)) for x, want in zip((dq, dk, dv), expected)]
    return run, [*results, (delta, (wide(out) * wide(g)).sum(-1).flatten(), 1e-2)], text


def row_arrays(draw, *more):
    """Rows of x and of the result, and arrays of a row's length."""
    dtype = draw.choice((torch.bfloat16, torch.float32, torch.float16))
    draw.start(200 if DEVICE == "cpu" else draw.choice((300, 5000)))
    draw.wide = False
    rows, columns = draw.randint(1, 60), draw.size(zero=False)
    arrays = Arrays(draw)
    arrays.add(normal(rows, columns, dtype=dtype))
    for _ in more:
        arrays.add(normal(columns, dtype=dtype))
    arrays.add(torch.ones(rows, columns, dtype=dtype, device=DEVICE))
    return arrays.place(), rows, columns, {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-10}.get(
        dtype, 2.0**-20)


def block_of(columns):
    return dict(BLOCK=max(16, 1 << (columns - 1).bit_length()))


@family
def softmax(draw):
    (x, out), rows, columns, eps = row_arrays(draw)
    expected = torch.softmax(wide(x), 1)
    run = lambda: KERNELS["softmax"].softmax[(rows,)](x, out, columns, **block_of(columns))
    return run, [(out, expected, eps * expected + 1e-6)], f"{rows}x{columns} {x.dtype}"


@family
def layer_norm(draw):
    (x, w, b, out), rows, columns, eps = row_arrays(draw, "w", "b")
    mean, rstd = (torch.empty(rows, device=DEVICE) for _ in range(2))
    centered = wide(x) - wide(x).mean(1, keepdim=True)
    scale = ((centered**2).mean(1, keepdim=True) + 1e-5).rsqrt()
    expected = centered * scale * wide(w).view(1, -1) + wide(b).view(1, -1)
    bound = 2 * eps * (expected.abs() + wide(b).abs().view(1, -1) + 1) + 1e-5 * scale
    run = lambda: KERNELS["layer_norm"].layer_norm_forward[(rows,)](
        x, w, b, out, mean, rstd, columns, 1e-5, **block_of(columns))
    return run, [(out, expected, bound)], f"{rows}x{columns} {x.dtype}"


@family
def rms_norm(draw):
    (x, w, out), rows, columns, eps = row_arrays(draw, "w")
    expected = wide(x) * ((wide(x)**2).mean(1, keepdim=True) + 1e-6).rsqrt() * wide(w).view(1, -1)
    run = lambda: KERNELS["rms_norm"].rms_norm[(rows,)](x, w, out, columns, 1e-6,
                                                        **block_of(columns))
    return run, [(out, expected, 2 * eps * expected.abs() + 1e-5)], f"{rows}x{columns} {x.dtype}"


@family
def cumsum(draw):
    (x, out), rows, columns, eps = row_arrays(draw)
    expected = wide(x).cumsum(1)
    bound = eps * expected.abs() + 2.0**-18 * wide(x).abs().cumsum(1) + 1e-6
    run = lambda: KERNELS["cumsum"].cumsum[(rows,)](x, out, columns, BLOCK=256)
    return run, [(out, expected, bound)], f"{rows}x{columns} {x.dtype}"


@family
def cross_entropy(draw):
    (x, grad), rows, columns, eps = row_arrays(draw)
    target = torch.randint(0, columns, (rows,), device=DEVICE)
    target[torch.rand(rows, device=DEVICE) < .1] = -100
    loss = torch.empty(rows, device=DEVICE)
    counted = (target >= 0).double()
    logs = torch.log_softmax(wide(x), 1)
    at = target.clamp(min=0)
    expected = -logs.gather(1, at[:, None])[:, 0] * counted
    slope = (logs.exp() - torch.nn.functional.one_hot(at, columns)) * counted[:, None]
    run = lambda: KERNELS["cross_entropy"].cross_entropy[(rows,)](x, target, loss, grad, columns,
                                                                 -100, BLOCK=512)
    return run, [(loss, expected, 1e-5 * (1 + expected.abs())),
                 (grad, slope, eps * slope.abs() + 1e-5)], f"{rows}x{columns} {x.dtype}"


@family
def int4_rows(draw):
    dtype = draw.choice((torch.bfloat16, torch.float16))
    draw.start(96 if DEVICE == "cpu" else 1000)
    group = draw.choice((32, 128))
    m, n, k = draw.choice((1, 5, 16, draw.size(200))), draw.size(), group * draw.randint(1, 8)
    arrays = Arrays(draw)
    arrays.add(normal(m, k, dtype=dtype))
    arrays.add(torch.randint(-2**31, 2**31 - 1, (k // 8, n), dtype=torch.int32, device=DEVICE))
    arrays.add(torch.ones(m, n, dtype=dtype, device=DEVICE))
    x, words, out = arrays.place()
    scale = (torch.rand(k // group, n, device=DEVICE) * .02 + .01)
    zero = torch.randint(0, 16, (k // group, n), device=DEVICE).float()
    of = torch.arange(k, device=DEVICE)
    w = (words[of // 8].long() >> (of % 8 * 4)[:, None]) & 15
    w = ((w.float() - zero[of // group]) * scale[of // group]).to(dtype)
    expected = wide(x) @ wide(w)
    bm, bn, bk = (16, 64, 32) if DEVICE == "cpu" else draw.choice(
        ((16, 64, 64), (16, 128, 128), (64, 64, 64)))

    def run():
        if m and n:
            KERNELS["shapes"].int4_rows[(-(-m // bm), -(-n // bn))](
                x, words, scale, zero, out, m, n, k, x.stride(0), words.stride(0), out.stride(0),
                GROUP=group, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk)
    bound = product_bound(x, w, dtype, dtype, expected)
    return run, [(out, expected, bound)], f"{m}x{n}x{k} group {group} {dtype} {bm}x{bn}x{bk}"


# ---- launches ----


def bits(x):
    size = {1: torch.int8, 2: torch.int16, 4: torch.int32}[x.element_size()]
    return x.contiguous().view(size)


def whole_memory(x):
    """All bytes of the buffer that has x."""
    flat = torch.empty(0, dtype=torch.uint8, device=x.device)
    return flat.set_(x.untyped_storage())


def problem_of(run, results):
    """What is wrong with a launch, or None."""
    memories = {x.untyped_storage().data_ptr(): whole_memory(x) for x, _, _ in results}
    before = {at: memory.clone() for at, memory in memories.items()}
    run()
    synchronize()
    first = [x.clone() for x, _, _ in results]
    for x, expected, bound in results:
        distance = (wide(x).reshape(expected.shape) - expected).abs()
        if not bool((distance <= bound).all()):
            worst = (distance / bound).nan_to_num(math.inf).max().item() if distance.numel() else 0
            return f"{worst:.3g} times the bound"
    run()
    synchronize()
    if not all(torch.equal(bits(x), bits(y)) for (x, _, _), y in zip(results, first)):
        return "other bits in a second run"
    for x, _, _ in results:
        x.zero_()
    for x, _, _ in results:
        after = before[x.untyped_storage().data_ptr()]
        torch.empty(0, dtype=x.dtype, device=x.device).set_(
            after.untyped_storage(), x.storage_offset(), x.shape, x.stride()).zero_()
    if not all(torch.equal(memory, before[at]) for at, memory in memories.items()):
        return "bytes outside of the result are changed"
    return None


def run_family(name, count, seconds, seed):
    draw, end, done, wrong = Draw(f"{name} {seed}"), time.time() + seconds, 0, 0
    torch.manual_seed(seed)
    while done < count and time.time() < end:
        text = ""
        try:
            run, results, text = FAMILIES[name](draw)
            problem = problem_of(run, results)
        except Exception as e:
            problem = f"{type(e).__name__}: {str(e)[:200]}"
        done += 1
        if problem:
            wrong += 1
            if wrong <= 5:
                kind = f"even {draw.even}, beside {draw.beside}"
                print(f"{name} {text} ({kind}): {problem}", flush=True)
    print(f"@ {name} {done} {wrong}", flush=True)
    return done, wrong


def in_processes(names, jobs, more):
    """A process a family, `jobs` of them at once."""
    waiting, running = list(names), []
    while waiting or running:
        while waiting and len(running) < jobs:
            command = [sys.executable, __file__, *more, waiting.pop(0)]
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        for line in running.pop(0).communicate()[0].splitlines():
            if not line.startswith("@ "):
                if not line.endswith(" failed"):
                    print(line, flush=True)
                continue
            name, done, wrong = line[2:].split()
            print(f"{name}: {done} launches, {wrong} wrong", flush=True)
            tally.check(int(done) and not int(wrong), f"{name}: {wrong} of {done} are wrong")
    tally.check(tally.passed + tally.failed == len(names), "each process ended with a count")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    count, seconds = argument("--count", 4), argument("--seconds", 600)
    seed, jobs = argument("--seed", 1), argument("--jobs", 1)
    names = [name for name in FAMILIES if name in sys.argv] or list(FAMILIES)
    if jobs > 1:
        more = [*["cuda"] * (DEVICE == "cuda"), "--count", str(count), "--seconds", str(seconds),
                "--seed", str(seed)]
        in_processes(names, jobs, more)
        return tally.report()
    for name in names:
        done, wrong = run_family(name, count, seconds, seed)
        tally.check(done > 0 and not wrong, f"{name}: {wrong} of {done} launches are wrong")
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
