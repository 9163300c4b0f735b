#!/usr/bin/env python3
"""Products of matrices by libraries (support/fake_libraries.c), against NumPy: on a CPU by its BLAS
and oneDNN, and on a fake GPU, which runs no kernels, by its cuBLASLt, alone and in recordings.

    libraries.py [--count N] [SEED...]    only these products, printed
"""
import argparse, os, pathlib, random, re, shlex, shutil, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from quick_cc import quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
NEREID = os.environ.get("NEREID", str(BUILD / "nereid"))
SONAMES = {"blas": "libopenblas.so.0", "dnnl": "libdnnl.so.3", "cublas": "libcublasLt.so.13",
           "cudnn": "libcudnn.so.9"}


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


class Product:
    """A model of one product: how its operands lie, and what follows, are random."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.lines, self.inputs, self.symbols = [], {}, {}
        self.m, self.n, self.k = (rng.choice([1, 2, 3, 8, 17, 32]) for _ in range(3))
        self.batch = rng.choice([0, 0, 1, 3])
        self.dynamic = rng.random() < 0.3
        rows = "s0" if self.dynamic else self.m
        if self.batch:
            a = self.operand("a", (self.batch, self.m, self.k), (self.batch, rows, self.k))
            b = self.operand("b", (self.batch, self.k, self.n))
            value = a @ b
            self.add("y", "bmm.default(a, b)")
        elif rng.random() < 0.5:
            self.dynamic = False
            x = self.operand("a", (2, self.m, self.k), plain=True)
            w = self.operand("b", (self.n, self.k), plain=True)
            value = x @ w.T
            bias = rng.random() < 0.5
            if bias:
                value = value + self.operand("c", (self.n,))
            self.add("y", "linear.default(a, b" + (", c)" if bias else ")"))
        else:
            a = self.operand("a", (self.m, self.k), (rows, self.k))
            b = self.operand("b", (self.k, self.n))
            value = a @ b
            if rng.random() < 0.5:
                bias = self.operand("c", (self.n,))
                self.add("y", "addmm.default(c, a, b)")
                value = value + bias
            else:
                self.add("y", "mm.default(a, b)")
        follow = rng.choice(["", "", "relu.default(y)", "gelu.default(y, approximate = 'tanh')"])
        if follow:
            self.add("z", follow)
            value = np.maximum(value, 0) if follow[0] == "r" else gelu(value)
        self.value = value

    def operand(self, name, shape, named=None, plain=False):
        """Its elements are in the order of another shape, of which `name` is a view."""
        x = self.numpy.integers(-4, 5, shape).astype(np.float32) / 2
        named = list(named or shape)
        kind = "plain" if plain else self.rng.choice(["plain", "transposed", "slice", "columns"])
        stored, view = x, None
        if kind == "transposed" and len(shape) > 1:
            stored, named[-1], named[-2] = np.swapaxes(x, -1, -2), named[-2], named[-1]
            view = f"transpose.int({name}0, -1, -2)"
        elif kind == "slice" and len(shape) > 1 and named[-2] != "s0":
            stored = np.concatenate([x, x, x], -2)
            named[-2] *= 3
            view = f"slice.Tensor({name}0, -2, {shape[-2]}, {2 * shape[-2]})"
        elif kind == "columns" and len(shape) > 1:
            stored = np.concatenate([-x, x], -1)
            named[-1] *= 2
            view = f"slice.Tensor({name}0, -1, {shape[-1]}, {2 * shape[-1]})"
        self.inputs[name + "0" * bool(view)] = (np.ascontiguousarray(stored), named)
        if view:
            self.add(name, view)
        return x.astype(np.float64)

    def add(self, name, call):
        self.lines.append(f"{name} = torch.ops.aten.{call}")

    def text(self, dtype):
        params = ", ".join(f'{name}: "{dtype}[{", ".join(map(str, shape))}]"'
                           for name, (_, shape) in self.inputs.items())
        body = "".join(f"    {line}\n" for line in self.lines)
        returned = self.lines[-1].split()[0]
        return f"def forward(self, {params}):\n{body}    return ({returned},)\n"

    def write(self, folder, dtype="f32"):
        model = folder / "model.py"
        model.write_text(self.text(dtype))
        paths = []
        for i, (x, _) in enumerate(self.inputs.values()):
            paths.append(folder / f"in{i}.npy")
            np.save(paths[-1], x.astype(np.float16 if dtype == "f16" else np.float32))
        return [model, *paths]


class Convolution:
    """A model of one convolution of two axes, or of a gradient of one, with the channels last."""

    def __init__(self, seed):
        rng = random.Random(seed)
        numbers = np.random.default_rng(seed)
        draw = lambda *shape: numbers.integers(-3, 4, shape).astype(np.float32) / 2
        groups = rng.choice([1, 1, 2, 4])
        images, features = rng.choice([1, 2, 3]), 4
        channels = 4 if groups == 4 else 2 * rng.choice([2, 4])
        size = [rng.randint(5, 8), rng.randint(5, 8)]
        window = rng.choice([[3, 3], [1, 3], [2, 2]])
        stride, padding, dilation = ([rng.choice(c) for _ in range(2)]
                                     for c in ([1, 2], [0, 1], [1, 1, 2]))
        if rng.random() < 0.2:
            window, stride = [1, 1], [2, rng.choice([1, 2])]
        out = [(size[i] + 2 * padding[i] - dilation[i] * (window[i] - 1) - 1) // stride[i] + 1
               for i in range(2)]
        x, w = draw(images, *size, channels), draw(features, *window, channels // groups)
        grad = draw(images, *out, features)
        self.work = rng.choice(["Forward", "BackwardData", "BackwardFilter"])
        if groups == features and self.work == "BackwardFilter":  # kernels compute it
            self.work = "BackwardData"
        dynamic = rng.random() < 0.3
        named = lambda a: ["s0" if dynamic and a is not w else a.shape[0], *a.shape[1:]]
        given = {"Forward": dict(x=x, w=w), "BackwardData": dict(x=x, w=w, g=grad),
                 "BackwardFilter": dict(x=x, w=w, g=grad)}[self.work]
        self.inputs = {name + "0": (a, named(a)) for name, a in given.items()}
        self.lines = [f"{name} = torch.ops.aten.permute.default({name}0, [0, 3, 1, 2])"
                      for name in given]
        options = f"{stride}, {padding}, {dilation}, False, [0, 0], {groups}"
        alone = self.work == "Forward" and not dynamic and images == 1 and rng.random() < 0.5
        if alone:
            self.lines.append("x1 = torch.ops.aten.squeeze.dim(x, 0)")
            self.lines.append(f"y1 = torch.ops.aten.convolution.default(x1, w, None, {options})")
            self.lines.append("y = torch.ops.aten.unsqueeze.default(y1, 0)")
        elif self.work == "Forward":
            self.lines.append(f"y = torch.ops.aten.convolution.default(x, w, None, {options})")
        else:
            mask = [self.work == "BackwardData", self.work == "BackwardFilter", False]
            self.lines += [f"t = torch.ops.aten.convolution_backward.default(g, x, w, [0], "
                           f"{options}, {mask})", f"y = t[{int(mask[1])}]"]
        self.lines.append("z = torch.ops.aten.permute.default(y, [0, 2, 3, 1])")
        self.value = {"Forward": np.zeros(grad.shape), "BackwardData": np.zeros(x.shape),
                      "BackwardFilter": np.zeros(w.shape)}[self.work]
        self.add_products(x, w, grad, out, stride, padding, dilation, groups)

    def add_products(self, x, w, grad, out, stride, padding, dilation, groups):
        features, channels = w.shape[0] // groups, w.shape[3]
        for group, r, s, p, q in np.ndindex(groups, *w.shape[1:3], *out):
            h = p * stride[0] + r * dilation[0] - padding[0]
            v = q * stride[1] + s * dilation[1] - padding[1]
            if not (0 <= h < x.shape[1] and 0 <= v < x.shape[2]):
                continue
            k = slice(group * features, (group + 1) * features)
            c = slice(group * channels, (group + 1) * channels)
            if self.work == "Forward":
                self.value[:, p, q, k] += x[:, h, v, c] @ w[k, r, s].T
            elif self.work == "BackwardData":
                self.value[:, h, v, c] += grad[:, p, q, k] @ w[k, r, s]
            else:
                self.value[k, r, s] += grad[:, p, q, k].T @ x[:, h, v, c]

    text, write = Product.text, Product.write


class Machine:
    """Folders with a library each, and a fake GPU."""

    def __init__(self, folder):
        self.folder = folder
        self.log = folder / "log"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        support = ROOT / "tests/support"
        build = lambda to, name, *options: subprocess.run(
            [*compiler, "-shared", "-fPIC", "-O1", "-o", to, support / name, *options, "-lm"],
            check=True)
        build(folder / "fake.so", "fake_cuda.c")
        build(folder / "all.so", "fake_libraries.c")
        build(folder / "other.so", "fake_libraries.c", "-DWITHOUT_BLAS")
        build(folder / "torch.so", "fake_libraries.c", "-DWITHOUT_BLAS",
              "-Wl,-soname,libtorch_cpu.so")
        for name, soname in SONAMES.items():
            (folder / name).mkdir()
            shutil.copy(folder / ("all.so" if name == "blas" else "other.so"),
                        folder / name / soname)
        assembler = folder / "ptxas"
        assembler.write_text('#!/bin/sh\n[ $# = 5 ] || exec echo release 1\ncp "$5" "$4"\n')
        assembler.chmod(0o755)
        self.env = dict(os.environ, NEREID_LIBCUDA=str(folder / "fake.so"),
                        NEREID_PTXAS=str(assembler), NEREID_PROGRAM=NEREID,
                        FAKE_LIBRARIES_LOG=str(self.log))

    def graph(self, *args, library="", **env):
        self.log.write_text("")
        path = str(self.folder / library) if library else ""
        env = {**self.env, "NEREID_LIBRARY_PATH": path, **env}
        return subprocess.run([NEREID, "graph", *map(str, args)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=env)

    def calls(self):
        return self.log.read_text().split("\n")[:-1]

    def run(self, files, *options, **how):
        done = self.graph(*files, *options, "--out-dir", self.folder / "out", **how)
        if done.returncode:
            return done.stderr
        return np.load(self.folder / "out/output_0.npy")


def agrees(got, wanted, tolerance=1e-5):
    if isinstance(got, str) or got.shape != wanted.shape:
        return False
    return np.allclose(got.astype(np.float64), wanted, rtol=tolerance, atol=tolerance)


def check_cpu(machine, product, seed, library, function):
    """A model calls the first library that could be there; a plan says which one.  PyTorch's is one
    that the process has."""
    files = product.write(machine.folder)
    if library != "blas":
        plan = machine.folder / "plan.txt"
        made = machine.graph(files[0], "--device", "cpu", "--libraries", "always", "--emit", "plan")
        plan.write_text(made.stdout.replace("blas.gemm", f"{library}.gemm"))
        files[0] = plan
    loaded = {"LD_PRELOAD": str(machine.folder / "torch.so")} if library == "torch" else {}
    got = machine.run(files, "--device", "cpu", "--libraries", "always", library=library, **loaded)
    calls = machine.calls()
    if loaded:
        lacks = machine.run(files, "--device", "cpu", "--libraries", "always")
        check("PyTorch's BLAS is not here" in str(lacks), f"without PyTorch: {lacks}")
    if loaded:
        first = machine.run(product.write(machine.folder), "--device", "cpu", "--libraries",
                            "always", **loaded)
        check(agrees(first, product.value) and machine.calls() == calls,
              f"the library that is here {seed}: {first} {machine.calls()}")
    check(agrees(got, product.value), f"cpu {library} {seed}: {got}\n{product.text('f32')}")
    count = max(product.batch, 1)
    check([c.split()[0] for c in calls] == [function] * count, f"cpu {library} {seed}: {calls}")


def check_gpu(machine, product, seed):
    """All of the model is one call: the fake GPU computes nothing else."""
    for dtype, mode in ("f32", "default"), ("f16", "reduce-overhead"):
        files = product.write(machine.folder, dtype)
        got = machine.run(files, "--device", "cuda", "--libraries", "always", "--mode", mode,
                          library="cublas")
        calls = machine.calls()
        close = agrees(got, product.value, 1e-5 if dtype == "f32" else 2e-2)
        check(close, f"cuda {dtype} {seed}: {got}\n{product.text(dtype)}")
        check(len(calls) == 1 and calls[0].startswith("cublasLtMatmul"),
              f"cuda {dtype} {seed}: {calls}")


def check_cast(machine, product, seed):
    """Sums of products of 16 bits go to f32 as they are, but for those with a bias of 16 bits."""
    product.add("f32", f"to.dtype({product.lines[-1].split()[0]}, torch.float32)")
    files = product.write(machine.folder, "f16")
    got = machine.run(files, "--device", "cuda", "--libraries", "always", library="cublas")
    calls = machine.calls()
    biased = any(name[0] == "c" for name in product.inputs)
    check(len(calls) == 1 and calls[0].startswith("cublasLtMatmul"), f"cast {seed}: {calls}")
    check(biased or agrees(got, product.value), f"cast {seed}: {got}\n{product.text('f16')}")


FLOAT8 = """def forward(self, a: "{a}[{m}, {k}]", w: "f8e4m3fn[{n}, {k}]",
                   s: "f32[{s}]", t: "f32[{t}]"):
    b = torch.ops.aten.permute.default(w, [1, 0])
    u = torch.ops.aten.permute.default(s, [1, 0])
    v = torch.ops.aten.permute.default(t, [1, 0])
    y = torch.ops.aten._scaled_mm.default(a, b, {u}, {v}, None, None, torch.float32, {fast})
    return (y,)
"""


def check_float8(machine):
    """Scales of the whole, of rows and of blocks are a part of the call."""
    m, n, k = 20, 256, 512
    forms = {"0 by 0": ("1, 1", "1, 1", "s", "t"), "3 by 3": (f"1, {m}", f"{n}, 1", "u", "v"),
             "4 by 5": (f"{k // 128}, {m}", f"{n // 128}, {k // 128}", "u", "v")}
    for modes, (s, t, u, v) in forms.items():
        for a, fast in ("f8e4m3fn", True), ("f8e5m2", False):
            model = machine.folder / "float8.py"
            model.write_text(FLOAT8.format(a=a, m=m, n=n, k=k, s=s, t=t, u=u, v=v, fast=fast))
            files = [model, "--random-inputs"]
            got = machine.run(files, "--device", "cuda", "--libraries", "always", library="cublas")
            calls = machine.calls()
            end = modes + (" fast" if fast else "")
            check(len(calls) == 1 and calls[0].endswith(end), f"float8 {modes}: {calls} {got}")
            want = machine.run(files, "--device", "cpu", "--libraries", "none")
            check(agrees(got, want, 1e-4), f"float8 {modes} {a}: {got}, not {want}")
    check_float8_bias(machine, m, n, k)


FLOAT8_BIAS = """def forward(self, a: "f8e4m3fn[{m}, {k}]", w: "f8e4m3fn[{n}, {k}]",
                   s: "f32[{s}]", t: "f32[{t}]", bias: "bf16[{n}]"):
    b = torch.ops.aten.permute.default(w, [1, 0])
    y = torch.ops.aten._scaled_mm.default(a, b, s, t, bias, None, torch.bfloat16, True)
    return (y,)
"""


def check_float8_bias(machine, m, n, k):
    """A bias is a part of a call with scales of the whole, and a kernel after another one."""
    for s, t, epilogue in (("1, 1", "1, 1", 4), (f"{m}, 1", f"1, {n}", 1)):
        model = machine.folder / "float8_bias.py"
        model.write_text(FLOAT8_BIAS.format(m=m, n=n, k=k, s=s, t=t))
        files = [model, "--random-inputs"]
        got = machine.run(files, "--device", "cuda", "--libraries", "always", library="cublas")
        calls = machine.calls()
        one = len(calls) == 1 and f" {epilogue} " in calls[0]
        check(one, f"float8 with a bias, {s}: {calls} {got}")
        want = machine.run(files, "--device", "cpu", "--libraries", "none")
        check(epilogue == 1 or agrees(got, want, 1e-2), f"float8 with a bias: {got}, not {want}")


DEPTHWISE = """def forward(self, x: "f16[2, 9, 9, 8]", g: "f16[2, 9, 9, 8]", w: "f16[8, 1, 3, 3]"):
    x1 = torch.ops.aten.permute.default(x, [0, 3, 1, 2])
    g1 = torch.ops.aten.permute.default(g, [0, 3, 1, 2])
    t = torch.ops.aten.convolution_backward.default(g1, x1, w, [0], [1, 1], [1, 1], [1, 1], False,
                                                    [0, 0], 8, [MASK, False])
    y = t[PART]
    return (y,)
"""


def check_depthwise(machine):
    """The gradient of the image is a call, that of the weight, for which cuDNN is slow, is none."""
    model = machine.folder / "depthwise.py"
    for part, mask in enumerate(("True, False", "False, True")):
        model.write_text(DEPTHWISE.replace("MASK", mask).replace("PART", str(part)))
        plan = machine.graph(model, "--device", "cuda", "--libraries", "always", "--emit",
                             "plan").stdout
        check("return %" in plan and ("call cudnn" in plan) == (part == 0),
              f"gradient {part} of a depthwise convolution: {plan}")


def check_convolutions(machine, seed):
    conv = Convolution(seed)
    for dtype, mode in ("f32", "default"), ("f16", "reduce-overhead"):
        files = conv.write(machine.folder, dtype)
        got = machine.run(files, "--device", "cuda", "--libraries", "always", "--mode", mode,
                          library="cudnn")
        calls = machine.calls()
        close = agrees(got, conv.value, 1e-5 if dtype == "f32" else 2e-2)
        check(close, f"convolution {dtype} {seed}: {got}\n{conv.text(dtype)}")
        check(len(calls) == 1 and calls[0].startswith("cudnnConvolution" + conv.work),
              f"convolution {dtype} {seed}: {calls}")
    plan = machine.folder / "plan.txt"
    machine.graph(files[0], "--device", "cuda", "--libraries", "always", "--emit", "plan", "-o",
                  plan)
    check(machine.graph(plan, "--emit", "plan").stdout == plan.read_text(), f"plan {seed}")


def check_plans(machine, product, seed):
    """Plans print and read back, and run as the model does."""
    files = product.write(machine.folder)
    for device, library in ("cpu", "blas"), ("cuda", "cublas"):
        plan = machine.folder / "plan.txt"
        emitted = machine.graph(files[0], "--device", device, "--libraries", "always", "--emit",
                                "plan", "-o", plan)
        again = machine.graph(plan, "--emit", "plan").stdout
        check(emitted.returncode == 0 and again == plan.read_text(), f"plan {seed} {device}")
        if device == "cuda":
            plan.write_text(re.sub(r"activation = \d", r"\g<0>, tf32 = 1", plan.read_text()))
        got = machine.run([plan, *files[1:]], "--device", device, library=library)
        check(agrees(got, product.value), f"plan {seed} {device}: {got}")
        check(device == "cpu" or machine.calls()[0].endswith("tf32"), f"plan {seed}: no TF32")


def check_failures(machine):
    product = Product(4)
    files = product.write(machine.folder)

    def fails(message, *options, **how):
        done = machine.graph(*files, *options, **how)
        check(done.returncode and message in done.stderr, f"{message}: {done.stderr}")

    always = "--libraries", "always"
    fails("cublas.matmul: the library cuBLASLt is not here, or can't be used on cuda:0",
          "--device", "cuda", *always)
    fails("cuBLAS has no algorithm for it; compile the model without libraries", "--device",
          "cuda", *always, library="cublas", FAKE_LIBRARIES="lacks")
    fails("cublas.matmul: the library cuBLASLt is not here, or can't be used on cuda:0", "--device",
          "cuda", *always, library="cublas", FAKE_LIBRARIES="refuses")
    fails("cublasLtMatmul failed with status 13", "--device", "cuda", *always, library="cublas",
          FAKE_LIBRARIES="fails")
    conv = Convolution(1).write(machine.folder)
    done = machine.graph(*conv, "--device", "cuda", *always, library="cudnn",
                         FAKE_LIBRARIES="lacks")
    check("cuDNN has no algorithm for it" in done.stderr, done.stderr)
    files = product.write(machine.folder)
    done = machine.graph(*files, "--device", "cpu", "--libraries", "alway")
    check(done.returncode and "unknown libraries alway (did you mean always?)" in done.stderr,
          done.stderr)
    for options in (), ("--no-libraries",), (*always, "--mode", "eager"):
        got = machine.run(files, "--device", "cpu", *options, library="blas")
        check(agrees(got, product.value) and not machine.calls(), f"{options}: {got}")
    got = machine.run(files, "--device", "interp", *always, library="blas")
    check(agrees(got, product.value) and not machine.calls(), f"interp: {got}")

    plan = machine.folder / "plan.txt"
    machine.graph(files[0], "--device", "cpu", *always, "--emit", "plan", "-o", plan)
    text = plan.read_text()
    files[0] = plan
    fails("the plan calls blas.gemm, which device interp has not", "--device", "interp")
    built = subprocess.run([NEREID, "build", str(plan), "--target", "cpu", "-o",
                            str(machine.folder / "project")], capture_output=True, text=True)
    check("the plan calls the library function blas.gemm, which projects do not have"
          in built.stderr, built.stderr)
    plan.write_text(text.replace("blas.gemm", "blas.gem"))
    fails("there is no library function blas.gem", "--device", "cpu")
    plan.write_text(re.sub(r", k = \w+", "", text))
    fails("a call of blas.gemm must have the arguments of a product", "--device", "cpu")


TUNED = """
def forward(self, x: "f32[256, 384]", w: "f32[512, 384]", b: "f32[512]", w2: "f32[384, 512]"):
    y = torch.ops.aten.linear.default(x, w, b)
    z = torch.ops.aten.relu.default(y)
    v = torch.ops.aten.linear.default(z, w2)
    u = torch.ops.aten.add.Tensor(v, x)
    return (u,)
"""


def check_records(machine):
    """What max-autotune finds out decides in mode default, for that version of the library."""
    model = machine.folder / "tuned.py"
    model.write_text(TUNED)
    for idle, faster in ("idle", True), ("slow", False):
        home = {"library": "blas", "NEREID_CACHE_DIR": str(machine.folder / f"home_{idle}"),
                "NEREID_LOG": "tune"}
        run = lambda *options, **env: machine.graph(model, "--random-inputs", "--device", "cpu",
                                                    *options, **{**home, **env})
        count = lambda: len(machine.calls())
        plain = run()
        check(plain.returncode == 0 and count() == 0, f"no records: {plain.stderr}")
        tuned = run("--mode", "max-autotune", FAKE_LIBRARIES=idle)
        check(tuned.returncode == 0 and count() > 2, f"measured: {tuned.stderr}")
        check(tuned.stderr.count("us by blas.gemm") == 2, tuned.stderr)
        default = run()
        check(default.returncode == 0 and count() == 2 * faster, f"recorded: {default.stderr}")
        again = run("--mode", "max-autotune")
        check(again.returncode == 0 and count() == 2 * faster, f"known: {again.stderr}")
        run("--no-libraries")
        check(count() == 0, "--no-libraries")
        run(FAKE_LIBRARIES_VERSION="OpenBLAS 0.0.2")
        check(count() == 0, "another version")
        run(library="")
        check(count() == 0, "no library")
        listed = subprocess.run([NEREID, "records"], capture_output=True, text=True,
                                env={**machine.env, "NEREID_CACHE_DIR": home["NEREID_CACHE_DIR"]})
        check(listed.stdout.count("library product(") == 2, listed.stdout)


def check_default(machine):
    """Without records convolutions of 16 bits are cuDNN's, where it is here; small products and f32
    are computed by kernels, and all is on a CPU."""
    for dtype, options, env, calls in (
            ("f16", (), {}, 1), ("f32", (), {}, 0), ("f16", ("--no-libraries",), {}, 0),
            ("f16", ("--mode", "eager"), {}, 0), ("f16", (), {"library": ""}, 0),
            ("f16", (), {"FAKE_LIBRARIES": "lacks"}, 0),
            ("f16", (), {"FAKE_LIBRARIES": "refuses"}, 0)):
        files = Convolution(1).write(machine.folder, dtype)
        home = machine.folder / "home_default"
        for _ in range(2):  # the second finds what the first left in the cache
            done = machine.graph(*files, "--device", "cuda", *options,
                                 **{"library": "cudnn", "NEREID_CACHE_DIR": str(home), **env})
            check(done.returncode == 0 and len(machine.calls()) == calls,
                  f"{dtype} {options} {env}: {machine.calls()} {done.stderr}")
    for device, library in ("cuda", "cublas"), ("cpu", "blas"):
        machine.graph(*Product(4).write(machine.folder), "--device", device, library=library)
        check(not machine.calls(), f"a small product on {device}: {machine.calls()}")


CORE = """def forward(self, a: "f32[{m}, {k}]", w: "f32[{n}, {k}]"):
    b = torch.ops.aten.permute.default(w, [1, 0])
    y = torch.ops.aten.mm.default(a, b)
    return (y,)
"""


CORE_TURNED = """def forward(self, a: "f32[{k}, {m}]", w: "f32[{k}, {n}]"):
    b = torch.ops.aten.permute.default(a, [1, 0])
    y = torch.ops.aten.mm.default(b, w)
    return (y,)
"""


def check_wide(machine):
    """PyTorch's BLAS alone takes f64, of operands in either order; without it kernels do."""
    model, torch = machine.folder / "wide.py", str(machine.folder / "torch.so")
    options = "--device", "cpu", "--libraries", "always"
    for m, n, k in (200, 64, 96), (3, 130, 64):
        for text in CORE, CORE_TURNED:
            model.write_text(text.format(m=m, n=n, k=k).replace("f32", "f64"))
            want = machine.run([model, "--random-inputs"], "--device", "interp")
            got = machine.run([model, "--random-inputs"], *options, LD_PRELOAD=torch)
            calls = machine.calls()
            check(agrees(got, want, 1e-12), f"f64 {m}x{n}x{k}: {got}, not {want}")
            check([c.split()[0] for c in calls] == ["dgemm_"], f"f64 {m}x{n}x{k}: {calls}")
            got = machine.run([model, "--random-inputs"], *options)
            check(agrees(got, want, 1e-12), f"f64 without PyTorch {m}x{n}x{k}: {got}, not {want}")


def check_core(machine):
    """One thread of an Intel processor with vectors of 512 bits has most products of f32 by the MKL
    in PyTorch, without records; few rows times large weights, small products, more threads and
    other processors have none."""
    info = pathlib.Path("/proc/cpuinfo").read_text() if sys.platform == "linux" else ""
    suits = "GenuineIntel" in info and "avx512f" in info
    model = machine.folder / "core.py"
    torch = {"LD_PRELOAD": str(machine.folder / "torch.so"),
             "NEREID_CACHE_DIR": str(machine.folder / "home_core")}
    for m, n, k, options, env, expected in (
            (200, 64, 96, (), {}, True), (200, 64, 96, ("--no-libraries",), {}, False),
            (200, 64, 96, (), {"FAKE_LIBRARIES_THREADS": "2"}, False),
            (8, 1024, 768, (), {}, False), (200, 16, 400, (), {}, False),
            (100, 30, 30, (), {}, False)):
        model.write_text(CORE.format(m=m, n=n, k=k))
        got = machine.run([model, "--random-inputs"], "--device", "cpu", *options, **torch, **env)
        calls = machine.calls()
        check(len(calls) == (suits and expected), f"a core: {m}x{n}x{k} {options} {env}: {calls}")
        want = machine.run([model, "--random-inputs"], "--device", "interp")
        check(agrees(got, want, 1e-4), f"a core: {m}x{n}x{k}: {got}, not {want}")


GATED = """def forward(self, x: "bf16[25088, 1024]", w: "bf16[256, 1024]", w2: "bf16[256, 1024]"):
    gate = torch.ops.aten.linear.default(x, w)
    up = torch.ops.aten.linear.default(x, w2)
    open = torch.ops.aten.silu.default(gate)
    y = torch.ops.aten.mul.Tensor(open, up)
    return (y,)
"""


def check_gated(machine):
    """Of two products that an operator reads, the second computes it on its tiles; the first is the
    library's, which is faster alone."""
    model = machine.folder / "gated.py"
    model.write_text(GATED)
    done = machine.graph(model, "--random-inputs", "--device", "cuda", "--out-dir", machine.folder,
                         library="cublas", FAKE_LIBRARIES="idle")
    calls = machine.calls()
    check(done.returncode == 0 and len(calls) == 1, f"gated: {calls} {done.stderr}")


KEPT = """
import sys
from nereid import _nereid
from nereid.runtime import driver
graph = _nereid.Graph("<graph>", open(sys.argv[1], "rb").read(), None, [], [], [])
graph.compile(driver.device("cuda"), {"keep": True})
"""


def check_kept(machine):
    """An executable from the cache has its calls, unless the library can't be used any more."""
    package = BUILD / "python"
    if not (package / "nereid").exists():
        return
    model = Convolution(1).write(machine.folder, "f16")[0]
    env = {**machine.env, "NEREID_CACHE_DIR": str(machine.folder / "home_kept"),
           "NEREID_LOG": "cache,tune", "NEREID_LIBRARY_PATH": str(machine.folder / "cudnn"),
           "PYTHONPATH": str(package)}
    run = lambda **more: subprocess.run([sys.executable, "-c", KEPT, str(model)], text=True,
                                        capture_output=True, env={**env, **more}).stderr
    first, second, refused, away = run(), run(), run(FAKE_LIBRARIES="refuses"), run(
        NEREID_LIBRARY_PATH="")
    check("put: executable" in first and "kernel k" not in first, first)
    check("hit: executable" in second and "kernel k" not in second, second)
    check("hit: executable" in refused and "by kernels, since" in refused, refused)
    check("miss: executable" in away and "not found" in away, away)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("seeds", type=int, nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "cache").mkdir()
        quick_compiler(folder / "cache")
        machine = Machine(folder)
        for seed in args.seeds or range(args.count):
            product = Product(seed)
            if args.seeds:
                print(product.text("f32"))
            check_cpu(machine, product, seed, "blas", "cblas_sgemm")
            if seed % 4 == 0:
                check_cpu(machine, product, seed, "dnnl", "dnnl_sgemm")
                check_cpu(machine, product, seed, "torch", "sgemm_")
            check_gpu(machine, product, seed)
            check_cast(machine, Product(seed), seed)
            check_convolutions(machine, seed)
            if seed % 6 == 0:
                check_plans(machine, product, seed)
        if not args.seeds:
            check_failures(machine)
            check_records(machine)
            check_default(machine)
            check_core(machine)
            check_wide(machine)
            check_float8(machine)
            check_depthwise(machine)
            check_gated(machine)
            check_kept(machine)
    return report()


if __name__ == "__main__":
    sys.exit(main())
