#!/usr/bin/env python3
"""Times the example kernels on a GPU, beside Triton (the same files), PyTorch and plain copies.

    kernels.py [--quick] [--device cuda] [--json FILE] [NAME...]   only cases that contain a NAME

Every side gets the same buffers, filled with normal random numbers, and the best of the same short
list of block sizes and warps; then all sides take turns, with the L2 cache flushed before each run,
and the median counts.  Results are compared with a float64 reference: all elements by PyTorch,
or, where that is not installed, the first and the last rows by NumPy.  Cases run in a process of
their own, so that one that breaks the GPU's context does not take the rest along.
"""
import argparse, datetime, importlib.util, json, math, os, select, subprocess, sys, time
import numpy as np
import binding, products
from binding import ROOT, Pointer

EXAMPLES = ROOT / "examples" / "kernels"
BYTES = dict(f32=4, i32=4, bf16=2, f8e4nv=1, i8=1)
CASES = {}  # name: function that makes a Case from a memory
QUICK = set()


class Case:
    """args: name -> buffer or number; shapes: (constants, num_warps, num_stages) to try; grid: of
    constants; moved: bytes, or flops; reference(xp, rows, lo, hi): rows lo to hi of the output in
    float64, where rows(name, lo, hi) reads an argument; peers: name -> function (of PyTorch)."""
    def __init__(self, file, kernel, args, output, grid, shapes, reference, tol, moved=0, flops=0,
                 peers=()):
        self.file, self.kernel, self.args, self.output = EXAMPLES / file, kernel, args, output
        self.grid, self.shapes, self.reference, self.tol = grid, shapes, reference, tol
        self.moved, self.flops, self.peers = moved, flops, dict(peers)


def case(name, quick=False):
    def add(make):
        CASES[name] = make
        if quick:
            QUICK.add(name)
        return make
    return add


# ---- memory ----

class PlainMemory:
    """Buffers by Nereid's own calls, read back into NumPy arrays."""
    xp, torch = np, None

    class Buffer:
        def __init__(self, address, dtype, shape):
            self.address, self.dtype, self.shape = address, dtype, shape
            self.nbytes = math.prod(shape) * BYTES[dtype]

    def __init__(self, device):
        self.device, self.stream, self.buffers = device, device.stream(), []
        self.rng = np.random.default_rng(0)

    def empty(self, dtype, *shape):
        buffer = self.Buffer(None, dtype, shape)
        buffer.address = self.device.alloc(buffer.nbytes)
        self.buffers.append(buffer)
        return buffer

    def normal(self, dtype, *shape):
        """Up to 4 M numbers are drawn; a longer buffer repeats them."""
        if dtype not in ("f32", "bf16"):
            raise ValueError(f"arrays of {dtype} need PyTorch")
        buffer, size = self.empty(dtype, *shape), math.prod(shape)
        drawn = self.rng.standard_normal(min(size, 1 << 22), np.float32)
        if dtype == "bf16":
            drawn = ((drawn.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)
        for start in range(0, size, drawn.size):
            part = drawn[:min(drawn.size, size - start)]
            self.device.copy_in(buffer.address + start * BYTES[dtype], part)
        return buffer

    def integers(self, high, size):
        buffer = self.empty("i32", size)
        self.device.copy_in(buffer.address, self.rng.integers(0, high, size, np.int32))
        return buffer

    def pointer(self, buffer):
        return Pointer(buffer.dtype, buffer.address)

    def nbytes(self, buffer):
        return buffer.nbytes

    def rows(self, buffer, lo=0, hi=None):
        hi = buffer.shape[0] if hi is None else hi
        shape = (hi - lo, *buffer.shape[1:])
        out = np.empty(shape, dict(f32=np.float32, i32=np.int32, bf16=np.uint16)[buffer.dtype])
        self.device.copy_out(out, buffer.address + lo * (buffer.nbytes // buffer.shape[0]))
        if buffer.dtype == "bf16":
            out = (out.astype(np.uint32) << 16).view(np.float32)
        return out if buffer.dtype == "i32" else out.astype(np.float64)

    def chunks(self, buffer):
        """Rows to check: the first and the last of them."""
        n, per = buffer.shape[0], max(1, (1 << 16) * buffer.shape[0] // math.prod(buffer.shape))
        return [(0, min(per, n)), (max(0, n - per), n)]

    def copier(self, to, source):
        return lambda: self.device.copy(to.address, source.address, source.nbytes, self.stream)

    def free(self):
        for buffer in self.buffers:
            self.device.free(buffer.address)
        self.buffers = []


class TorchMemory:
    def __init__(self, device, torch):
        self.xp = self.torch = torch
        self.device = device
        self.dtypes = dict(f32=torch.float32, bf16=torch.bfloat16, f8e4nv=torch.float8_e4m3fn,
                           i8=torch.int8, i32=torch.int32)
        self.own = torch.cuda.Stream()
        torch.cuda.set_stream(self.own)
        torch.manual_seed(0)
        self.stream = device.stream(self.own.cuda_stream)

    def empty(self, dtype, *shape):
        return self.torch.empty(shape, dtype=self.dtypes[dtype], device="cuda")

    def normal(self, dtype, *shape):
        """Normal numbers; of int8, 32 times these, so that few meet its bounds."""
        if dtype in ("f32", "bf16"):
            return self.torch.randn(shape, dtype=self.dtypes[dtype], device="cuda")
        x = self.torch.randn(shape, device="cuda")
        x = (32 * x).clamp(-127, 127) if dtype == "i8" else x
        return x.to(self.dtypes[dtype])

    def integers(self, high, size):
        return self.torch.randint(high, (size,), dtype=self.torch.int32, device="cuda")

    def pointer(self, tensor):
        names = {v: k for k, v in self.dtypes.items()}
        return Pointer(names[tensor.dtype], tensor.data_ptr())

    def nbytes(self, tensor):
        return tensor.numel() * tensor.element_size()

    def rows(self, tensor, lo=0, hi=None):
        return tensor[lo:hi] if tensor.dtype == self.torch.int32 else tensor[lo:hi].double()

    def chunks(self, tensor):
        n, per = tensor.shape[0], max(1, (1 << 26) * tensor.shape[0] // tensor.numel())
        return [(lo, min(lo + per, n)) for lo in range(0, n, per)]

    def copier(self, to, source):
        return lambda: to.copy_(source)

    def free(self):
        self.torch.cuda.empty_cache()


# ---- cases ----

def scaled(size, small):
    """`size`, or `small` in a trial run on a device that is slow."""
    return small if TRIAL else size


TRIAL = False


@case("vector add 2^28", quick=True)
def vector_add(m):
    n = scaled(1 << 28, 5000)
    x, y, out = m.normal("f32", n), m.normal("f32", n), m.empty("f32", n)
    shapes = [(dict(BLOCK=b), w, 3) for b in (1024, 2048, 4096) for w in (4, 8)]
    return Case("vector_add.py", None, dict(x_ptr=x, y_ptr=y, out_ptr=out, n=n), "out_ptr",
                lambda c: (-(-n // c["BLOCK"]),), shapes,
                lambda xp, rows, lo, hi: rows("x_ptr", lo, hi) + rows("y_ptr", lo, hi), 1e-6,
                moved=12 * n)


def row_sizes(m, cols):
    rows = scaled((1 << 27) // cols, 5)
    block = 1 << (cols - 1).bit_length()
    warps = [2, 4, 8] if block <= 1024 else [4, 8, 16] if block <= 8192 else [8, 16, 32]
    return rows, [(dict(BLOCK=block), w, 3) for w in warps]


def row_peer(m, function, *inputs):
    """PyTorch's own kernel, without a gradient."""
    if not m.torch:
        return {}

    def run():
        with m.torch.no_grad():
            return function(m.torch.nn.functional)(*inputs)
    return {"torch": run}


def softmax(m, cols):
    rows, shapes = row_sizes(m, cols)
    x, out = m.normal("bf16", rows, cols), m.empty("bf16", rows, cols)

    def reference(xp, get, lo, hi):
        x = get("x_ptr", lo, hi)
        e = xp.exp(x - xp.amax(x, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)
    return Case("softmax.py", None, dict(x_ptr=x, out_ptr=out, n_cols=cols), "out_ptr",
                lambda c: (rows,), shapes, reference, 5e-3, moved=4 * rows * cols,
                peers=row_peer(m, lambda f: f.softmax, x, -1))


def layer_norm(m, cols):
    rows, shapes = row_sizes(m, cols)
    x, w, b = m.normal("bf16", rows, cols), m.normal("bf16", cols), m.normal("bf16", cols)
    args = dict(x_ptr=x, w_ptr=w, b_ptr=b, out_ptr=m.empty("bf16", rows, cols),
                mean_ptr=m.empty("f32", rows), rstd_ptr=m.empty("f32", rows), n_cols=cols, eps=1e-5)

    def reference(xp, get, lo, hi):
        x = get("x_ptr", lo, hi)
        x = x - xp.mean(x, axis=1, keepdims=True)
        deviation = xp.sqrt(xp.mean(x * x, axis=1, keepdims=True) + 1e-5)
        return x / deviation * get("w_ptr") + get("b_ptr")
    return Case("layer_norm.py", "layer_norm_forward", args, "out_ptr", lambda c: (rows,), shapes,
                reference, 5e-3, moved=4 * rows * cols + 8 * rows,
                peers=row_peer(m, lambda f: f.layer_norm, x, (cols,), w, b))


def rms_norm(m, cols):
    rows, shapes = row_sizes(m, cols)
    x, w, out = m.normal("bf16", rows, cols), m.normal("bf16", cols), m.empty("bf16", rows, cols)

    def reference(xp, get, lo, hi):
        x = get("x_ptr", lo, hi)
        return x / xp.sqrt(xp.mean(x * x, axis=1, keepdims=True) + 1e-6) * get("w_ptr")
    return Case("rms_norm.py", None, dict(x_ptr=x, w_ptr=w, out_ptr=out, n_cols=cols, eps=1e-6),
                "out_ptr", lambda c: (rows,), shapes, reference, 5e-3, moved=4 * rows * cols,
                peers=row_peer(m, lambda f: f.rms_norm, x, (cols,), w, 1e-6))


def row_groups(cols):
    """Programs that take rows one by one: one and two a processor of an H200, and four where rows
    are short.  Rows above 8,192 columns are shared by clusters of two, four or eight of its 132
    processors, of which 66, 30 or 15 fit."""
    groups = {16384: 66, 32768: 30, 65536: 15}.get(cols, 132)
    return (groups, 2 * groups, 4 * groups) if cols <= 2048 else (groups, 2 * groups)


def layer_norm_backward(m, cols):
    """The gradient for x is checked; those of w and b are sums into parts: of programs that keep
    them in registers, or of bands of rows."""
    rows, shapes = row_sizes(m, cols)
    in_registers = cols <= 65536
    groups, bands = row_groups(cols), [b for b in (16, 32, 64, 128) if b < rows] or [16]
    parts = groups[-1] if in_registers else -(-rows // bands[0])
    dy, x, w = m.normal("bf16", rows, cols), m.normal("bf16", rows, cols), m.normal("bf16", cols)
    mean, rstd = m.normal("f32", rows), m.normal("f32", rows)
    args = dict(dy_ptr=dy, x_ptr=x, w_ptr=w, mean_ptr=mean, rstd_ptr=rstd,
                dx_ptr=m.empty("bf16", rows, cols), dw_parts_ptr=m.empty("f32", parts, cols),
                db_parts_ptr=m.empty("f32", parts, cols), n_rows=rows, n_cols=cols)

    def reference(xp, get, lo, hi):
        rstd = get("rstd_ptr", lo, hi)[:, None]
        xhat = (get("x_ptr", lo, hi) - get("mean_ptr", lo, hi)[:, None]) * rstd
        wdy = get("dy_ptr", lo, hi) * get("w_ptr")
        along = xp.mean(xhat * wdy, axis=1, keepdims=True)
        return (wdy - xhat * along - xp.mean(wdy, axis=1, keepdims=True)) * rstd
    if in_registers:
        kernel, grid = "layer_norm_backward_rows", lambda c: (c["GROUPS"],)
        shapes = [(dict(c, GROUPS=g), w, s) for c, w, s in shapes for g in groups]
    else:
        kernel = "layer_norm_backward_bands"
        grid = lambda c: (-(-rows // c["BAND"]) * (c["BAND"] + -(-cols // c["COLS"])),)
        shapes = [(dict(BAND=band, ROWS=w, COLS=512, BLOCK=block), w, 3) for band in bands
                  for block, w in ((2048, 4), (4096, 4), (4096, 8))]
    return Case("layer_norm.py", kernel, args, "dx_ptr", grid, shapes, reference, 5e-3,
                moved=6 * rows * cols)


def rms_norm_backward(m, cols):
    """The gradient for x is checked; that of w is a sum into parts."""
    rows, shapes = row_sizes(m, cols)
    groups = row_groups(cols)
    args = dict(dy_ptr=m.normal("bf16", rows, cols), x_ptr=m.normal("bf16", rows, cols),
                w_ptr=m.normal("bf16", cols), dx_ptr=m.empty("bf16", rows, cols),
                dw_parts_ptr=m.empty("f32", groups[-1], cols), n_rows=rows, n_cols=cols, eps=1e-6)

    def reference(xp, get, lo, hi):
        x, wdy = get("x_ptr", lo, hi), get("dy_ptr", lo, hi) * get("w_ptr")
        scale = 1 / xp.sqrt(xp.mean(x * x, axis=1, keepdims=True) + 1e-6)
        xhat = x * scale
        return (wdy - xhat * xp.mean(xhat * wdy, axis=1, keepdims=True)) * scale
    shapes = [(dict(c, GROUPS=g), w, s) for c, w, s in shapes for g in groups]
    return Case("rms_norm_backward.py", None, args, "dx_ptr", lambda c: (c["GROUPS"],), shapes,
                reference, 5e-3, moved=6 * rows * cols)


def cross_entropy(m, cols):
    """Loss and gradient, whose logits are read twice where a copy reads them once."""
    rows = scaled((1 << 27) // cols, 5)
    x, target = m.normal("bf16", rows, cols), m.integers(cols, rows)
    args = dict(logits_ptr=x, target_ptr=target, loss_ptr=m.empty("f32", rows),
                grad_ptr=m.empty("bf16", rows, cols), n_classes=cols, ignore_index=-100)

    def reference(xp, get, lo, hi):
        x = get("logits_ptr", lo, hi)
        e = xp.exp(x - xp.amax(x, axis=1, keepdims=True))
        e = e / xp.sum(e, axis=1, keepdims=True)
        columns = xp.cumsum(xp.ones_like(x), 1) - 1
        return e - (columns == get("target_ptr", lo, hi)[:, None]) * 1.0
    shapes = [(dict(BLOCK=b), w, 3) for b, w in ((1024, 2), (1024, 4), (2048, 4), (4096, 4),
                                                 (4096, 8), (8192, 8), (8192, 16), (16384, 16))
              if b < 2 * cols]
    return Case("cross_entropy.py", None, args, "grad_ptr", lambda c: (rows,), shapes, reference,
                5e-3, moved=4 * rows * cols)


for make in (softmax, layer_norm, rms_norm, layer_norm_backward, rms_norm_backward,
             cross_entropy):
    for cols in (1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 5003):
        if make is rms_norm_backward and cols > 65536:
            continue  # no cluster's registers hold the sums
        quick = cols == 4096 or (make is softmax and cols in (1024, 5003))
        case(f"{make.__name__} {cols}", quick)(lambda m, make=make, cols=cols: make(m, cols))


products.add_cases(case, Case, scaled)
QUICK.add("bf16 NN 4096x4096x4096")


def attention_peers(m, q, k, v, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention
    q, k, v = q[None], k[None], v[None]

    def run(backend):
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)
    return {"cuDNN": lambda: run(SDPBackend.CUDNN_ATTENTION),
            "flash": lambda: run(SDPBackend.FLASH_ATTENTION)}


def attention(m, causal):
    heads, n, dim = scaled(64, 2), scaled(4096, 64), 128
    q, k, v = (m.normal("bf16", heads, n, dim) for _ in range(3))
    scale = dim**-0.5
    args = dict(q_ptr=q, k_ptr=k, v_ptr=v, out_ptr=m.empty("bf16", heads, n, dim), seq_len=n,
                scale=scale)
    shapes = [(dict(HEAD_DIM=dim, BLOCK_M=bm, BLOCK_N=bn, CAUSAL=causal), w, s)
              for bm, bn, w, s in [(128, 64, 8, 3), (128, 64, 4, 3), (128, 128, 8, 3),
                                   (64, 64, 4, 3), (128, 64, 8, 2),
                                   (128, 64, 4, 2), (128, 32, 4, 2)]]

    def reference(xp, get, lo, hi):
        heads = []
        for h in range(lo, hi):
            scores = get("q_ptr", h, h + 1)[0] @ get("k_ptr", h, h + 1)[0].T * scale
            if causal:
                scores = scores + xp.triu(xp.full_like(scores, -1e9), 1)
            p = xp.exp(scores - xp.amax(scores, axis=1, keepdims=True))
            heads.append(p / xp.sum(p, axis=1, keepdims=True) @ get("v_ptr", h, h + 1)[0])
        return xp.stack(heads)
    peers = attention_peers(m, q, k, v, causal) if m.torch else {}
    return Case("attention.py", "attention", args, "out_ptr",
                lambda c: (-(-n // c["BLOCK_M"]), heads), shapes, reference, 1e-2,
                flops=4 * heads * n * n * dim // (2 if causal else 1), peers=peers)


case("attention 4k", True)(lambda m: attention(m, False))
case("attention 4k causal", True)(lambda m: attention(m, True))


# ---- sides: functions that start one shape of a kernel ----

def first_line(problem):
    lines = [line for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0][:200]}" if lines else type(problem).__name__


class NereidSide:
    name = "nereid"

    def __init__(self, memory, case):
        self.memory, self.case = memory, case
        self.args = {name: value if isinstance(value, (int, float)) else memory.pointer(value)
                     for name, value in case.args.items()}

    def prepare(self, shape):
        constants, warps, stages = shape
        device = self.memory.device
        start = time.perf_counter()
        kernel = device.compile(self.case.file, self.case.kernel, self.args, constants, warps,
                                stages)
        launch = kernel.launch(self.case.grid(constants), self.args)
        stream = self.memory.stream
        info = {**kernel.resources(), "load_ms": round(1e3 * (time.perf_counter() - start), 1)}
        return (lambda: launch.run(stream)), info


class TritonSide:
    name = "triton"

    def __init__(self, memory, case):
        self.case = case
        spec = importlib.util.spec_from_file_location(case.file.stem, case.file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.kernel = getattr(module, case.kernel or case.file.stem)

    def prepare(self, shape):
        constants, warps, stages = shape
        launcher, start = self.kernel[self.case.grid(constants)], time.perf_counter()
        options = dict(self.case.args, **constants, num_warps=warps, num_stages=stages)
        compiled = launcher(**options)
        info = {"load_ms": round(1e3 * (time.perf_counter() - start), 1)}
        for ours, theirs in dict(registers="n_regs", spill_bytes="n_spills").items():
            info[ours] = getattr(compiled, theirs, None)
        return (lambda: launcher(**options)), info


def best_shape(side, case, timer):
    """The fastest shape: (function, facts), or (None, facts) if none of them runs."""
    best, facts = None, dict(failures=[], tried=[])
    for shape in case.shapes:
        label = shape_label(shape)
        try:
            run, info = side.prepare(shape)
            us, = timer.medians([run], 5, warm_up=2)
        except Exception as problem:
            if getattr(problem, "code", 0) == binding.LOST or "CUDA error" in str(problem):
                raise
            facts["failures"].append(f"{label}: {first_line(problem)}")
            continue
        facts["tried"].append([label, round(us, 2)])
        if best is None or us < best[0]:
            best = us, run, dict(info, shape=label)
    if best is None:
        return None, facts
    return best[1], {**facts, **best[2]}


def shape_label(shape):
    constants, warps, stages = shape
    blocks = "x".join(str(v) for k, v in constants.items() if k.startswith("BLOCK"))
    return f"{blocks} w{warps} s{stages}"


def error_of(memory, case, run):
    """|out - reference| / |reference| of a run over a poisoned output; NaN where any is left."""
    out = case.args[case.output]
    memory.device.fill(memory.pointer(out).address, 0xFF, memory.nbytes(out), memory.stream)
    run()
    binding.lib.nereid_stream_sync(memory.stream)
    rows = lambda name, lo=0, hi=None: memory.rows(case.args[name], lo, hi)
    difference = norm = 0.0
    for lo, hi in memory.chunks(out):
        expected = case.reference(memory.xp, rows, lo, hi)
        difference += float(((rows(case.output, lo, hi) - expected) ** 2).sum())
        norm += float((expected**2).sum())
    return math.sqrt(difference / norm)


# ---- one case ----

def copy_of(memory, case):
    """A copy that moves as many bytes as the case."""
    if not case.moved:
        return None
    to, source = (memory.empty("bf16", case.moved // 4) for _ in range(2))
    return memory.copier(to, source)


def measure(name, memory, timer, with_triton, runs):
    case = CASES[name](memory)
    sides, functions, result = [NereidSide], {}, dict(case=name)
    if with_triton:
        sides.append(TritonSide)
    for make in sides:
        try:
            run, facts = best_shape(make(memory, case), case, timer)
        except Exception as problem:
            if make is NereidSide:
                raise
            run, facts = None, dict(failures=[first_line(problem)])
        result[make.name] = facts
        if run:
            functions[make.name] = run
            facts["error"] = error_of(memory, case, run)
            facts["right"] = facts["error"] <= case.tol  # False for NaN
    copy = copy_of(memory, case)
    if copy:
        functions["copy"] = copy
    for peer, function in case.peers.items():
        try:
            function()
            functions[peer] = function
        except Exception as problem:
            result[peer] = dict(failures=[first_line(problem)])
    for side, us in zip(functions, timer.medians(list(functions.values()), runs)):
        facts = result.setdefault(side, {})
        facts["us"] = round(us, 2)
        if case.flops:
            facts["tflops"] = round(case.flops / us * 1e-6, 1)
        else:
            facts["gbps"] = round(case.moved / us * 1e-3, 1)
    return result


def work(options):
    """The worker: measures the named cases and prints a line `@ JSON` for each."""
    torch = triton = None
    notes = []
    device = binding.Device(options.device)
    if options.device.startswith("cuda"):
        torch, note = importable("torch")
        triton, more = importable("triton") if torch else (None, "Triton needs PyTorch")
        notes = [n for n in (note, more) if n]
        if torch and not torch.cuda.is_available():
            torch, triton = None, None
            notes.append("PyTorch sees no GPU")
    if torch:
        torch.backends.cuda.matmul.allow_tf32 = True
    say(dict(device=device.description, target=device.target, notes=notes,
             torch=torch and torch.__version__, triton=triton and triton.__version__,
             nereid=binding.lib.nereid_build_id().decode()))
    memory = TorchMemory(device, torch) if torch else PlainMemory(device)
    if options.part is not None:
        return compile_part(options, memory, bool(triton))
    timer = binding.Timer(device, memory.stream)
    for name in options.names:
        try:
            result = measure(name, memory, timer, bool(triton), options.runs)
        except Exception as problem:
            say(dict(case=name, failed=first_line(problem)))
            if getattr(problem, "code", 0) == binding.LOST or "CUDA error" in str(problem):
                return 1
            if torch and isinstance(problem, torch.OutOfMemoryError):
                return 1
            continue
        say(result)
        memory.free()
    return 0


def compile_part(options, memory, with_triton):
    """Fills the compilers' caches: part `--part` of `--warm` of each case's shapes."""
    for name in options.names:
        try:
            case = CASES[name](memory)
        except Exception:
            continue  # the measurement tells
        for make in [NereidSide] + [TritonSide] * with_triton:
            side = make(memory, case)
            for shape in case.shapes[options.part::options.warm]:
                try:
                    side.prepare(shape)
                except Exception:
                    pass
        binding.lib.nereid_stream_sync(memory.stream)
        memory.free()
    return 0


def compile_ahead(options, names):
    command = [sys.executable, __file__, "--worker", "--device", options.device, "--warm",
               str(options.warm), *["--trial"] * options.trial, *names]
    parts = [subprocess.Popen([*command, "--part", str(i)], stdout=subprocess.DEVNULL)
             for i in range(options.warm)]
    for part in parts:
        part.wait()


def say(record):
    print("@ " + json.dumps(record), flush=True)


def importable(name):
    try:
        return __import__(name), None
    except ImportError as problem:
        return None, f"{name} is not installed ({problem})"
    except Exception as problem:
        return None, f"{name} can't be imported: {first_line(problem)}"


# ---- all cases ----

def run_worker(options, names, limit):
    """Runs a worker over the cases.  Yields its records; a record `failed` ends a worker that died
    or took longer than `limit` seconds for one case."""
    flags = ["--quick"] * options.quick + ["--trial"] * options.trial
    command = [sys.executable, __file__, "--worker", "--device", options.device, "--runs",
               str(options.runs), *flags, *names]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1)
    why = "the process ended"
    try:
        while True:
            if not select.select([worker.stdout], [], [], limit)[0]:
                why = f"no result in {limit} s"
                break
            line = worker.stdout.readline()
            if not line:
                break
            if line.startswith("@ "):
                yield json.loads(line[2:])
            else:
                sys.stderr.write(line)
    finally:
        worker.kill()
        status = worker.wait()
    yield dict(ended=f"{why} (status {status})")


def measure_all(options, names):
    about, results, left = {}, [], list(names)
    end = time.time() + options.seconds
    while left and time.time() < end:
        died = None
        for record in run_worker(options, left, options.limit):
            if "case" in record:
                results.append(record)
                left.remove(record["case"])
                print(line_of(record), flush=True)
                if time.time() > end:
                    print(f"{len(left)} cases are left: the time is over")
                    return about, results
            elif "ended" in record:
                died = record["ended"]
            elif not about:
                about = record
                print(f"{record['device']}; PyTorch {record['torch']}, Triton {record['triton']}")
                for note in record["notes"]:
                    print(f"note: {note}")
        if left and not about:
            return dict(failed=died), results
        if left and (not results or "failed" not in results[-1]
                     or results[-1]["case"] != names[len(names) - len(left) - 1]):
            results.append(dict(case=left.pop(0), failed=died))
            print(line_of(results[-1]), flush=True)
    return about, results


COLUMNS = (f"{'case':28} {'nereid us':>10} {'GB/s|TF/s':>9} {'of copy':>8} {'triton us':>10} "
           f"{'to triton':>9} {'library':>14} {'regs':>4} {'spill':>5} {'error':>8}  shape")


def ratio(us, ours):
    return f"{us / ours:.3f}" if us and ours else "-"


def line_of(r):
    if "failed" in r:
        return f"{r['case']:28} failed: {r['failed']}"
    ours, triton = r["nereid"], r.get("triton", {})
    us = ours.get("us")
    if not us:
        return f"{r['case']:28} no shape runs: {(ours['failures'] or ['?'])[0]}"
    best = [(peer["us"], name) for name, peer in r.items()
            if isinstance(peer, dict) and name not in ("nereid", "triton", "copy") and "us" in peer]
    library = f"{min(best)[1]} {ratio(min(best)[0], us)}" if best else "-"
    theirs = f"{triton['us']:.1f}" if "us" in triton else "-"
    wrong = "" if ours["right"] else "  WRONG"
    wrong += "" if triton.get("right", True) else "  triton WRONG"
    return (f"{r['case']:28} {us:10.1f} {ours.get('tflops', ours.get('gbps')):9.1f} "
            f"{ratio(r.get('copy', {}).get('us'), us):>8} {theirs:>10} "
            f"{ratio(triton.get('us'), us):>9} {library:>14} {ours['registers']:4} "
            f"{ours['spill_bytes']:5} {ours['error']:8.1e}  {ours['shape']}"
            f"{' | ' + triton['shape'] if 'shape' in triton else ''}{wrong}")


def main():
    global TRIAL, ONLY_QUICK
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="about a minute")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--trial", action="store_true", help="tiny arrays, to test this program")
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--limit", type=int, default=120, help="seconds for one case")
    parser.add_argument("--json", default=os.path.join(os.environ.get("OUT", "."), "kernels.json"))
    parser.add_argument("--seconds", type=float, default=1e9, help="starts no case after that")
    parser.add_argument("--warm", type=int, default=0, metavar="N",
                        help="compiles all shapes first, by N processes")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    TRIAL, ONLY_QUICK = options.trial, options.quick
    if options.worker:
        return work(options)
    names = [name for name in CASES if (not options.quick or name in QUICK)
             and (not options.names or any(part in name for part in options.names))]
    if options.device.startswith("cuda") and not binding.lib.nereid_device_count(b"cuda"):
        print(f"skipped: {binding.lib.nereid_error_message().decode()}")
        return 0
    start = time.time()
    if options.warm:
        compile_ahead(options, names)
        print(f"{len(names)} cases compiled in {time.time() - start:.0f} s", flush=True)
    about, results = measure_all(options, names)
    about["date"] = datetime.date.today().isoformat()
    with open(options.json, "w") as out:
        json.dump(dict(about, results=results), out, indent=1)
    print(f"\n{about.get('device', about.get('failed'))}, {about['date']}; "
          f"{time.time() - start:.0f} s; facts in {options.json}")
    print("of copy, to triton, library: their time by ours; above 1 is faster than they are\n")
    print(COLUMNS)
    for r in results:
        print(line_of(r))
    return any("failed" in r or not r["nereid"].get("right") for r in results)


ONLY_QUICK = False
if __name__ == "__main__":
    sys.exit(main())
