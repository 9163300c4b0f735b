#!/usr/bin/env python3
"""Products of 8-bit integers of ONNX, exact, against NumPy: weights and zero points of the file or
given in each run, with a sign and without, rows, sums and columns of all sizes.

    integers.py [--devices interp,cpu] [NAME...]
"""
import argparse, itertools, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import onnx_text  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
U8, I8 = np.uint8, np.int8
# Sums of words, of bytes that fill none, and columns of a panel, of several, and fewer.
SIZES = [((7, 64), 130), ((1, 70), 64), ((13, 256), 200), ((6, 5), 9), ((2, 3, 36), 65)]
ZEROS = ["none", "middle", "one", "rows", "columns"]


def bytes_of(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def zero_of(rng, kind, x, axis):
    """A zero point, and how it broadcasts to x; `middle` is that of no correction."""
    if kind == "none":
        return None, 0
    if kind == "middle":
        return np.array(128 if x.dtype == U8 else 0, x.dtype), 128 if x.dtype == U8 else 0
    if kind == "one":
        zero = bytes_of(rng, x.dtype)
        return zero, int(zero)
    zero = bytes_of(rng, x.dtype, x.shape[axis])
    return zero, zero.astype(np.int64)[:, None] if axis == 0 else zero.astype(np.int64)


def plain(x):
    return onnx_text.type_of(onnx_text.CODES[x.dtype.str.lstrip("<|")], x.shape)


def open_shape(x):
    """The first axis is open, and of images all but the channels."""
    return ["b", *x.shape[1:]] if x.ndim < 4 else ["b", x.shape[1], *"dhw"[5 - x.ndim:]]


def close(got, want):
    return got.shape == want.shape and np.allclose(got, want, 1e-5, 1e-4)


def run(name, nodes, given, fixed, outputs, want, devices, folder, more=(), same=np.array_equal):
    """`given` are inputs, whose first axis is open, `fixed` are of the file."""
    types = {n: onnx_text.type_of(onnx_text.CODES[x.dtype.str.lstrip("<|")],
                                  open_shape(x) if n == "a" else x.shape)
             for n, x in given.items()}
    weights = [onnx_text.tensor(n, x.dtype.str.lstrip("<|"), x.shape, x.tobytes())
               for n, x in fixed.items()]
    (folder / "model.onnx").write_bytes(
        onnx_text.model(nodes, types, outputs, initializers=weights, opset=21))
    files = []
    for n, x in given.items():
        np.save(folder / f"{n}.npy", x)
        files.append(folder / f"{n}.npy")
    for device in devices:
        done = subprocess.run([NEREID, "graph", folder / "model.onnx", *files, "--device", device,
                               "--out-dir", folder / "out", *more], capture_output=True, text=True)
        good = done.returncode == 0 and same(np.load(folder / "out/output_0.npy"), want)
        check(good, f"{name} on {device}: {done.stderr[-300:]}")


def products(devices, folder):
    rng = np.random.default_rng(17)
    kinds = list(itertools.product((U8, I8), (U8, I8), ZEROS[:4], ZEROS[:3] + ZEROS[4:]))[::3]
    for i, (left, right, az, bz) in enumerate(kinds):
        shape, n = SIZES[i % len(SIZES)]
        if len(shape) > 2 and az == "rows":
            az = "one"
        a, b = bytes_of(rng, left, *shape), bytes_of(rng, right, shape[-1], n)
        zeros = [zero_of(rng, az, a, 0), zero_of(rng, bz, b, 1)]
        want = ((a.astype(np.int64) - zeros[0][1]) @ (b.astype(np.int64) - zeros[1][1]))
        given, fixed = {"a": a}, {}
        (fixed if i % 3 else given)["b"] = b
        for name, at, where in ("p", 0, given), ("q", 1, fixed if i % 2 else given):
            if zeros[at][0] is not None:
                where[name] = zeros[at][0]
        names = ["a", "b"] + [x if x in given or x in fixed else "-" for x in "pq"]
        run(f"{left.__name__} {az} {shape} by {right.__name__} {bz} {n}, {i}",
            [onnx_text.node("MatMulInteger", names, "y")], given, fixed, "y",
            want.astype(np.int32), devices, folder)


def extremes(devices, folder):
    """Sums that i32 just holds, of the least bytes, and those that wrap."""
    for k in 1024, 132104:
        a, b = np.full((2, k), -128, I8), np.full((k, 64), -128, I8)
        want = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
        run(f"{k} of the least bytes", [onnx_text.node("MatMulInteger", "a b", "y")], {"a": a},
            {"b": b}, "y", want, devices[-1:], folder)


def convolve(x, w, pads, stride, dilation, groups):
    """A convolution of integers [N, C, sizes] and [O, C / groups, window]."""
    n = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[n + i]) for i in range(n)])
    sizes = [(x.shape[2 + i] - dilation * (w.shape[2 + i] - 1) - 1) // stride + 1
             for i in range(n)]
    y = np.zeros((x.shape[0], w.shape[0], *sizes), np.int64)
    each = w.shape[0] // groups
    for at in itertools.product(*map(range, w.shape[2:])):
        part = x[(slice(None), slice(None),
                  *(slice(dilation * a, dilation * a + stride * (s - 1) + 1, stride)
                    for a, s in zip(at, sizes)))]
        for g in range(groups):
            c = w.shape[1]
            y[:, g * each:(g + 1) * each] += np.einsum(
                "nc...,oc->no...", part[:, g * c:(g + 1) * c],
                w[(slice(g * each, (g + 1) * each), slice(None), *at)])
    return y


CONVOLUTIONS = [  # x, w, pads, stride, dilation, groups, zero points of both
    ((2, 40, 9, 7), (70, 40, 3, 3), (1, 1, 1, 1), 1, 1, 1, "one", "none"),
    ((1, 40, 9, 8), (16, 40, 3, 3), (1, 0, 2, 1), 2, 1, 1, "one", "rows"),
    ((2, 7, 5, 6), (66, 7, 1, 1), (0, 0, 0, 0), 2, 1, 1, "none", "one"),
    ((1, 64, 8, 8), (9, 64, 3, 2), (2, 2, 2, 2), 1, 2, 1, "middle", "middle"),
    ((2, 130, 17), (5, 130, 3), (1, 1), 1, 1, 1, "one", "one"),
    ((1, 600, 3, 3), (8, 600, 3, 3), (1, 1, 1, 1), 1, 1, 1, "one", "none"),
    ((1, 8, 6, 6), (8, 4, 3, 3), (1, 1, 1, 1), 1, 1, 2, "one", "none"),
    ((1, 3, 12, 12), (8, 3, 7, 7), (3, 3, 3, 3), 2, 1, 1, "one", "none")]


def convolutions(devices, folder):
    rng = np.random.default_rng(23)
    for i, (shape, window, pads, stride, dilation, groups, xz, wz) in enumerate(CONVOLUTIONS):
        x = bytes_of(rng, U8 if i % 4 else I8, *shape)
        w = bytes_of(rng, I8 if i % 3 else U8, *window)
        zeros = [zero_of(rng, xz, x, 0), zero_of(rng, wz, w, 0)]
        zw = zeros[1][1]
        zw = zw.reshape(-1, *[1] * (w.ndim - 1)) if isinstance(zw, np.ndarray) else zw
        want = convolve(x.astype(np.int64) - zeros[0][1], w.astype(np.int64) - zw, pads, stride,
                        dilation, groups)
        given, fixed = {"a": x}, {"b": w}
        for name, at, where in ("p", 0, given if i % 2 else fixed), ("q", 1, fixed):
            if zeros[at][0] is not None:
                where[name] = zeros[at][0]
        names = ["a", "b"] + [n if n in given or n in fixed else "-" for n in "pq"]
        n = w.ndim - 2
        node = onnx_text.node("ConvInteger", names, "y", pads=list(pads), strides=[stride] * n,
                              dilations=[dilation] * n, group=groups)
        run(f"convolution {i} of {shape} by {window}", [node], given, fixed, "y",
            want.astype(np.int32), devices, folder)


def dequantized(devices, folder):
    """Products of results of DequantizeLinear are exact products of the bytes, times scales: scales
    of columns, one for all, vectors of one; a scale of each row of the sum is none of columns."""
    rng = np.random.default_rng(31)
    for i, (kind, zero) in enumerate([("columns", "columns"), ("one", "one"), ("vector", "none"),
                                      ("columns", "none"), ("rows", "none")]):
        shape, n = SIZES[i]
        a, b = bytes_of(rng, U8 if i % 2 else I8, *shape), bytes_of(rng, I8, shape[-1], n)
        count = {"columns": n, "one": 1, "vector": 1, "rows": shape[-1]}[kind]
        q, by = zero_of(rng, zero, b, 1)
        s = np.float32(0.031)
        t = rng.uniform(0.01, 0.1, count).astype(np.float32)
        fixed = {"b": b, "t": t[0] if kind == "one" else t, "s": s}
        if q is not None:
            fixed["q"] = q
        more = dict(axis=0) if kind == "rows" else {}
        gemm = kind == "columns" and zero == "none" and len(shape) == 2
        if gemm:  # the transpose of the matrix, whose columns are rows there
            fixed["b"], more = np.ascontiguousarray(b.T), dict(axis=0)
        nodes = [onnx_text.node("DequantizeLinear", "a s", "x"),
                 onnx_text.node("DequantizeLinear", ["b", "t"] + ["q"] * (q is not None), "y",
                                **more),
                 onnx_text.node("Gemm", "x y", "z", transB=1) if gemm
                 else onnx_text.node("MatMul", "x y", "z")]
        if kind == "rows":
            exact = ((a * s).astype("f8") @ (b.astype("f4") * t[:, None]).astype("f8"))
            run(f"scales of {kind}", nodes, {"a": a}, fixed, "z", exact, devices, folder,
                same=close)
            continue
        sums = a.astype(np.int64) @ (b.astype(np.int64) - by)
        want = sums.astype(np.float32) * (s * t)
        run(f"scales of {kind}, zero points of {zero}", nodes, {"a": a}, fixed, "z", want, devices,
            folder)


def of_one(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def draw_convolution(rng):
    """x, weight, and the window's attributes: groups, lone channels, one to three sizes."""
    n = of_one(rng, [1, 2, 2, 2, 3])
    groups, per, each = (of_one(rng, [1, 1, 1, 2, 4]), of_one(rng, [1, 3, 4, 5, 16, 24]),
                         of_one(rng, [1, 3, 8, 16, 20, 64]))
    if rng.random() < 0.25:
        groups, per, each = of_one(rng, [8, 16, 20]), 1, of_one(rng, [1, 1, 2])
    window = [of_one(rng, [1, 2, 3, 3, 5]) for _ in range(n)]
    pads = [int(rng.integers(3)) for _ in range(2 * n)]
    stride, dilation = of_one(rng, [1, 1, 2, 3]), of_one(rng, [1, 1, 2])
    reach = [(k - 1) * dilation + 1 for k in window]
    sizes = [max(int(rng.integers(2, 12)), r) for r in reach]
    x = bytes_of(rng, of_one(rng, [U8, I8]), of_one(rng, [1, 2]), groups * per, *sizes)
    w = bytes_of(rng, of_one(rng, [I8, I8, U8]), groups * each, per, *window)
    return x, w, dict(pads=pads, stride=stride, dilation=dilation, groups=groups)


def requantized(sums, scale, point, relu, more=np.float32(0)):
    """One factor from the sums to the result, as ONNX Runtime has it, and what is added there."""
    units = (sums.astype(np.float32) * scale).astype(np.float32) + more
    if relu:
        units = np.maximum(units, 0)
    info = np.iinfo(point.dtype)
    return np.clip(np.rint(units) + np.float32(point), info.min, info.max).astype(point.dtype)


def quantized(devices, folder):
    """QLinearConv, and Conv between DequantizeLinear and QuantizeLinear, with Relu and without:
    exact sums, rounded as ONNX Runtime rounds them."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        x, w, at = draw_convolution(rng)
        count, n, as_qdq, relu = w.shape[0], w.ndim - 2, seed % 2 == 1, seed % 4 == 3
        p = bytes_of(rng, x.dtype)
        q = np.full(of_one(rng, [1, count]), 128 if w.dtype == U8 else of_one(rng, [0, 0, 3]),
                    w.dtype)
        sums = convolve(x.astype(np.int64) - int(p),
                        w.astype(np.int64) - q.astype(np.int64).reshape(-1, *[1] * (n + 1)), **at)
        s, y = np.float32(0.02), np.float32(max(1, np.abs(sums).max()) * 2e-5)
        t = rng.uniform(0.001, 0.01, len(q)).astype(np.float32)
        zeros = seed % 8 == 5  # of the bias; then halves are exact in units of one factor alone
        if zeros:
            t[:] = t[0]
            y = s * t[0] * np.float32(2 ** (seed // 8 + 1))
        bias = rng.integers(-9000, 9000, count).astype(np.int32)
        point = bytes_of(rng, of_one(rng, [U8, I8]) if as_qdq else x.dtype)
        along = (1, -1, *[1] * n)
        factor = np.broadcast_to((s * t) / y, count).reshape(along)
        want = requantized(sums + bias.reshape(along), factor, point, relu)
        floats = (bias * np.float32(7e-4)).astype(np.float32)
        if seed % 8 == 7:  # in units of their own
            want = requantized(sums, factor, point, relu, (floats / y).reshape(along))
        fixed = {"b": w, "s": s, "p": p, "t": t, "q": q, "y": y, "z": point, "bias": bias}
        attributes = dict(pads=at["pads"], strides=[at["stride"]] * n, group=at["groups"],
                          dilations=[at["dilation"]] * n)
        node = onnx_text.node
        if as_qdq:
            fixed["u"] = s * t
            if seed % 8 == 7:
                fixed["v"] = floats
            if zeros:
                fixed["n"] = np.zeros(len(q), np.int32)
            nodes = [node("DequantizeLinear", "a s p", "x"),
                     node("DequantizeLinear", "b t q", "w", axis=0),
                     node("Conv", "x w v", "c", **attributes)]
            if seed % 8 != 7:
                bias_at = "bias u n" if zeros else "bias u"
                nodes.insert(2, node("DequantizeLinear", bias_at, "v", axis=0))
            nodes += [node("Relu", "c", "r")] * relu
            nodes.append(node("QuantizeLinear", "r y z" if relu else "c y z", "o"))
        else:
            nodes = [node("QLinearConv", "a s p b t q y z bias", "o", **attributes)]
            want = want if not relu else requantized(sums + bias.reshape(along), factor, point,
                                                     False)
        run(f"quantized convolution {seed} of {x.shape} by {w.shape}", nodes, {"a": x}, fixed, "o",
            want, devices if seed % 3 == 0 else devices[:1], folder)


def viewed(devices, folder):
    """What is quantized again as it was, after views, is the same bytes; with other numbers it is
    not."""
    rng, node = np.random.default_rng(3), onnx_text.node
    for same in (True, False):
        x = bytes_of(rng, U8, 3, 8, 5)
        t = np.float32(0.3 if same else 0.21)
        nodes = [node("DequantizeLinear", "a s p", "x"), node("Reshape", "x n", "r"),
                 node("Transpose", "r", "v", perm=[0, 2, 1]), node("QuantizeLinear", "v t p", "o")]
        fixed = {"s": np.float32(0.3), "p": np.array(77, U8), "t": t,
                 "n": np.array([0, 2, 20], np.int64)}
        floats = (x.astype(np.float32) - 77) * np.float32(0.3)
        want = np.clip(np.rint(floats / t) + 77, 0, 255).astype(U8)
        want = want.reshape(3, 2, 20).transpose(0, 2, 1)
        check(not same or np.array_equal(want, x.reshape(3, 2, 20).transpose(0, 2, 1)), "itself")
        run(f"views of bytes, {same}", nodes, {"a": x}, fixed, "o", want, devices, folder)


LAYERS = """def forward(self, x: "{dtype}[2, 8, 9, 7]", w: "i8[16, {per}, 3, 3]", s: "f32[16]",
        z: "i64[16]", b: "f32[16]", v: "i8[20, 16]", t: "f32[20]"):
    xf = {q}per_tensor.default(x, 0.5, {zero}, {of})
    wf = {q}per_channel.default(w, s, z, 0, {of})
    y = torch.ops.aten.conv2d.default(xf, wf, b, [2, 1], [1, 2], [1, 1], {groups})
    a = torch.ops.aten.slice.Tensor(x, 1, 0, 2)
    r = torch.ops.aten.reshape.default(a, [4, 63])
    r16 = torch.ops.aten.slice.Tensor(r, 1, 0, 16)
    rf = {q}per_tensor.default(r16, 0.5, {zero}, {of})
    vf = {q}per_channel.default(v, t, None, 0, {of})
    p = torch.ops.aten.linear.default(rf, vf, t)
    return (y, p)
"""


def decomposed(devices, folder):
    """Layers of what PyTorch's quantized_decomposed dequantizes, against f64."""
    for i, groups in enumerate([1, 2, 8]):
        rng = np.random.default_rng(i)
        dtype, zero = (U8, 131) if i % 2 == 0 else (I8, -7)
        given = {"x": bytes_of(rng, dtype, 2, 8, 9, 7),
                 "w": bytes_of(rng, I8, 16, 8 // groups, 3, 3),
                 "s": rng.uniform(0.01, 0.1, 16).astype(np.float32),
                 "z": rng.integers(-3, 4, 16), "b": rng.standard_normal(16).astype(np.float32),
                 "v": bytes_of(rng, I8, 20, 16), "t": rng.uniform(0.01, 1, 20).astype(np.float32)}
        text = LAYERS.format(dtype="u8" if dtype == U8 else "i8", per=8 // groups, zero=zero,
                             groups=groups, q="torch.ops.quantized_decomposed.dequantize_",
                             of="0, 0, torch.int8")
        (folder / "graph.py").write_text(text)
        files = []
        for name, array in given.items():
            np.save(folder / f"{name}.npy", array)
            files.append(folder / f"{name}.npy")
        x = given["x"].astype(np.int64) - zero
        w = given["w"].astype(np.int64) - given["z"][:, None, None, None]
        x2 = np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 2)])
        y = convolve(x2, w, (0, 0, 0, 0), 1, 1, groups)[:, :, ::2]
        y = y * (0.5 * given["s"].astype(np.float64))[:, None, None] + given["b"][:, None, None]
        rows = x[:, :2].reshape(4, 63)[:, :16]
        p = rows @ given["v"].astype(np.int64).T * (0.5 * given["t"].astype(np.float64))
        p = p + given["t"]
        for device in devices:
            done = subprocess.run([NEREID, "graph", folder / "graph.py", *files, "--device", device,
                                   "--out-dir", folder / "out"], capture_output=True, text=True)
            good = done.returncode == 0 and all(
                np.allclose(np.load(folder / f"out/output_{k}.npy"), want, 1e-5, 1e-4)
                for k, want in enumerate((y, p)))
            check(good, f"layers of {groups} groups on {device}: {done.stderr[-300:]}")


GROUPS = {"decomposed": decomposed, "viewed": viewed, "quantized": quantized,
          "products": products, "extremes": extremes, "dequantized": dequantized,
          "convolutions": convolutions}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="interp,cpu")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, group in GROUPS.items():
            if not args.names or any(part in name for part in args.names):
                group(args.devices.split(","), pathlib.Path(folder))
    return report()


if __name__ == "__main__":
    sys.exit(main())
