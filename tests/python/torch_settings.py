#!/usr/bin/env python3
"""PyTorch's settings under torch.compile(backend="nereid"): TF32 and what it must leave alone,
deterministic algorithms, settings that change between calls; names of options and modes; and
layouts of results that PyTorch's settings or inputs ask for."""
import contextlib, os, pathlib, platform, sqlite3, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"  # programs of this process are looked at
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None

PLAN = 2  # the number of that stage

# name: (parameters, calls, the settings of TF32 under which it rounds)
PRODUCTS = {
    "mm": ('x: "f32[64, 64]"', ["mm.default(x, x)"], "products"),
    "complex mm": ('x: "f32[64, 64, 2]"', [
        "view_as_complex.default(x)", "mm.default(v0, v0)", "view_as_real.default(v1)"],
        "products"),
    "convolution": ('x: "f32[8, 64, 7, 7]", w: "f32[32, 64, 3, 3]"', [
        "convolution.default(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)"],
        "convolutions"),
    "convolution of elements": ('x: "f32[8, 64, 7, 7]", w: "f32[32, 64, 1, 1]"', [
        "convolution.default(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)"],
        "convolutions"),
    "fft": ('x: "f32[8, 60]"', ["fft_fft.default(x)", "view_as_real.default(v0)"], None),
    "irfft": ('x: "f32[8, 31, 2]"', ["view_as_complex.default(x)", "fft_irfft.default(v0)"], None),
    "sums of few rows": ('i: "i64[4096]", g: "f32[4096, 64]"', [
        "embedding_dense_backward.default(g, i, 10, -1, False)"], None),
}


def plan_of(parameters, calls, *, device="cuda", libraries="none", tf32=0, deterministic=False):
    from nereid import _nereid

    lines = [f"    v{i} = torch.ops.aten.{call}\n" for i, call in enumerate(calls)]
    text = f"def forward(self, {parameters}):\n{''.join(lines)}    return (v{len(calls) - 1},)\n"
    graph = _nereid.Graph("<graph>", text.encode(), None, [], [], [])
    return graph.emit({"device": device, "libraries": libraries, "tf32": tf32,
                       "deterministic": deterministic}, PLAN)


def check_tf32():
    for name, (parameters, calls, setting) in PRODUCTS.items():
        for tf32 in range(4):
            allowed = setting is not None and bool(tf32 & (1 if setting == "products" else 2))
            for libraries in ("none", "always"):
                plan = plan_of(parameters, calls, libraries=libraries, tf32=tf32)
                rounds = 'input_precision="tf32' in plan or "tf32 = 1" in plan
                tally.check(rounds == allowed, f"{name}, TF32 {tf32}, libraries {libraries}")


def check_rounded_operands():
    """Large products in TF32 read operands that a kernel has rounded, with the elements of a sum
    next to each other; others round them in registers."""
    for (m, k, n), before in (((1024, 1024, 1024), True), ((2048, 512, 2048), True),
                              ((64, 4096, 4096), False), ((1024, 1022, 1024), False)):
        for tf32 in range(4):
            plan = plan_of(f'x: "f32[{m}, {k}]", y: "f32[{k}, {n}]"', ["mm.default(x, y)"],
                           tf32=tf32)
            allowed = bool(tf32 & 1)
            precision = ("tf32" if before else "tf32_rounded") if allowed else "ieee"
            where = f"{m}x{k}x{n}, TF32 {tf32}"
            tally.check(f'input_precision="{precision}"' in plan, f"the precision of {where}")
            cuts = plan.count("& -8192")
            tally.check(cuts == (2 if before and allowed else 0), f"{cuts} roundings of {where}")
            kept = f"right = tl.load(in1_ptr + kb + n * {k}" in plan
            tally.check(kept == (before and allowed), f"the right operand's order, {where}")


SCATTERS = {
    "scatter_add": lambda x, i, s: x.scatter_add(0, i.view(-1, 1).expand(-1, 8), s),
    "scatter_reduce": lambda x, i, s: x.scatter_reduce(0, i.view(-1, 1).expand(-1, 8), s, "mean"),
    "index_add": lambda x, i, s: x.index_add(0, i, s),
    "index_put": lambda x, i, s: x.index_put((i,), s, True),
    "index_put of bf16": lambda x, i, s: x.bfloat16().index_put((i,), s.bfloat16(), True).float(),
    "gather's gradient": lambda x, i, s: torch.func.grad(
        lambda y: (y.gather(0, i.view(-1, 1).expand(-1, 8)) * s).sum())(x),
}


def segments_of(function, *inputs):
    """The compiled function's value, and the text of the kernels of all its segments."""
    from nereid import _nereid, torch_backend

    torch._dynamo.reset()
    before = len(torch_backend._programs)
    value = torch.compile(function, backend="nereid")(*inputs)
    segments = [s for p in torch_backend._programs[before:] for s in p.segments]
    options = [{**s.options, "device": "cuda"} for s in segments]
    graphs = [_nereid.Graph("<graph>", s.source.encode(), None, [], [], []) for s in segments]
    return value, "".join(g.emit(o, PLAN) for g, o in zip(graphs, options))


def check_deterministic():
    x, s = torch.randn(100, 8), torch.randn(500, 8)
    i = torch.randint(0, 100, (500,))
    for name, function in SCATTERS.items():
        want = function(x, i, s)
        for asked in (False, True):
            torch.use_deterministic_algorithms(asked)
            value, plan = segments_of(function, x, i, s)
            loose = 0.1 if "bf16" in name else 1e-4
            tally.check(torch.allclose(value, want, atol=loose), f"{name}, deterministic {asked}")
            counts = name == "scatter_reduce"  # of integers, whose sums have no order
            sums = plan.count("tl.atomic_add") - counts
            tally.check((sums == 0) == asked, f"{name}: {sums} atomics, deterministic {asked}")
    plan = segments_of(lambda x: x @ x.t(), torch.randn(64, 64))[1]
    torch.use_deterministic_algorithms(False)
    tally.check("cublas" not in plan, "no libraries where algorithms are deterministic")


def programs():
    from nereid import torch_backend

    return len(torch_backend._programs)


def check_changes():
    """A setting that changes compiles anew, one that changes back does not."""
    from nereid.torch_backend.base import flags

    original, flags._has_convolution = flags._has_convolution, lambda module: True
    torch._dynamo.reset()
    function, x = torch.compile(lambda x: x @ x, backend="nereid"), torch.randn(4, 4)
    matmul = torch.backends.cuda.matmul
    changes = {
        "nothing": (lambda: None, lambda: None),
        "products": (lambda: torch.set_float32_matmul_precision("high"),
                     lambda: torch.set_float32_matmul_precision("highest")),
        "convolutions": (lambda: setattr(torch.backends.cudnn, "allow_tf32", False),
                         lambda: setattr(torch.backends.cudnn, "allow_tf32", True)),
        "sums of bf16": (lambda: setattr(matmul, "allow_bf16_reduced_precision_reduction", False),
                         lambda: setattr(matmul, "allow_bf16_reduced_precision_reduction", True)),
        "sums of fp16": (lambda: setattr(matmul, "allow_fp16_reduced_precision_reduction", False),
                         lambda: setattr(matmul, "allow_fp16_reduced_precision_reduction", True)),
        "deterministic": (lambda: torch.use_deterministic_algorithms(True),
                          lambda: torch.use_deterministic_algorithms(False)),
    }
    torch.set_float32_matmul_precision("highest")  # which is another state than none before
    function(x)
    for name, (change, back) in changes.items():
        before = programs()
        change()
        function(x)
        between = programs()
        back()
        function(x)
        made = between - before, programs() - between
        tally.check(made == (int(name != "nothing"), 0), f"{name}: {made} graphs are compiled")
    flags._has_convolution = original


def check_options():
    cases = {
        "did you mean 'check_indices'?": {"options": {"check_index": True}},
        "did you mean 'max-autotune'?": {"mode": "max_autotune"},
        "options are mode, ": {"options": {"triton.cudagraphs": True}},
        "option 'verify' is True or False, not 1": {"options": {"verify": 1}},
    }
    for words, given in cases.items():
        torch._dynamo.reset()
        try:
            torch.compile(lambda x: x + 1, backend="nereid", **given)(torch.ones(1))
            tally.check(False, f"{given}: no error")
        except Exception as error:
            tally.check(words in str(error), f"{given}: {error}")


def check_strides():
    """Results are in memory as PyTorch has them."""
    last = torch.randn(2, 8, 6, 6).contiguous(memory_format=torch.channels_last)
    moved, wide = torch.randn(5, 4, 3).permute(2, 0, 1), torch.randn(4, 1).expand(4, 6)
    conv = torch.nn.Conv2d(8, 4, 3).to(memory_format=torch.channels_last)
    cases = {
        "channels last": (lambda x: x.relu(), last),
        "one channel": (lambda x: x.bfloat16(), last[:, :1]),
        "a convolution": (conv, torch.randn(2, 8, 6, 6)),
        "a tensor twice": (lambda x: torch.cat([x, x], 1), last),
        "two layouts": (lambda x: x.contiguous() + x, last),
        "an asked layout": (lambda x: x.to(memory_format=torch.channels_last) * 2,
                            last.contiguous()),
        "permuted": (lambda x: x + 1, moved),
        "a contiguous one": (lambda x: (x * 2).contiguous(), moved),
        "a clone": (lambda x: x.clone(), moved),
        "an expanded input": (lambda x: x.relu(), wide),
        "an expanded result": (lambda x: (x + 1)[:, :1].expand(4, 9), wide),
        "a slice": (lambda x: x[::2, 1:3] * 2, torch.randn(8, 8)),
    }
    for name, (function, x) in cases.items():
        for dynamic in (False, True):
            torch._dynamo.reset()
            with torch.no_grad():
                want = function(x)
                got = torch.compile(function, backend="nereid", dynamic=dynamic)(x)
            tally.check(got.stride() == want.stride() and torch.allclose(got, want, atol=1e-4),
                        f"{name}: strides {got.stride()}, not {want.stride()}")


def check_unusual_tensors():
    """PyTorch runs, or refuses, what Nereid has no form for."""
    from torch.testing._internal.two_tensor import TwoTensor

    x = torch.randn(4, 4)
    cases = {
        "a subclass": (lambda x: x * 2 + 1, TwoTensor(x, x + 1)),
        "a sparse tensor": (lambda s: (s * 2).to_dense(), x.relu().to_sparse()),
        "a quantized tensor": (lambda q: q.dequantize() * 2,
                               torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)),
        "a nested tensor": (lambda n: n * 2, torch.nested.nested_tensor(
            [x, x[:2]], layout=torch.jagged)),
    }
    for name, (function, value) in cases.items():
        torch._dynamo.reset()
        want, got = function(value), torch.compile(function, backend="nereid")(value)
        values = (got.values(), want.values()) if got.is_nested else (got, want)
        same = type(got) is type(want) and bool(torch.eq(*values).all())
        tally.check(same, f"{name}: {got}, not {want}")
    for name, other, words in (("two devices", torch.randn(4, 4, device="meta"), "device"),
                               ("no memory", torch.randn(1).expand(1 << 26, 1 << 26), "memory")):
        torch._dynamo.reset()
        try:
            torch.compile(lambda x, y: x[:1, :1] + y, backend="nereid")(x, other)
            tally.check(False, f"{name}: no error")
        except Exception as error:
            tally.check(words in str(error), f"{name}: {error}")


WRONG = {"mode": ("fast", 3, None), "dump": (3, "/dev/null/folder"),
         "libraries": ("mkl", None, True),
         "by_pytorch": ("aten.mm.default", ["aten.mm"], ["aten.no_such_thing.default"], [3]),
         "check_indices": (0, None, "no"), "cache_autograd": (1, "yes"),
         "fallback_random": (1, None), "verify": ("all", None), "freezing": (1, "yes"),
         "loss_bytes": (-1, True, 0.5, "1 GB", None), "memory_budget": (-0.1, 1.5, True, "half")}
NEAREST = {"libraries": ("Always", "'always'"),
           "by_pytorch": (["aten.matmull.default"], "'aten.matmul"),
           "mode": ("reduce_overhead", "'reduce-overhead'"), "verfy": (True, "'verify'")}


def check_option_values():
    """Each option has values that mean nothing, which are errors that name it."""
    import dataclasses
    from nereid.torch_backend.base.settings import Settings, settings_of

    names = {field.name for field in dataclasses.fields(Settings)}
    tally.check(names == set(WRONG), f"options without a wrong value: {names ^ set(WRONG)}")
    cases = [(name, value, name) for name, values in WRONG.items() for value in values]
    cases += [(name, value, near) for name, (value, near) in NEAREST.items()]
    for name, value, words in cases:
        try:
            found = settings_of(None, {name: value})
            tally.check(False, f"{name}={value!r} is taken: {found}")
        except ValueError as error:
            tally.check(words in str(error), f"{name}={value!r}: {error}")
    torch._dynamo.reset()
    try:
        torch.compile(torch.sin, backend="nereid", options={"libraries": "mkl"})(torch.ones(2))
        tally.check(False, "a wrong option is taken by torch.compile")
    except Exception as error:
        tally.check("'libraries' is one of" in str(error), f"a wrong option: {error}")
    right = {"by_pytorch": [torch.ops.aten.mm.default, "while_loop", "aten.add.Tensor"]}
    tally.check(len(settings_of(None, right).by_pytorch) == 3, "names of operators")


# Another value of each option, and other settings of PyTorch's that change code.
OTHERS = {"mode": "eager", "libraries": "none", "by_pytorch": ("aten.mm.default",), "dump": "/x",
          "cache_autograd": True, "check_indices": False, "fallback_random": True, "verify": True,
          "loss_bytes": 1 << 20, "memory_budget": 0.5, "freezing": True}
CHANGES = {"tf32": (torch.set_float32_matmul_precision, "high", "highest"),
           "deterministic": (torch.use_deterministic_algorithms, True, False)} if torch else {}


def check_keys():
    """Each option changes the key of PyTorch's cache, and so does all that executables are compiled
    with.  Names that executables don't know are refused."""
    import dataclasses
    from nereid import _nereid
    from nereid.torch_backend.base.settings import Settings
    from nereid.torch_backend.cache.stored import cache_of
    from nereid.torch_backend.segments.segment import graph_options

    def tag(settings=Settings()):
        with cache_of(settings, []):
            return torch.compiler.config.cache_key_tag

    plain = tag()
    for field in dataclasses.fields(Settings):
        other = dataclasses.replace(Settings(), **{field.name: OTHERS[field.name]})
        tally.check(tag(other) != plain, f"option {field.name} is not in the key")
        tally.check(bool(field.metadata["meaning"]), f"option {field.name} has no meaning")
    for name, (change, value, back) in CHANGES.items():
        before = graph_options(Settings())[name]
        change(value)
        changed = graph_options(Settings())[name] != before and tag() != plain
        change(back)
        tally.check(changed, f"PyTorch's setting for {name} is not in the key")
    unknown = set(graph_options(Settings())) - set(_nereid.graph_options())
    tally.check(not unknown, f"no options of executables: {unknown}")
    text = (b"class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n"
            b"        return (x,)\n")
    graph = _nereid.Graph("<graph>", text, None, [], [], [])
    for options in ({"mod": "eager"}, {"on_pass": None}, {"tf32": "high"}, {"mode": 3}):
        try:
            graph.emit(options, 0)
            tally.check(False, f"{options} is taken")
        except TypeError as error:
            tally.check(bool(str(error)), f"{options}: {error}")


def check_default_backend():
    """Where PyTorch has a default, calls that name no backend take it."""
    if not hasattr(torch.compiler, "set_default_backend"):
        return
    torch._dynamo.reset()
    before = programs()
    torch.compiler.set_default_backend("nereid")
    try:
        torch.compile(lambda x: x.sin() + 1)(torch.randn(4))
    finally:
        torch.compiler.set_default_backend(None)
    tally.check(programs() == before + 1, "the default backend is another one")


# ---- the order of draws ----


def draws():
    """Of an input, of nothing, and of nothing but many."""
    functional = torch.nn.functional
    return [torch.rand_like, lambda x: torch.rand(3), lambda x: torch.randperm(6),
            lambda x: functional.dropout(x + 1, 0.5), lambda x: torch.randint(0, 9, (4,)),
            lambda x: torch.randperm(5000), lambda x: torch.bernoulli(x * 0 + 0.5),
            lambda x: x.clone().normal_(), lambda x: torch.poisson(x.abs() + 1),
            lambda x: torch.randn(70, 70), lambda x: torch.multinomial(x.abs() + 1, 2)]


def check_inductor_settings():
    """The table of decompositions is made once, whatever Inductor's settings are then."""
    from nereid.torch_backend.decompositions.table import decompositions
    from torch._inductor import config

    usual = decompositions()
    for name in ("fallback_random", "emulate_precision_casts"):
        if hasattr(config, name):
            decompositions.cache_clear()
            with config.patch({name: True}):
                tally.check(decompositions().keys() == usual.keys(), f"decompositions, {name}")


def check_order_of_draws():
    """With fallback_random programs draw what eager ones draw."""
    import random

    chooser = random.Random(7)
    for i in range(12):
        chosen = [chooser.choice(draws()) for _ in range(chooser.randint(2, 5))]

        def function(x):
            values, y = [], x
            for j, draw in enumerate(chosen):
                values.append(draw(y if j % 2 else x))
                y = (y + values[-1].float().mean()).sin()
            return values

        x = torch.randn(3, 4, requires_grad=i % 3 == 0)
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="nereid", options={"fallback_random": True})
        torch.manual_seed(i)
        want = function(x)
        torch.manual_seed(i)
        got = compiled(x)
        equal = [torch.allclose(a, b, atol=1e-5) for a, b in zip(got, want, strict=True)]
        tally.check(all(equal), f"program {i} of draws: {equal}")


def check_default_order_of_draws():
    """Seeds of ours are drawn where the program draws, between draws by PyTorch."""
    def seed():
        torch.ops.prims.inductor_seeds.default(1, torch.device("cpu"))

    x = torch.full((3, 4), 5.0)
    orders = {"p": [torch.poisson], "rp": [torch.rand_like, torch.poisson],
              "big": [lambda x: torch.randperm(5000), torch.rand_like, torch.poisson],
              "prpr": [torch.poisson, torch.rand_like, torch.poisson, torch.rand_like],
              "rrp": [torch.rand_like, torch.randn_like, torch.poisson]}
    for name, order in orders.items():
        torch._dynamo.reset()
        compiled = torch.compile(lambda x: [f(x) for f in order], backend="nereid")
        torch.manual_seed(3)
        got = compiled(x)
        torch.manual_seed(3)
        if name == "rrp":
            torch.ops.prims.inductor_seeds.default(2, torch.device("cpu"))
        for f, value in zip(order, got):
            ours = f in (torch.rand_like, torch.randn_like)
            if not ours:
                tally.check(torch.equal(f(x), value), f"draws by PyTorch in {name}")
            elif name != "rrp":
                seed()


THREADS = """
import os, sys, torch, nereid
class Model(torch.nn.Module):
    def forward(self, x): return x.cos().exp().sum(1)
torch.set_num_threads(1)
f = torch.compile(lambda x: x.sin().exp().sum(1), backend="nereid")
x = torch.randn(4000, 1000)
model = nereid.load(torch.export.export(Model(), (x,)), device="cpu")
count = lambda: len(os.listdir("/proc/self/task"))
f(x)
before = count()
f(x)
one = count() - before
if sys.argv[1] == "call":
    torch.set_num_threads(2)
    f(x)
else:
    model(x)
print(one, count() - before)
"""


def check_threads():
    """Calls have no more threads than PyTorch's operators, unless NEREID_THREADS tells; a model
    that uses the device after them has as many as the device."""
    for then, own, expected in (("call", "", "0 1"), ("call", "4", "0 0"), ("model", "", "0 1")):
        env = {**os.environ, "NEREID_THREADS": own, "OMP_NUM_THREADS": "2",
               "PYTHONPATH": str(BUILD / "python")}
        ran = subprocess.run([sys.executable, "-c", THREADS, then], env=env, capture_output=True,
                             text=True)
        tally.check(ran.stdout.strip() == expected,
                    f"threads of a {then} with NEREID_THREADS={own}: {ran.stdout} "
                    f"{ran.stderr[-500:]}")


def check_cpu():
    """A CPU that this machine can't be is told of, and PyTorch runs the graph."""
    code = ("import torch\n"
            "x = torch.arange(3.)\n"
            "y = torch.compile(lambda x: x * 2, backend='nereid')(x)\n"
            "print(y.tolist())")
    env = {**os.environ, "NEREID_CPU": "cpu:3", "NEREID_VERIFY": "",
           "PYTHONPATH": str(BUILD / "python")}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    tally.check(ran.stdout.strip() == "[0.0, 2.0, 4.0]" and "NEREID_CPU=cpu:3" in ran.stderr,
                f"a CPU that there isn't: {ran.stdout} {ran.stderr[-500:]}")


def check_code_of_cpus():
    """Code of a narrower CPU is not found for this one."""
    code = ("import torch\n"
            "torch.compile(lambda x: x.sum(1), backend='nereid')(torch.ones(3, 64))")
    with tempfile.TemporaryDirectory() as folder:
        kept = []
        for own in {"NEREID_CPU": "cpu:4"}, {}:
            env = {**os.environ, "NEREID_CACHE_DIR": folder, "PYTHONPATH": str(BUILD / "python")}
            env.pop("NEREID_CPU", None)
            env.update(own)
            subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)
            (file,) = pathlib.Path(folder).glob("code-*.db")
            with contextlib.closing(sqlite3.connect(file)) as cache:
                kept += cache.execute("select count(*) from code where kind = 'kernel'").fetchone()
    same = platform.machine() != "x86_64" or torch.backends.cpu.get_cpu_capability() == "DEFAULT"
    tally.check(kept == [1, 1 if same else 2], f"kernels of two CPUs: {kept}")


def check_lstm():
    """Where TorchDynamo traces LSTMs, their weights alone may have gradients."""
    given = {"two layers, both directions": dict(num_layers=2, bidirectional=True),
             "projections": dict(proj_size=3)}
    for name, more in given.items():
        torch._dynamo.reset()
        model, x, found = torch.nn.LSTM(4, 5, batch_first=True, **more), torch.randn(2, 3, 4), []
        with torch._dynamo.config.patch(allow_rnn=True):
            for call in model, torch.compile(model, backend="nereid"):
                model.zero_grad()
                y, states = call(x)
                (y.sin().sum() + sum(s.cos().sum() for s in states)).backward()
                found.append([y, *states, *(p.grad.clone() for p in model.parameters())])
        same = all(a.shape == b.shape and torch.allclose(a, b, 1e-4, 1e-5)
                   for a, b in zip(*found, strict=True))
        tally.check(same, f"LSTM: {name}")


def main():
    torch.manual_seed(0)
    check_option_values()
    check_keys()
    check_default_backend()
    check_inductor_settings()
    check_order_of_draws()
    check_default_order_of_draws()
    check_unusual_tensors()
    check_strides()
    check_tf32()
    check_rounded_operands()
    check_deterministic()
    check_changes()
    check_options()
    check_threads()
    check_cpu()
    check_code_of_cpus()
    check_lstm()


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        from nereid import torch_backend

        torch_backend._programs.keep()
        main()
    sys.exit(tally.report())
