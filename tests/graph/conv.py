#!/usr/bin/env python3
"""Convolutions, pooling, products and recurrent networks of graphs against NumPy.

    conv.py [--device interp|cpu|nest|cuda] [--mode default|eager] [NAME...]

A case (support/conv_cases.py) is a call, the tensors that it takes, and the result of NumPy.  All
cases of a run are one graph; NAMEs select cases whose call contains one.  Tensors named w are
weights: what is computed from them alone runs once.
"""
import argparse, itertools, math, os, pathlib, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from conv_cases import CASES, RNG, avg_pool, conv, conv_transposed  # noqa: E402
from conv_cases import max_pool, parts, tensor, windows  # noqa: E402
import onnx_text  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))


# ---- running ----

KIND = {"float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "float64": "f64"}
TOLERANCE = {"float32": 2e-5, "float16": 2e-3, "float64": 1e-12}


def statements(i, text, tensors):
    """The lines of case i, whose names end in its number; the names of its tensors, in order."""
    lines, made = [], set()
    names = []
    for part in text.split("; "):
        target, equals, call = part.partition(" = ")
        if not equals or "(" in target:
            target, call = "result", part
        head, paren, rest = call.partition("(")
        for name in re.findall(r"(?<![\w.'])[a-z](?![\w.('])", rest):
            if name not in made and name not in names:
                names.append(name)
        rest = re.sub(r"(?<![\w.'])([a-z])(?![\w.('])", rf"\1_{i}", rest)
        call, item, number = (head + paren + rest).partition(")[")
        if item:
            lines.append(f"list_{i} = torch.ops.aten.{call})")
            lines.append(f"{target}_{i} = list_{i}[{number}")
        elif paren:
            lines.append(f"{target}_{i} = torch.ops.aten.{call}")
        else:  # an item: l[1]
            lines.append(f"{target}_{i} = " + re.sub(r"([a-z])\[", rf"\1_{i}[", call))
        made.add(target)
    assert len(names) == len(tensors), (text, names)
    return lines, names


def graph_of(cases):
    heads, body, arrays = [], [], []
    for i, (text, tensors, _) in enumerate(cases):
        lines, names = statements(i, text, tensors)
        body += lines
        for name, x in zip(names, tensors):
            heads.append(f'{name}_{i}: "{KIND[str(x.dtype)]}[{", ".join(map(str, x.shape))}]"')
            arrays.append(x)
    results = ", ".join(f"result_{i}" for i in range(len(cases)))
    text = "class G(torch.nn.Module):\n    def forward(self, " + ", ".join(heads) + "):\n"
    text += "".join(f"        {line}\n" for line in body)
    return text + f"        return ({results},)\n", arrays


def run(folder, args, cases):
    text, arrays = graph_of(cases)
    pathlib.Path(folder, "g.py").write_text(text)
    files = []
    for i, x in enumerate(arrays):
        np.save(f"{folder}/in{i}.npy", x)
        files.append(f"{folder}/in{i}.npy")
    done = subprocess.run([NEREID, "graph", f"{folder}/g.py", *files, "--device", args.device,
                           "--mode", args.mode, "--out-dir", f"{folder}/out"],
                          capture_output=True, text=True)
    if done.returncode:
        check(False, done.stderr[:4000])
        return
    for i, (text, tensors, numpy) in enumerate(cases):
        got, want = np.load(f"{folder}/out/output_{i}.npy"), numpy(*tensors)
        endless = np.isinf(want)
        same = got.shape == want.shape and np.array_equal(got[endless], want[endless])
        got, want = (np.where(endless, 0, x) if same else x for x in (got, want))
        error = np.abs(got - want).max() / (np.abs(want).max() or 1) if same else math.inf
        limit = TOLERANCE.get(str(got.dtype), 0)
        check(same and error <= limit, f"{text}: {got.shape} {want.shape} error {error:.3g}")


# Sizes that are open: of the batch and of images.
SYMBOLIC = """class G(torch.nn.Module):
    def forward(self, x: "f32[s0, 16, s1, s2]", w: "f32[8, 16, 3, 3]", v: "f32[8, 1, 3, 3]",
                u: "f32[4, 8, 1, 1]", t: "f32[8, 4, 2, 2]"):
        a = torch.ops.aten.conv2d.default(x, w, None, 2, 1)
        b = torch.ops.aten.max_pool2d.default(a, 3, 2, 1)
        c = torch.ops.aten.conv2d.default(b, v, None, 1, 1, 1, 8)
        d = torch.ops.aten.relu.default(c)
        e = torch.ops.aten.conv2d.default(d, u)
        f = torch.ops.aten.avg_pool2d.default(e, 2, 1, 1, True, False)
        g = torch.ops.aten.conv_transpose2d.input(d, t, None, 2)
        h = torch.ops.aten.adaptive_avg_pool2d.default(d, [1, 1])
        return (f, g, h)
"""


def symbolic(folder, args):
    w, v, u, t = tensor(8, 16, 3, 3), tensor(8, 1, 3, 3), tensor(4, 8, 1, 1), tensor(8, 4, 2, 2)
    pathlib.Path(folder, "s.py").write_text(SYMBOLIC)
    for shape in (2, 16, 13, 10), (1, 16, 8, 9):
        inputs = [tensor(*shape), w, v, u, t]
        files = [f"{folder}/s{i}.npy" for i in range(len(inputs))]
        for file, x in zip(files, inputs):
            np.save(file, x)
        done = subprocess.run([NEREID, "graph", f"{folder}/s.py", *files, "--device", args.device,
                               "--mode", args.mode, "--out-dir", f"{folder}/symbolic"],
                              capture_output=True, text=True)
        check(done.returncode == 0, done.stderr[:4000])
        b = max_pool(conv(inputs[0], w, None, 2, 1), (3, 3), (2, 2), (1, 1))
        d = np.maximum(conv(b, v, None, 1, 1, 1, 8), 0)
        results = [avg_pool(conv(d, u), (2, 2), (1, 1), (1, 1), False, True),
                   conv_transposed(d, t, None, 2), d.mean((2, 3), keepdims=True)]
        for i, want in enumerate(results):
            got = np.load(f"{folder}/symbolic/output_{i}.npy")
            same = got.shape == want.shape and np.allclose(got, want, 1e-4, 1e-3)
            check(same, f"symbolic {shape}: output {i}")


# Weights of a model: frozen, and each op by itself.
FROZEN = """class G(torch.nn.Module):
    def forward(self, p_conv1_3_weight: "f32[16, 16, 3, 3]", p_fc_weight: "f32[1000, 96]",
                p_fc_bias: "f32[1000]", p_conv1_4_weight: "f32[16]",
                b_conv1_4_running_var: "f32[16]",
                x: "f32[2, 16, 6, 5]", y: "f32[3, 96]"):
        conv = torch.ops.aten.conv2d.default(x, p_conv1_3_weight, p_conv1_4_weight, 2)
        scale = torch.ops.aten.view.default(b_conv1_4_running_var, [16, 1, 1])
        a = torch.ops.aten.mul.Tensor(scale, conv)
        both = torch.ops.aten.conv2d.default(x, p_conv1_3_weight)
        b = torch.ops.aten.mul.Tensor(both, scale)
        linear = torch.ops.aten.linear.default(y, p_fc_weight, p_fc_bias)
        c = torch.ops.aten.mul.Tensor(linear, p_fc_bias)
        rows = torch.ops.aten.sum.dim_IntList(p_fc_weight, [1])
        column = torch.ops.aten.slice.Tensor(y, 1, 0, 1)
        d = torch.ops.aten.add.Tensor(column, rows)
        e = torch.ops.aten.sum.dim_IntList(p_fc_weight, [0])
        return (a, b, both, c, d, e)
"""

PACKED = """class G(torch.nn.Module):
    def forward(self, p_fc_weight: "f32[1000, 96]", p_fc_bias: "f32[1000]", y: "f32[3, 96]"):
        linear = torch.ops.aten.linear.default(y, p_fc_weight, p_fc_bias)
        return (linear,)
"""


def frozen(folder, device):
    weights = ROOT / "tests/models/timm_test_resnet/model.pt2"
    graph = pathlib.Path(folder, "frozen.py")
    graph.write_text(FROZEN)
    np.save(f"{folder}/x.npy", tensor(2, 16, 6, 5))
    np.save(f"{folder}/y.npy", tensor(3, 96))
    command = [NEREID, "graph", graph, "--weights", weights, "--device", device]
    for mode in "eager", "default":
        inputs = [f"{folder}/x.npy", f"{folder}/y.npy"]
        done = subprocess.run([*command, *inputs, "--mode", mode, "--out-dir", f"{folder}/{mode}"],
                              capture_output=True, text=True)
        check(done.returncode == 0, done.stderr[:2000])
    for i in range(6):
        a, b = (np.load(f"{folder}/{mode}/output_{i}.npy") for mode in ("eager", "default"))
        check(np.abs(a - b).max() <= 1e-5 * np.abs(a).max(), f"frozen: output {i}")
    plan = subprocess.run([*command, "--emit", "plan"], capture_output=True, text=True).stdout
    once = re.findall(r"^once k\d+_(\w+)\(", plan, re.M)
    product = ["mul_sum", "mul", "sum", "sum"] if device == "cuda" else ["clone", "mul", "sum"]
    check(once == ["mul_clone", "mul", *product], f"frozen: once {once}")
    graph.write_text(PACKED)
    plan = subprocess.run([*command, "--emit", "plan"], capture_output=True, text=True).stdout
    packed = "constant %linear_mm_clone" in plan
    check(packed == (device != "cuda"), "matrices are packed for CPUs")
    for rows in 3, 8, 67:
        packed_products(folder, command, rows)


def packed_products(folder, command, rows):
    np.save(f"{folder}/y.npy", tensor(rows, 96))
    graph = pathlib.Path(folder, "frozen.py")
    graph.write_text(PACKED.replace("f32[3, 96]", f"f32[{rows}, 96]"))
    for mode in "eager", "default":
        done = subprocess.run([*command, f"{folder}/y.npy", "--mode", mode, "--out-dir",
                               f"{folder}/{mode}"], capture_output=True, text=True)
        check(done.returncode == 0, done.stderr[:2000])
    a, b = (np.load(f"{folder}/{mode}/output_0.npy") for mode in ("eager", "default"))
    check(np.abs(a - b).max() <= 1e-5 * np.abs(a).max(), f"packed: {rows} rows")


# Images, channels, sizes of an image, outputs, window, padding, dilation, groups, stride.
IMAGES = [
    ((2, 32, 7, 9), 32, (3, 3), 1, 1, 1, 1), ((3, 64, 6, 6), 48, (3, 3), 1, 1, 1, 1),
    ((2, 32, 9, 9), 64, (3, 3), 2, 2, 1, 1), ((5, 16, 5, 5), 32, (2, 2), 0, 1, 1, 1),
    ((70, 16, 4, 3), 16, (3, 3), 1, 1, 1, 1), ((1, 32, 20, 33), 32, (5, 3), (2, 1), 1, 1, 1),
    ((2, 64, 8, 8), 64, (3, 3), 1, 1, 2, 1), ((3, 16, 41), 32, (5, ), 2, 1, 1, 1),
    ((2, 16, 4, 5, 6), 16, (2, 3, 1), (1, 1, 0), 1, 1, 1), ((2, 32, 9, 9), 32, (3, 3), 1, 1, 1, 2),
    ((2, 32, 1, 65), 32, (1, 3), (0, 1), 1, 1, 1), ((1, 16, 12, 12), 16, (3, 3), 3, 2, 1, 1),
    # groups of few channels, which are joined
    ((2, 64, 8, 8), 64, (3, 3), 1, 1, 16, 1), ((1, 128, 5, 7), 64, (3, 3), 1, 1, 32, 1),
    ((2, 48, 9, 9), 96, (3, 3), 1, 1, 12, 2), ((3, 16, 41), 32, (5, ), 2, 1, 8, 1),
    # strides that divide images, and some that do not
    ((3, 32, 8, 12), 48, (3, 3), 1, 1, 1, 2), ((2, 16, 12, 9), 32, (5, 5), 2, 1, 1, 3),
    ((2, 32, 16, 8), 32, (7, 3), (3, 1), 1, 1, 4), ((3, 16, 42), 32, (4, ), 1, 3, 1, 2),
    ((2, 48, 8, 10), 96, (3, 3), 2, 2, 12, 2), ((2, 64, 8, 8), 64, (3, 3), 0, 1, 2, 2),
    ((5, 16, 4, 4, 6), 16, (3, 2, 3), (1, 0, 1), 1, 1, 2),
    # few channels, whose rows of windows are boxes
    ((2, 3, 15, 13), 32, (7, 7), 3, 1, 1, 2), ((1, 1, 9, 10), 16, (9, 8), 4, 1, 1, 1),
    ((2, 4, 9, 11), 24, (4, 5), (1, 0), 1, 1, 3), ((3, 7, 12, 8), 40, (4, 3), (0, 2), 1, 1, 1),
    ((2, 7, 41), 32, (9, ), 2, 1, 1, 8), ((2, 14, 9, 8), 16, (3, 3), 1, 1, 1, 2),
    # windows that do not overlap, of few channels
    ((2, 3, 8, 12), 24, (4, 4), 0, 1, 1, 4), ((2, 5, 9, 6), 16, (2, 2), 0, 1, 1, 2),
]
IMAGE = """class G(torch.nn.Module):
    def forward(self, x: "f16[{sizes}]", w: "f16[{weight}]"):
        y = torch.ops.aten.permute.default(x, {first})
        v = torch.ops.aten.permute.default(w, {order})
        c = torch.ops.aten.conv{n}d.default(y, v, None, {stride}, {pads}, {dilation}, {groups})
        d = torch.ops.aten.permute.default(c, {last})
        return (d,)
"""


def images(folder):
    """Plans for a GPU whose convolutions' tiles are parts of images, by the interpreter of
    nests; the number of images is open.  Every second weight has its channels last, too."""
    for turn, (shape, outs, size, pads, dilation, groups, stride) in enumerate(IMAGES):
        n = len(size)
        last = turn % 2 == 1
        x = RNG.integers(-3, 4, (shape[0], *shape[2:], shape[1])).astype(np.float16)
        w = RNG.integers(-2, 3, (outs, shape[1] // groups, *size)).astype(np.float16)
        few = math.prod(size) * shape[1] >= 64 and shape[1] < 16 and stride != size[0]
        if groups > 2 or few:  # numbers that are not finite are no matter of others than their own
            x.flat[[0, x.size // 2, -1]] = np.inf, np.nan, -np.inf
        path = pathlib.Path(folder, "image.py")
        given = np.ascontiguousarray(np.moveaxis(w, 1, -1)) if last else w
        order = [0, n + 1, *range(1, n + 1)] if last else list(range(n + 2))
        path.write_text(IMAGE.format(
            sizes=", ".join(map(str, ("s0", *x.shape[1:]))), order=order,
            weight=", ".join(map(str, given.shape)), n=n, stride=stride, dilation=dilation,
            first=[0, n + 1, *range(1, n + 1)], last=[0, *range(2, n + 2), 1], groups=groups,
            pads=pads if isinstance(pads, int) else list(pads)))
        np.save(f"{folder}/x.npy", x)
        np.save(f"{folder}/w.npy", given)
        plan = f"{folder}/image.plan"
        made = subprocess.run([NEREID, "graph", path, "--no-libraries", "--device", "cuda",
                               "--emit", "plan", "-o", plan], capture_output=True, text=True)
        done = subprocess.run([NEREID, "graph", plan, f"{folder}/x.npy", f"{folder}/w.npy",
                               "--device", "nest", "--out-dir", f"{folder}/images"],
                              capture_output=True, text=True)
        if made.returncode or done.returncode:
            check(False, f"images {shape}: {made.stderr[:2000]}{done.stderr[:2000]}")
            continue
        text = pathlib.Path(plan).read_text()
        joined, patches = groups > 2, stride == size[0] and shape[1] < 16
        divides = few or not any(s % stride for s in shape[2:])
        check(("BI: " in text) == (divides and not patches), f"parts of {shape}")
        if n == 2 and not joined and not patches and not few:
            check(("_clone(" in text) != last, f"{shape}: the weight is copied")
        want = conv(np.moveaxis(x, -1, 1).astype("f4"), w.astype("f4"), None, stride,
                    pads if isinstance(pads, int) else [*pads], dilation, groups)
        got = np.load(f"{folder}/images/output_0.npy")
        want = np.moveaxis(want, 1, -1).astype(np.float16)
        check(np.array_equal(got, want, equal_nan=True), f"images {shape} in {groups} groups")
        check(("== group" in text) == joined, f"groups of {shape} are joined")


# Channels and outputs of a group, groups, window: steps of few windows are no blocks of channels.
JOINED = [(5, 32, 4, (1, 5)), (5, 16, 4, (2, 1)), (5, 8, 2, (3, 3)), (4, 8, 8, (2, 2))]


def joined(folder, device):
    """Groups that a CPU joins, of a weight that a run is given: numbers that are not finite are no
    matter of others."""
    path = pathlib.Path(folder, "joined.py")
    for channels, outs, groups, size in JOINED:
        x = RNG.integers(-3, 4, (2, channels * groups, 5, 9)).astype(np.float32)
        w = RNG.integers(-2, 3, (outs * groups, channels, *size)).astype(np.float32)
        x[0, 1, 2, 3], x[1, -1, 2, 2], x[1, channels, 0, 4] = np.nan, np.inf, -np.inf
        path.write_text(f"""class G(torch.nn.Module):
    def forward(self, x: "f32{list(x.shape)}", w: "f32{list(w.shape)}"):
        y = torch.ops.aten.conv2d.default(x, w, None, 1, 0, 1, {groups})
        return (y,)
""")
        np.save(f"{folder}/x.npy", x)
        np.save(f"{folder}/w.npy", w)
        done = subprocess.run([NEREID, "graph", path, f"{folder}/x.npy", f"{folder}/w.npy",
                               "--device", device, "--out-dir", f"{folder}/joined"],
                              capture_output=True, text=True)
        if done.returncode:
            check(False, f"joined groups of {channels}: {done.stderr[:2000]}")
            continue
        got, want = np.load(f"{folder}/joined/output_0.npy"), conv(x, w, groups=groups)
        check(np.array_equal(got, want.astype(np.float32), equal_nan=True),
              f"{groups} joined groups of {channels} channels, {device}")


# Images with their channels last, window, stride, padding, dilation: strips of rows of images that
# are one, two or more, whole or not, and rows that end within a window.
DEPTHWISE = [
    ((2, 5, 8, 24), (3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 6, 9, 40), (3, 3), (1, 1), (1, 1), (1, 1)),
    ((4, 7, 7, 16), (5, 5), (1, 1), (2, 2), (1, 1)),
    ((2, 9, 17, 32), (5, 5), (2, 2), (2, 2), (1, 1)),
    ((1, 8, 33, 16), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((3, 11, 26, 18), (3, 5), (1, 2), (0, 3), (2, 1)),
    ((2, 9, 25, 16), (4, 3), (3, 1), (1, 2), (1, 3)),
    ((6, 4, 2, 48), (3, 3), (1, 1), (2, 2), (1, 1)),
    ((2, 3, 20, 16), (7, 9), (1, 1), (3, 4), (1, 1)),
    ((2, 19, 3, 16), (3, 1), (1, 1), (1, 0), (1, 1)),
    ((2, 3, 9, 16), (2, 2), (1, 1), (9, 9), (1, 1)),
    ((2, 41, 16), (9, ), (1, ), (4, ), (1, )),
    ((8, 3, 6, 256), (3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 5, 6, 19, 16), (2, 3, 3), (1, 2, 1), (1, 1, 1), (1, 1, 1)),
]
DEPTHWISE_GRAPH = """class G(torch.nn.Module):
    def forward(self, g: "f32{grad}", x: "f32{sizes}", w: "f32{weight}"):
        a = torch.ops.aten.permute.default(g, {first})
        b = torch.ops.aten.permute.default(x, {first})
        y = torch.ops.aten.convolution.default(b, w, None, {windows}, False, {none}, {groups})
        z = torch.ops.aten.relu.default(y)
        r = torch.ops.aten.permute.default(z, {last})
        d = torch.ops.aten.convolution_backward.default(
            a, b, w, None, {windows}, False, {none}, {groups}, [True, True, False])
        e = d[0]
        f = torch.ops.aten.permute.default(e, {last})
        h = d[1]
        return (r, f, h)
"""


def depthwise_gradients(grad, x, w, pads, dilation, stride):
    """Those of input and weight, channels first; padding is met by nothing, as in PyTorch."""
    inner = tuple(slice(p, p + s) for p, s in zip(pads, x.shape[2:]))
    inner = (slice(None), slice(None), *inner)
    size = [s + 2 * p for s, p in zip(x.shape[2:], pads)]
    padded, real = np.zeros((*x.shape[:2], *size)), np.zeros((1, 1, *size), bool)
    padded[inner], real[inner] = x, True
    dx, dw = np.zeros_like(padded), np.zeros(w.shape)
    for at in itertools.product(*map(range, w.shape[2:])):
        places = (slice(None), slice(None)) + tuple(
            slice(i * d, i * d + (s - 1) * k + 1, k)
            for i, d, s, k in zip(at, dilation, grad.shape[2:], stride))
        tap = (slice(None), 0, *at)
        dw[tap] = np.where(real[places], grad * padded[places], 0).sum((0, *range(2, x.ndim)))
        dx[places] += grad * w[tap].reshape(-1, *[1] * len(size))
    return dx[inner], dw


def depthwise(folder, device):
    """Rows of images in strips: values that float64 has too, and an element that is not finite
    reaches those that meet it alone."""
    path = pathlib.Path(folder, "depthwise.py")
    for sizes, window, stride, pads, dilation in DEPTHWISE:
        n, channels = len(window), sizes[-1]
        out = [(s + 2 * p - d * (k - 1) - 1) // t + 1
               for s, k, p, d, t in zip(sizes[1:], window, pads, dilation, stride)]
        x = RNG.integers(-3, 4, sizes).astype(np.float32)
        w = RNG.integers(-2, 3, (channels, 1, *window)).astype(np.float32)
        g = RNG.integers(-2, 3, (sizes[0], *out, channels)).astype(np.float32)
        x[0, ..., 3].flat[-1], x[-1, ..., 5].flat[0] = np.nan, np.inf
        if n < 3 and window[-1] > 1:  # others multiply what is padding in memory
            g[0, ..., 7].flat[0] = -np.inf
        first, last = [0, n + 1, *range(1, n + 1)], [0, *range(2, n + 2), 1]
        path.write_text(DEPTHWISE_GRAPH.format(
            grad=list(g.shape), sizes=list(sizes), weight=list(w.shape), first=first, last=last,
            windows=f"{list(stride)}, {list(pads)}, {list(dilation)}", none=[0] * n,
            groups=channels))
        for name, array in (("g", g), ("x", x), ("w", w)):
            np.save(f"{folder}/{name}.npy", array)
        done = subprocess.run([NEREID, "graph", path, *(f"{folder}/{v}.npy" for v in "gxw"),
                               "--device", device, "--out-dir", f"{folder}/depthwise"],
                              capture_output=True, text=True)
        if done.returncode:
            check(False, f"depthwise windows of {sizes}: {done.stderr[:2000]}")
            continue
        with np.errstate(invalid="ignore"):
            grad, image = (np.moveaxis(v, -1, 1).astype(np.float64) for v in (g, x))
            wanted = [np.maximum(conv(image, w, None, stride, pads, dilation, channels), 0)]
            wanted += depthwise_gradients(grad, image, w, pads, dilation, stride)
        for i, want in enumerate(wanted):
            got = np.load(f"{folder}/depthwise/output_{i}.npy")
            got = got if i == 2 else np.moveaxis(got, -1, 1)
            check(np.array_equal(got, want.astype(np.float32), equal_nan=True),
                  f"depthwise windows of {sizes}, {window}: result {i}, {device}")


# Images with their channels last, results, groups, window, stride, padding and what it lacks: the
# windows of a transposed convolution have other numbers of elements in each phase, or none.
STRIDED = [
    ((2, 7, 9, 32), 48, 1, (3, 3), (2, 2), (1, 1), (1, 0)),
    ((1, 6, 6, 16), 16, 1, (1, 1), (2, 2), (0, 0), (1, 1)),
    ((2, 5, 4, 64), 3, 1, (7, 7), (2, 2), (3, 3), (1, 1)),
    ((2, 4, 5, 24), 32, 2, (5, 2), (3, 1), (2, 0), (0, 0)),
    ((3, 5, 6, 32), 32, 32, (3, 5), (2, 3), (1, 2), (1, 0)),
    ((2, 5, 6, 32), 32, 32, (4, 4), (2, 2), (1, 1), (0, 0)),
    ((2, 4, 7, 32), 32, 8, (4, 2), (2, 2), (1, 0), (0, 1)),
    ((2, 9, 16), 20, 1, (4, ), (3, ), (1, ), (2, )),
    ((1, 3, 4, 3, 16), 16, 1, (3, 1, 3), (2, 1, 2), (1, 0, 0), (0, 0, 1)),
]


def strided(folder, device):
    """Transposed convolutions, which gradients of strided inputs are, once a phase."""
    path = pathlib.Path(folder, "strided.py")
    for sizes, outs, groups, window, stride, pads, more in STRIDED:
        n = len(window)
        x = RNG.integers(-3, 4, sizes).astype(np.float32)
        w = RNG.integers(-2, 3, (sizes[-1], outs // groups, *window)).astype(np.float32)
        x[0, ..., 3].flat[-1], x[-1, ..., 5].flat[0] = np.nan, np.inf
        path.write_text(f"""class G(torch.nn.Module):
    def forward(self, x: "f32{list(sizes)}", w: "f32{list(w.shape)}"):
        a = torch.ops.aten.permute.default(x, {[0, n + 1, *range(1, n + 1)]})
        y = torch.ops.aten.convolution.default(
            a, w, None, {list(stride)}, {list(pads)}, {[1] * n}, True, {list(more)}, {groups})
        r = torch.ops.aten.permute.default(y, {[0, *range(2, n + 2), 1]})
        return (r,)
""")
        np.save(f"{folder}/x.npy", x)
        np.save(f"{folder}/w.npy", w)
        done = subprocess.run([NEREID, "graph", path, f"{folder}/x.npy", f"{folder}/w.npy",
                               "--device", device, "--out-dir", f"{folder}/strided"],
                              capture_output=True, text=True)
        if done.returncode:
            check(False, f"phases of {sizes}: {done.stderr[:2000]}")
            continue
        got = np.moveaxis(np.load(f"{folder}/strided/output_0.npy"), -1, 1)
        with np.errstate(invalid="ignore"):
            want = conv_transposed(np.moveaxis(x, -1, 1), w, None, stride, pads, more, groups)
        check(np.array_equal(got, want.astype(np.float32), equal_nan=True),
              f"phases of {sizes}, {window}, {device}")


# Images with their channels last, results, window, stride, padding: rows of the window are whole
# vectors, or what follows them is read too, also after the last row of the last image.
ROWS_OF_WEIGHTS = [
    ((2, 18, 20, 16), 16, (3, 3), 1, 1),
    ((2, 12, 36, 3), 67, (7, 7), 2, 3),
    ((3, 6, 28, 3), 16, (3, 3), 2, 1),
    ((1, 4, 13, 5), 20, (2, 4), 1, 0),
    ((2, 30, 9), 33, (5, ), 1, 2),
    ((3, 83, 33), 9, (1, ), 1, 0),
    ((2, 4, 14, 1024), 16, (1, 1), 1, 0),
    ((1, 4, 6, 22, 3), 17, (3, 2, 3), 2, 0),
]


def weights(folder, device):
    """Gradients of weights by rows of images, of values that float64 has too; an element that is
    not finite reaches the sums alone that have it."""
    path = pathlib.Path(folder, "weights.py")
    for sizes, outs, window, stride, pad in ROWS_OF_WEIGHTS:
        n = len(window)
        out = [(s + 2 * pad - k) // stride + 1 for s, k in zip(sizes[1:], window)]
        x = RNG.integers(-3, 4, sizes).astype(np.float32)
        w = RNG.integers(-2, 3, (outs, sizes[-1], *window)).astype(np.float32)
        g = RNG.integers(-2, 3, (sizes[0], *out, outs)).astype(np.float32)
        x.flat[-1], x.flat[0] = np.nan, np.inf
        first = [0, n + 1, *range(1, n + 1)]
        path.write_text(f"""class G(torch.nn.Module):
    def forward(self, g: "f32{list(g.shape)}", x: "f32{list(sizes)}", w: "f32{list(w.shape)}"):
        a = torch.ops.aten.permute.default(g, {first})
        b = torch.ops.aten.permute.default(x, {first})
        d = torch.ops.aten.convolution_backward.default(
            a, b, w, None, {[stride] * n}, {[pad] * n}, {[1] * n}, False, {[0] * n}, 1,
            [False, True, False])
        e = d[1]
        return (e,)
""")
        for name, array in (("g", g), ("x", x), ("w", w)):
            np.save(f"{folder}/{name}.npy", array)
        done = subprocess.run([NEREID, "graph", path, *(f"{folder}/{v}.npy" for v in "gxw"),
                               "--device", device, "--out-dir", f"{folder}/weights"],
                              capture_output=True, text=True)
        if done.returncode:
            check(False, f"weights of {sizes}: {done.stderr[:2000]}")
            continue
        got = np.load(f"{folder}/weights/output_0.npy")
        with np.errstate(invalid="ignore"):
            _, want = gradients_of(*(np.moveaxis(v, -1, 1).astype(np.float64) for v in (g, x)), w,
                                   pad, 1, stride)
        check(np.array_equal(got, want.astype(np.float32), equal_nan=True),
              f"weights of {sizes}, {window}, {device}")


def no_images(folder, device):
    """The gradient of a weight without images is 0."""
    path = pathlib.Path(folder, "none.py")
    path.write_text("""class G(torch.nn.Module):
    def forward(self, g: "f32[0, 33, 6, 31]", x: "f32[0, 8, 6, 30]", w: "f32[33, 8, 1, 2]"):
        d = torch.ops.aten.convolution_backward.default(
            g, x, w, None, [1, 1], [0, 1], [1, 1], False, [0, 0], 1, [False, True, False])
        y = d[1]
        return (y,)
""")
    for name, shape in ("g", (0, 33, 6, 31)), ("x", (0, 8, 6, 30)), ("w", (33, 8, 1, 2)):
        np.save(f"{folder}/{name}.npy", np.ones(shape, np.float32))
    done = subprocess.run([NEREID, "graph", path, *(f"{folder}/{n}.npy" for n in "gxw"),
                           "--device", device, "--out-dir", f"{folder}/none"],
                          capture_output=True, text=True)
    made = done.returncode == 0 and np.load(f"{folder}/none/output_0.npy")
    check(np.array_equal(made, np.zeros((33, 8, 1, 2))), f"no images: {done.stderr[:2000]}")


def loops(folder):
    """Windows of one element some strides apart: where tiles outnumber processors, programs make
    several, of parts of images."""
    path, last = pathlib.Path(folder, "loop.py"), [0, 2, 3, 1]
    for images, size, stride, boxes in (272, 8, 2, True), (4, 8, 2, False), (272, 9, 2, False):
        path.write_text(IMAGE.format(
            sizes=f"{images}, {size}, {size}, 64", weight="1016, 1, 1, 64", first=[0, 3, 1, 2],
            order=[0, 3, 1, 2], n=2, stride=stride, pads=0, dilation=1, groups=1, last=last))
        made = subprocess.run([NEREID, "graph", path, "--no-libraries", "--device", "cuda",
                               "--emit", "plan"], capture_output=True, text=True)
        check(made.returncode == 0, made.stderr[:2000])
        text = made.stdout
        check(("BI: " in text) == boxes, f"parts of {images} images of {size}")
        check(not boxes or "tl.num_programs(0)" in text, f"a loop over tiles of {images} images")


# Images, channels, sizes of an image, outputs, window, padding, dilation, stride; is the gradient
# of the input one by phases, that of the weight a product of boxes, and in how many parts?
GRADIENTS = [
    ((3, 32, 7, 9), 32, (3, 3), 1, 1, 1, False, True, 1),
    ((2, 16, 8, 12), 48, (3, 3), 1, 1, 2, True, True, 1),
    ((2, 16, 9, 11), 32, (3, 3), 1, 1, 2, True, False, 1),
    ((3, 48, 6, 6), 16, (1, 1), 0, 1, 2, True, True, 1),
    ((2, 24, 9, 6), 32, (5, 2), (2, 0), 1, 3, True, True, 1),
    ((2, 24, 9, 9), 16, (3, 3), 2, 2, 1, False, True, 1),
    ((2, 16, 8, 8), 16, (4, 4), 3, 1, 2, False, True, 1),
    ((70, 16, 4, 3), 16, (3, 3), 1, 1, 1, False, True, 1),
    ((3, 16, 42), 32, (5, ), 2, 1, 2, True, True, 1),
    ((2, 16, 4, 6, 8), 16, (3, 2, 3), (1, 0, 1), 1, 2, True, True, 1),
    ((40, 16, 16, 16), 16, (3, 3), 1, 1, 1, False, True, 2),
    ((2, 3, 15, 13), 32, (7, 7), 3, 1, 2, True, True, 1),
    ((2, 1, 9, 10), 16, (9, 8), 4, 1, 1, False, True, 1),
    ((3, 4, 41), 24, (8, ), 2, 1, 4, False, False, 1),
    ((9, 3, 64, 48), 16, (5, 5), (0, 1), 1, 1, False, True, 2),
]
GRADIENT_GRAPH = """class G(torch.nn.Module):
    def forward(self, g: "f16[{grad}]", x: "f16[{sizes}]", w: "f16[{weight}]"):
        a = torch.ops.aten.permute.default(g, {first})
        b = torch.ops.aten.permute.default(x, {first})
        c = torch.ops.aten.permute.default(w, {first})
        d = torch.ops.aten.convolution_backward.default(a, b, c, None, {windows}, 1, {mask})
        e = d[{item}]
        f = torch.ops.aten.permute.default(e, {last})
        return (f,)
"""


def gradients_of(grad, x, w, pads, dilation, stride):
    """In float64, channels first: dx and dw."""
    n = w.ndim - 2
    each = lambda v: [v] * n if isinstance(v, int) else list(v)
    pads, dilation, stride = each(pads), each(dilation), each(stride)
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in pads)]).astype(np.float64)
    dx, dw = np.zeros_like(x), np.zeros(w.shape)
    letters = "yzt"[:n]
    for at in itertools.product(*map(range, w.shape[2:])):
        places = (slice(None), slice(None)) + tuple(
            slice(i * d, i * d + (s - 1) * k + 1, k)
            for i, d, s, k in zip(at, dilation, grad.shape[2:], stride))
        tap = (slice(None), slice(None), *at)
        dw[tap] = np.einsum(f"no{letters},nc{letters}->oc", grad, x[places])
        dx[places] += np.einsum(f"no{letters},oc->nc{letters}", grad, w[tap])
    inner = tuple(slice(p, s - p) for p, s in zip(pads, x.shape[2:]))
    return dx[(slice(None), slice(None), *inner)], dw


def gradients(folder):
    """Plans for a GPU of gradients, whose operands are parts of images; an element that is not
    finite reaches the sums alone that have it."""
    for turn, case in enumerate(GRADIENTS):
        shape, outs, size, pads, dilation, stride, phases, boxes, parts = case
        images = "s0" if turn % 2 else shape[0]  # which may be open
        n = len(size)
        each = lambda v: [v] * n if isinstance(v, int) else list(v)
        out = [(s + 2 * p - d * (k - 1) - 1) // stride + 1
               for s, k, p, d in zip(shape[2:], size, each(pads), each(dilation))]
        x = RNG.integers(-3, 4, (shape[0], *shape[2:], shape[1])).astype(np.float16)
        w = RNG.integers(-2, 3, (outs, *size, shape[1])).astype(np.float16)
        grad = RNG.integers(-2, 3, (shape[0], *out, outs)).astype(np.float16)
        x.flat[-1] = np.inf  # of a corner, which not every position of a window meets
        first, last = [0, n + 1, *range(1, n + 1)], [0, *range(2, n + 2), 1]
        for name, array in (("g", grad), ("x", x), ("w", w)):
            np.save(f"{folder}/{name}.npy", array)
        front = [np.moveaxis(a, -1, 1).astype(np.float64) for a in (grad, x, w)]
        with np.errstate(invalid="ignore"):
            wanted = gradients_of(*front, pads, dilation, stride)
        for item, want in enumerate(wanted):
            path = pathlib.Path(folder, "gradient.py")
            path.write_text(GRADIENT_GRAPH.format(
                grad=", ".join(map(str, (images, *grad.shape[1:]))),
                sizes=", ".join(map(str, (images, *x.shape[1:]))),
                weight=", ".join(map(str, w.shape)), first=first, last=last, item=item,
                windows=f"{[stride] * n}, {each(pads)}, {each(dilation)}, False, {[0] * n}",
                mask=[item == 0, item == 1, False]))
            plan = f"{folder}/gradient.plan"
            made = subprocess.run([NEREID, "graph", path, "--no-libraries", "--device", "cuda",
                                   "--emit", "plan", "-o", plan], capture_output=True, text=True)
            done = subprocess.run([NEREID, "graph", plan, *(f"{folder}/{a}.npy" for a in "gxw"),
                                   "--device", "nest", "--out-dir", f"{folder}/gradients"],
                                  capture_output=True, text=True)
            if made.returncode or done.returncode:
                check(False, f"gradient {shape}: {made.stderr[:2000]}{done.stderr[:2000]}")
                continue
            text = pathlib.Path(plan).read_text()
            if item == 0:
                check(("first = " in text or "first_1 = " in text) == phases,
                      f"phases of the input's gradient {shape}")
            else:
                check(("_conv_weight" in text) == boxes, f"boxes of the weight's gradient {shape}")
                found = re.search(r"k\d+_conv_weight.* grid \d+, (\d+), 1", text)
                known = boxes and images != "s0"
                check(not known or (int(found[1]) > 1) == (parts > 1), f"parts of {shape}")
            got = np.load(f"{folder}/gradients/output_0.npy")
            want = np.moveaxis(want, 1, -1).astype(np.float16)
            check(np.array_equal(got, want, equal_nan=True), f"gradient {item} of {shape}")


# Images with the channels first, outputs, window, padding, dilation, groups, stride; is the weight
# in panels, and of how many columns?
PANELS = [((2, 48, 9, 7), 128, (3, 3), 1, 1, 1, 1, 64),
          ((1, 40, 5, 6), 192, (2, 3), 1, 2, 1, 2, 64),
          ((2, 80, 6, 6), 256, (3, 3), 1, 1, 2, 1, 64),
          ((2, 16, 6, 6), 20, (3, 3), 1, 1, 2, 1, 0),
          ((2, 24, 6, 6), 32, (3, 3), 1, 1, 8, 1, 16),
          ((1, 24, 7, 9), 96, (3, 2), 1, 1, 8, 2, 48),
          ((2, 60, 7, 9), 72, (3, 3), 1, 1, 3, 1, 32),  # 24 of 32 columns
          ((1, 48, 7, 5), 32, (3, 3), 1, 1, 4, 1, 16),
          ((1, 40, 8, 8), 96, (3, 3), 1, 1, 1, 1, 48),
          ((1, 40, 8, 5), 80, (3, 1), 0, 1, 1, 1, 48),
          ((3, 3, 19, 14), 21, (7, 5), 3, 1, 1, 2, 32),
          ((2, 2, 9, 11), 5, (3, 3), 2, 2, 1, 1, 0),
          ((2, 12, 9, 11), 5, (3, 3), 2, 2, 1, 1, 16),
          ((2, 8, 6, 50), 16, (3, 39), 19, 1, 1, 1, 16),
          ((2, 48, 12, 13), 64, (3, 3), 1, 1, 1, 1, 64),
          ((1, 32, 13, 12), 20, (3, 3), 2, 2, 1, 2, 32),
          ((1, 40, 3, 2), 16, (5, 5), 4, 1, 1, 1, 16),
          ((2, 40, 6, 9), 40, (5, 5), 2, 1, 40, 1, 0),
          # Windows over the channels of a group.
          ((2, 32, 6, 6), 32, (3, 3), 1, 1, 8, 1, 0),
          ((1, 12, 7, 9), 32, (3, 3), 0, 1, 2, 1, 0),
          ((1, 3, 9, 9), 128, (3, 3), 1, 1, 1, 1, 0),
          ((2, 3, 15, 18), 48, (7, 5), 3, 1, 1, 2, 0),
          ((2, 40, 9, 11), 40, (3, 3), 1, 2, 10, 1, 0),
          ((1, 34, 7, 6), 34, (3, 2), 1, 1, 17, 2, 0),
          ((2, 48, 5, 19), 48, (1, 3), 1, 1, 6, 1, 0)]


def blocks(folder):
    """On a CPU images are copied with their padding, and weights are in panels of outputs."""
    for shape, out, size, pads, dilation, groups, stride, width in PANELS:
        x, w = tensor(*shape), tensor(out, shape[1] // groups, *size)
        if groups > 1:  # whose numbers that are not finite are none of the others' matter
            x.flat[[0, x.size // 2, -1]] = np.inf, np.nan, -np.inf
        node = onnx_text.node("Conv", "x w", "y", pads=[pads] * 4, dilations=[dilation] * 2,
                              strides=[stride] * 2, group=groups)
        weight = onnx_text.tensor("w", "f4", w.shape, w.tobytes())
        path = pathlib.Path(folder, "blocks.onnx")
        path.write_bytes(onnx_text.model([node], {"x": onnx_text.f32("b", *shape[1:])}, "y",
                                         initializers=[weight]))
        np.save(f"{folder}/x.npy", x)
        plan = subprocess.run([NEREID, "graph", path, "--device", "cpu", "--emit", "plan"],
                              capture_output=True, text=True).stdout
        panels = re.findall(r"kb \* (\d+)", plan) if "BAND: " in plan else []
        check((str(width) in panels) if width else not panels, f"{shape} to {out}: panels")
        done = subprocess.run([NEREID, "graph", path, f"{folder}/x.npy", "--device", "cpu",
                               "--out-dir", f"{folder}/blocks"], capture_output=True, text=True)
        check(done.returncode == 0, done.stderr[:2000])
        want = conv(x, w, None, stride, pads, dilation, groups)
        got = np.load(f"{folder}/blocks/output_0.npy")
        same = np.allclose(got, want, 0, 1e-3, equal_nan=True)
        check(same, f"panels of {shape} to {out}")


# Images, channels, results, groups, sizes, window, padding, stride, dilation: gradients of
# convolutions that are windows over the channels of a group, or rows of images of a group, with the
# channels first and last.
GROUPS = [(2, 32, 32, 8, (9, 12), (3, 3), (1, 1), 1, 1),
          (3, 36, 36, 9, (10, 8), (3, 3), (1, 2), 2, 1),
          (2, 20, 20, 10, (7, 17), (3, 2), (0, 1), (1, 2), (2, 1)),
          (1, 16, 16, 2, (6, 9), (1, 3), (0, 1), 1, 1),
          (2, 24, 24, 3, (6, 8), (3, 3), (1, 1), 1, 1),
          (3, 48, 72, 3, (6, 8), (3, 2), (1, 0), 2, 1),
          (2, 32, 32, 2, (5, 9), (3, 3), (2, 2), 1, 2),
          (2, 40, 2, 2, (6, 4), (1, 1), (0, 0), 2, 1),  # a result a group
          (2, 12, 36, 12, (8, 10), (3, 3), (1, 1), 2, 1),  # several results of a channel
          (2, 40, 40, 1, (4, 4), (3, 3), (1, 1), 1, 1)]  # few windows: the weight is no panels
GROUPS_GRAPH = """class G(torch.nn.Module):
    def forward(self, g: "f32[{grad}]", x: "f32[{sizes}]", w: "f32[{weight}]"):
        g1 = torch.ops.aten.permute.default(g, [0, {order}])
        x1 = torch.ops.aten.permute.default(x, [0, {order}])
        a = torch.ops.aten.convolution_backward.default(
            g1, x1, w, None, {windows}, {groups}, [True, True, False])
        b = a[0]
        c = a[1]
        return (b, c)
"""


def group_gradients(folder):
    """The input's and the weight's gradient of groups of a few channels."""
    each = lambda v: [v] * 2 if isinstance(v, int) else list(v)
    for (n, channels, results, groups, sizes, size, pads, stride, dilation), last in (
            itertools.product(GROUPS, (False, True))):
        stride, dilation, of_group = each(stride), each(dilation), channels // groups
        x, w = tensor(n, channels, *sizes), tensor(results, of_group, *size)
        v = windows(x.astype(np.float64), size, stride, [(p, p) for p in pads], dilation)
        places = [(s + 2 * p - d * (k - 1) - 1) // t + 1
                  for s, k, p, d, t in zip(sizes, size, pads, dilation, stride)]
        v = v[:, :, :places[0], :places[1]].reshape(n, groups, of_group, *places, *size)
        grad = tensor(n, results, *places)
        parted = grad.astype(np.float64).reshape(n, groups, results // groups, *places)
        weight = np.einsum("ngoij,ngcijkl->gockl", parted, v).reshape(w.shape)
        padded = np.zeros((n, channels, *(s + 2 * p for s, p in zip(sizes, pads))))
        wide = w.astype(np.float64).reshape(groups, results // groups, of_group, *size)
        for k, l in np.ndindex(*size):
            at = np.einsum("ngoij,goc->ngcij", parted, wide[..., k, l])
            at, rows, columns = at.reshape(n, channels, *places), k * dilation[0], l * dilation[1]
            padded[:, :, rows:rows + stride[0] * places[0]:stride[0],
                   columns:columns + stride[1] * places[1]:stride[1]] += at
        inner = padded[:, :, pads[0]:pads[0] + sizes[0], pads[1]:pads[1] + sizes[1]]
        stored = [np.moveaxis(a, 1, -1).copy() if last else a for a in (grad, x)]
        path = pathlib.Path(folder, "groups.py")
        path.write_text(GROUPS_GRAPH.format(
            grad=", ".join(map(str, stored[0].shape)), sizes=", ".join(map(str, stored[1].shape)),
            weight=", ".join(map(str, w.shape)), order="3, 1, 2" if last else "1, 2, 3",
            windows=f"{stride}, {list(pads)}, {dilation}, False, [0, 0]", groups=groups))
        for name, array in (("g", stored[0]), ("x", stored[1]), ("w", w)):
            np.save(f"{folder}/{name}.npy", array)
        for mode in ("default", "eager")[:1 + (of_group in (8, 20) and last)]:
            done = subprocess.run([NEREID, "graph", path, *(f"{folder}/{a}.npy" for a in "gxw"),
                                   "--device", "cpu", "--mode", mode,
                                   "--out-dir", f"{folder}/groups"],
                                  capture_output=True, text=True)
            check(done.returncode == 0, done.stderr[:2000])
            for i, want in enumerate((inner, weight)):
                got = np.load(f"{folder}/groups/output_{i}.npy")
                check(np.allclose(got, want, 1e-4, 1e-3),
                      f"groups of {of_group}, mode {mode}: gradient {i}")


# Of the result's gradient: images, input and output channels, sizes, window, padding, stride,
# dilation; is the weight's gradient summed up by rows of images?
ROWS = [(2, 16, 24, (11, 12), (3, 3), (1, 1), 1, 1, True),
        (3, 16, 7, (8, 22), (3, 3), (1, 1), 2, 1, True),
        (3, 16, 7, (9, 21), (3, 3), (1, 1), 2, 1, False),
        (2, 8, 20, (5, 14), (1, 4), (0, 2), 1, 1, True),
        (1, 32, 16, (20, 12), (3, 3), (2, 1), 1, (2, 1), True),
        (2, 48, 5, (9, 12), (2, 1), (0, 0), (3, 1), 1, True),
        (2, 16, 8, (6, 8), (3, 3), (1, 1), 1, 1, True),
        (2, 3, 40, (6, 1), (3, 3), (1, 1), 1, 1, False),
        (2, 5, 8, (9, 12), (3, 3), (1, 1), 1, 1, True),
        (2, 16, 8, (12, 12), (3, 3), (1, 1), 1, 2, True),
        (2, 24, 40, (6, 10), (1, 1), (0, 0), 2, 1, True)]
ROWS_GRAPH = """class G(torch.nn.Module):
    def forward(self, g: "f32[{grad}]", x: "f32[{sizes}]", w: "f32[{weight}]"):
        a = torch.ops.aten.convolution_backward.default(
            g, x, w, None, {windows}, 1, [False, True, False])
        b = a[1]
        return (b,)
"""


def rows(folder):
    """On a CPU the gradient of a weight is summed up by rows of images, also of ones that are not
    finite, and in mode eager by parts of them."""
    each = lambda v: [v] * 2 if isinstance(v, int) else list(v)
    for n, inside, out, sizes, size, pads, stride, dilation, by_rows in ROWS:
        stride, dilation = each(stride), each(dilation)
        x, w = tensor(n, inside, *sizes), tensor(out, inside, *size)
        places = [(s + 2 * p - d * (k - 1) - 1) // t + 1
                  for s, k, p, d, t in zip(sizes, size, pads, dilation, stride)]
        grad = tensor(n, out, *places)
        x.flat[-1] = np.inf  # of a corner, which not every position of a window meets
        path = pathlib.Path(folder, "rows.py")
        path.write_text(ROWS_GRAPH.format(
            grad=", ".join(map(str, grad.shape)), sizes=", ".join(map(str, x.shape)),
            weight=", ".join(map(str, w.shape)),
            windows=f"{stride}, {list(pads)}, {dilation}, False, [0, 0]"))
        for name, array in (("g", grad), ("x", x), ("w", w)):
            np.save(f"{folder}/{name}.npy", array)
        v = windows(x.astype(np.float64), size, stride, [(p, p) for p in pads], dilation)
        v = v[:, :, :places[0], :places[1]]
        with np.errstate(invalid="ignore"):
            want = np.einsum("noij,ncijkl->ockl", grad.astype(np.float64), v)
        for mode in ("default", "eager"):
            files = [f"{folder}/{name}.npy" for name in "gxw"]
            done = subprocess.run([NEREID, "graph", path, *files, "--device", "cpu", "--mode",
                                   mode, "--out-dir", f"{folder}/rows"], capture_output=True,
                                  text=True)
            check(done.returncode == 0, done.stderr[:2000])
            got = np.load(f"{folder}/rows/output_0.npy")
            same = np.allclose(got, want, 1e-4, 1e-3, equal_nan=True)
            check(same, f"{mode}: the weight's gradient of {x.shape} to {out}")
        plan = subprocess.run([NEREID, "graph", path, "--device", "cpu", "--emit", "plan"],
                              capture_output=True, text=True).stdout
        check(("nereid.conv_weight" in plan) == by_rows, f"rows of {x.shape} to {out}")


HALVES = """class G(torch.nn.Module):
    def forward(self, x: "f16[2, {c}, 24, 20]", w: "f16[32, {of_group}, 3, 3]"):
        y = torch.ops.aten.conv2d.default(x, w, None, {stride}, 1, 1, {groups})
        z = torch.ops.aten.relu.default(y)
        return (z,)
"""


def halves(folder):
    """16-bit floats are summed up in f32 from panels of that, also of weights that a run is given,
    if there are many windows."""
    for channels, stride, groups in ((16, 1, 1), (3, 1, 1), (32, 1, 8), (16, 4, 1)):
        # A stride leaves 60 windows.
        x = tensor(2, channels, 24, 20).astype(np.float16)
        w = tensor(32, channels // groups, 3, 3).astype(np.float16)
        path = pathlib.Path(folder, "halves.py")
        path.write_text(HALVES.format(c=channels, of_group=channels // groups, stride=stride,
                                      groups=groups))
        np.save(f"{folder}/x.npy", x)
        np.save(f"{folder}/w.npy", w)
        plan = subprocess.run([NEREID, "graph", path, "--device", "cpu", "--emit", "plan"],
                              capture_output=True, text=True).stdout
        check(("BAND: " in plan) == (stride == 1), f"panels of {channels} channels in f16")
        done = subprocess.run([NEREID, "graph", path, f"{folder}/x.npy", f"{folder}/w.npy",
                               "--device", "cpu", "--out-dir", f"{folder}/halves"],
                              capture_output=True, text=True)
        check(done.returncode == 0, done.stderr[:2000])
        want = np.maximum(conv(x.astype(np.float64), w, None, stride, 1, 1, groups), 0)
        got = np.load(f"{folder}/halves/output_0.npy")
        check(got.dtype == np.float16 and np.abs(got - want).max() < 0.02,
              f"f16 of {channels} channels")


WORDS = """class G(torch.nn.Module):
    def forward(self, x: "f32[2, {c}, 20, 20]", w: "f32[32, {c}, 3, 3]"):
        a = torch.ops.aten.to.dtype(x, torch.bfloat16)
        b = torch.ops.aten.to.dtype(w, torch.bfloat16)
        y = torch.ops.aten.conv2d.default(a, b, None, 1, 1)
        z = torch.ops.aten.to.dtype(y, torch.float32)
        return (z,)
"""


def halves_of_words(folder):
    """Panels of bf16 are of f32, in which odd channels are no matter of words."""
    for channels in (33, 16):
        x, w = RNG.integers(-3, 4, (2, channels, 20, 20)), RNG.integers(-2, 3, (32, channels, 3, 3))
        path = pathlib.Path(folder, "words.py")
        path.write_text(WORDS.format(c=channels))
        np.save(f"{folder}/x.npy", x.astype(np.float32))
        np.save(f"{folder}/w.npy", w.astype(np.float32))
        plan = subprocess.run([NEREID, "graph", path, "--device", "cpu", "--emit", "plan"],
                              capture_output=True, text=True).stdout
        check("BAND: " in plan, f"panels of {channels} channels in bf16")
        done = subprocess.run([NEREID, "graph", path, f"{folder}/x.npy", f"{folder}/w.npy",
                               "--device", "cpu", "--out-dir", f"{folder}/words"],
                              capture_output=True, text=True)
        check(done.returncode == 0, done.stderr[:2000])
        want = conv(x.astype(np.float64), w, None, 1, 1, 1, 1)
        got = np.load(f"{folder}/words/output_0.npy")
        check(np.abs(got - want).max() <= np.abs(want).max() * 2 ** -8,
              f"bf16 of {channels} channels")


SLICES = """class G(torch.nn.Module):
    def forward(self, x: "f32[2, 32, {h}, {w}]", u: "f32[2, 32, {h}, {w}]",
                w: "f32[32, 32, 3, 3]", v: "f32[32, 64, 3, 3]"):
        y = torch.ops.aten.conv2d.default(x, w, None, 1, 1)
        z = torch.ops.aten.relu.default(y)
        p = torch.ops.aten.max_pool2d.default(z, [2, 2], [2, 2])
        k = torch.ops.aten.conv2d.default(u, w, None, 1, 1)
        e = torch.ops.aten.relu.default(k)
        c = torch.ops.aten.cat.default([z, e], 1)
        d = torch.ops.aten.conv2d.default(c, v, None, 1, 1)
        return (p, d)
"""


def slices(folder):
    """Convolutions of few channels that are also written to a slice of a concatenation go along
    rows by vectors of channels, as others do."""
    for h, w in ((24, 20), (31, 33), (40, 48)):
        x, u = (tensor(2, 32, h, w) for _ in range(2))
        weight, last = tensor(32, 32, 3, 3) / 16, tensor(32, 64, 3, 3) / 16
        path = pathlib.Path(folder, "slices.py")
        path.write_text(SLICES.format(h=h, w=w))
        for name, value in zip("xuwv", (x, u, weight, last)):
            np.save(f"{folder}/{name}.npy", value.astype(np.float32))
        plan = subprocess.run([NEREID, "graph", path, "--device", "cpu", "--emit", "plan"],
                              capture_output=True, text=True).stdout
        steps = [s for s in plan.splitlines() if "_insert_slice(" in s and s.startswith("step")]
        rows = [s for s in steps if "conv_depthwise" in s]
        check(rows and all("RBLOCK: 1," in s for s in rows), f"vectors of channels: {steps}")
        done = subprocess.run([NEREID, "graph", path, *(f"{folder}/{n}.npy" for n in "xuwv"),
                               "--device", "cpu", "--out-dir", f"{folder}/slices"],
                              capture_output=True, text=True)
        check(done.returncode == 0, done.stderr[:2000])
        z, e = (np.maximum(conv(a.astype(np.float64), weight, None, 1, 1), 0) for a in (x, u))
        whole = np.concatenate([z, e], 1)
        even = z[:, :, :h // 2 * 2, :w // 2 * 2].reshape(2, 32, h // 2, 2, w // 2, 2)
        for i, want in enumerate((even.max((3, 5)), conv(whole, last, None, 1, 1))):
            got = np.load(f"{folder}/slices/output_{i}.npy")
            check(np.allclose(got, want, 1e-3, 1e-2), f"slices of {h}x{w}: output {i}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="interp")
    parser.add_argument("--mode", default="default")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    chosen = [c for c in CASES if not args.names or any(n in c[0] for n in args.names)]
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(chosen), 20):
            run(folder, args, chosen[at:at + 20])
        if not args.names:
            symbolic(folder, args)
            frozen(folder, args.device)
        if "blocks" in args.names or (not args.names and args.device == "interp"):
            blocks(folder)
            halves(folder)
            halves_of_words(folder)
            slices(folder)
        if "rows" in args.names or (not args.names and args.device == "interp"):
            rows(folder)
            group_gradients(folder)
        if "images" in args.names or (not args.names and args.device == "interp"):
            images(folder)
        if "loops" in args.names or (not args.names and args.device == "interp"):
            loops(folder)
        if "joined" in args.names or (not args.names and args.device != "cuda"):
            joined(folder, args.device)
            no_images(folder, args.device)
        if "weights" in args.names or (not args.names and args.device != "cuda"):
            weights(folder, args.device)
        if "strided" in args.names or (not args.names and args.device != "cuda"):
            strided(folder, args.device)
        if "depthwise" in args.names or (not args.names and args.device != "cuda"):
            depthwise(folder, args.device)
        if "gradients" in args.names or (not args.names and args.device == "interp"):
            gradients(folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
