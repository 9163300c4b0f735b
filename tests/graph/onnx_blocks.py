#!/usr/bin/env python3
"""Images in blocks of channels (com.microsoft.nchwc), as ONNX Runtime saves models that it
optimized for a CPU, against NumPy on images in plain order.

    onnx_blocks.py [--runtime]    --runtime: beside ONNX Runtime, on a machine with blocks of 16
"""
import os, pathlib, subprocess, sys, tempfile

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import onnx_text as o  # noqa: E402
from ops import quick_compiler  # noqa: E402
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
DOMAIN = "com.microsoft.nchwc"
RNG = np.random.default_rng(1)


def normal(*shape):
    return RNG.normal(size=shape).astype("f4")


def conv(x, w, bias, stride=1, pad=0, groups=1):
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    parts = np.split(x, groups, 1), np.split(w, groups, 0)
    y = [np.einsum("nchwij,ocij->nohw",
                   sliding_window_view(a, b.shape[2:], (2, 3))[:, :, ::stride, ::stride], b)
         for a, b in zip(*parts)]
    return np.concatenate(y, 1) + bias[:, None, None]


def pool(x, function):
    return function(sliding_window_view(x, (2, 2), (2, 3))[:, :, ::2, ::2], (4, 5))


def filled(x, axis, block):
    pads = [(0, 0)] * x.ndim
    pads[axis] = (0, -x.shape[axis] % block)
    return np.pad(x, pads)


def turned(x, block):
    """An image of whole blocks with the elements of a block next to each other."""
    n, c, h, w = x.shape
    return x.reshape(n, c // block, block, h, w).transpose(0, 1, 3, 4, 2).reshape(x.shape)


class Model:
    def __init__(self, block):
        self.block, self.nodes, self.tensors, self.count = block, [], [], 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def tensor(self, x):
        name = self.name()
        self.tensors.append(o.tensor(name, x.dtype.str[1:], x.shape, x.tobytes()))
        return name

    def node(self, op, *inputs, domain=DOMAIN, **attributes):
        name = self.name()
        self.nodes.append(o.node(op, inputs, name, domain=domain, **attributes))
        return name

    def conv(self, x, w, bias, add=None, taken="blocks", **attributes):
        """`taken`: channels in blocks, a plain image, or each channel alone."""
        block = self.block
        if taken == "blocks":
            w = filled(w, 1, block)
        w, bias = filled(w, 0, block), filled(bias, 0, block)
        shape, rows = w.shape, w.shape[0] // block
        if taken == "blocks":
            w = w.reshape(rows, block, shape[1] // block, block, *shape[2:])
            w = w.transpose(0, 2, 4, 5, 3, 1).reshape(shape)
        else:
            w = w.reshape(rows, block, *shape[1:]).transpose(0, 2, 3, 4, 1).reshape(shape)
        if taken == "each":
            attributes["group"] = shape[0]
        inputs = [x, self.tensor(w), self.tensor(bias)] + ([] if add is None else [add])
        return self.node("Conv", *inputs, kernel_shape=list(shape[2:]), **attributes)

    def bytes(self, inputs, outputs):
        return o.model(self.nodes, inputs, outputs, self.tensors, opset=17,
                       imports=[f"{DOMAIN}:1"])


def network(block, open_rows):
    """The model, its inputs, and what it gives."""
    m, x = Model(block), normal(2, 3, 10, 8)
    w = [normal(20, 3, 3, 3), normal(20, 20, 1, 1), normal(20, 1, 3, 3), normal(20, 20, 3, 3)]
    bias = [normal(20) for _ in w]
    relu, pads = dict(activation="Relu"), dict(pads=[1, 1, 1, 1])
    first = m.conv("x", w[0], bias[0], taken="plain", **pads, **relu)
    one = np.maximum(conv(x, w[0], bias[0], pad=1), 0)
    second = m.conv(first, w[1], bias[1], first, activation="LeakyRelu", activation_params=[0.25])
    two = conv(one, w[1], bias[1]) + one
    two = np.where(two < 0, two / 4, two)
    third = m.conv(second, w[2], bias[2], taken="each", strides=[2, 2], **pads)
    three = conv(two, w[2], bias[2], 2, 1, 20)
    most, mean = [m.node(op, second, kernel_shape=[2, 2], strides=[2, 2])
                  for op in ("MaxPool", "AveragePool")]
    both = m.node("Mul", m.node("Sigmoid", most, domain=""), mean, domain="")
    half = pool(two, np.max)
    half = 1 / (1 + np.exp(-half)) * pool(two, np.mean)
    # sums of images that may differ in size have the block as an axis
    sizes = [m.tensor(np.array(s)) for s in ([0, -(-20 // block), 0, 0, block],
                                             [0, -(-20 // block) * block, 0, 0])]
    scale = m.node("GlobalAveragePool", third)
    split = [m.node("Reshape", v, sizes[0], domain="") for v in (both, scale)]
    sum_ = m.node("Reshape", m.node("Add", *split, domain=""), sizes[1], domain="")
    total = half + three.mean((2, 3), keepdims=True)
    large = m.node("Upsample", sum_, scales=[1, 1, 2, 2])
    outputs = [m.node("ReorderOutput", v, channels=20) for v in (third, large)]
    wanted = [three, total.repeat(2, 2).repeat(2, 3)]
    last = m.conv(sum_, w[3], bias[3], **pads)
    outputs.append(m.node("ReorderOutput", last, channels=20, channels_last=1))
    wanted.append(conv(total, w[3], bias[3], pad=1).transpose(0, 2, 3, 1))
    # what sees the order of elements: sums along an axis of blocks, and along one of channels
    outputs.append(m.node("ReduceSum", last, m.tensor(np.array([3])), domain="", keepdims=0))
    plain = filled(conv(total, w[3], bias[3], pad=1), 1, block)
    wanted.append(turned(plain, block).sum(3))
    # rows of channels become an image in blocks, and two are joined
    taken = m.node("ReorderInput", "y", channels_last=1)
    y = normal(2, 5, 4, 12)
    joined = m.node("Concat", taken, m.node("Relu", sum_, domain=""), domain="", axis=1)
    most = m.node("GlobalMaxPool", joined)
    outputs.append(m.node("Flatten", most, domain=""))
    images = [filled(v, 1, block).max((2, 3)) for v in (y.transpose(0, 3, 1, 2),
                                                        np.maximum(total, 0))]
    wanted.append(np.concatenate(images, 1))
    rows = "rows" if open_rows else 10
    inputs = {"x": o.f32(2, 3, rows, 8), "y": o.f32(2, 5, 4, 12)}
    return m.bytes(inputs, outputs), dict(x=x, y=y), wanted


def error_of(got, wanted):
    if got.shape != wanted.shape:
        return f"{got.shape} for {wanted.shape}"
    return float(abs(got - wanted).max() / abs(wanted).max())


def by_runtime(file, given, wanted):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    for i, (got, want) in enumerate(zip(session.run(None, given), wanted)):
        check(error_of(got, want) < 1e-5, f"ONNX Runtime, result {i}: {error_of(got, want)}")


def check_channels(folder):
    """An image has all channels that a file takes of it."""
    for channels in 0, -1, 17:
        m = Model(16)
        y = m.node("ReorderOutput", m.node("ReorderInput", "x"), channels=channels)
        (folder / "m.onnx").write_bytes(m.bytes({"x": o.f32(1, 16, 2, 2)}, [y]))
        done = subprocess.run([NEREID, "graph", folder / "m.onnx"], capture_output=True, text=True)
        check(done.returncode == 1 and "no number of the image's channels" in done.stderr,
              f"{channels} of 16 channels: {done.stderr.strip()}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        quick_compiler(folder)
        for block, open_rows in (8, False), (16, False), (16, True):
            data, given, wanted = network(block, open_rows)
            (folder / "m.onnx").write_bytes(data)
            for key, x in given.items():
                np.save(folder / f"{key}.npy", x)
            if "--runtime" in sys.argv and block == 16:
                by_runtime(folder / "m.onnx", given, wanted)
            for device in "interp", "cpu":
                done = subprocess.run([NEREID, "graph", folder / "m.onnx", folder / "x.npy",
                                       folder / "y.npy", "--device", device, "--out-dir", folder],
                                      capture_output=True, text=True)
                check(not done.returncode, f"blocks of {block}, {device}: {done.stderr.strip()}")
                for i, want in enumerate(wanted):
                    if not done.returncode:
                        error = error_of(np.load(folder / f"output_{i}.npy"), want)
                        check(isinstance(error, float) and error < 1e-4,
                              f"blocks of {block}, {device}, result {i}: {error}")
        check_channels(folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
