#!/usr/bin/env python3
"""Models of bytes on a CPU: ONNX Runtime and Nereid.

    bench/int8.py [--threads 1,4] [--folder DIR] [--runs N] [NAME...]

ResNet-50, MobileNetV2 and BERT-base of random weights are made with onnx.helper and quantized by
onnxruntime.quantization: QDQ per channel, QOperator per tensor, dynamic.  It needs onnx,
onnxruntime and numpy.  A row, in a process of its own: the largest error of that of the largest
result, the least and the median ms of both sides, which take turns, their ratios, and our first
call in s.  Threads of ONNX Runtime do not spin between its runs.
"""
import argparse, os, pathlib, subprocess, sys, tempfile, time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
IMAGE, WORDS = (1, 3, 224, 224), (1, 128, 768)
SHAPES = {"resnet50": IMAGE, "mobilenet2": IMAGE, "bert": WORDS}
FORMS = ["f32", "qdq", "qoperator", "dynamic"]
MOBILE = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
          (6, 160, 3, 2), (6, 320, 1, 1)]  # expansion, channels, blocks, stride


class Maker:
    """Nodes of a model, whose weights are drawn."""

    def __init__(self):
        self.nodes, self.weights, self.rng = [], [], np.random.default_rng(0)

    def constant(self, value):
        from onnx import numpy_helper
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def draw(self, *shape, scale=0.1):
        return self.constant((self.rng.standard_normal(shape) * scale).astype("f4"))

    def op(self, kind, *inputs, **attributes):
        from onnx import helper
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], f"n{name}", **attributes))
        return name

    def conv(self, x, channels, features, size, stride=1, groups=1):
        each = channels // groups
        w = self.draw(features, each, size, size, scale=(2 / (each * size * size)) ** 0.5)
        return self.op("Conv", x, w, self.draw(features), kernel_shape=[size, size],
                       strides=[stride] * 2, pads=[size // 2] * 4, group=groups)

    def linear(self, x, rows, columns):
        y = self.op("MatMul", x, self.draw(rows, columns, scale=rows ** -0.5))
        return self.op("Add", y, self.draw(columns))

    def head(self, x, channels):
        x = self.op("Flatten", self.op("GlobalAveragePool", x))
        return self.op("Gemm", x, self.draw(1000, channels, scale=0.02), self.draw(1000), transB=1)


def resnet50(m):
    x = m.op("Relu", m.conv("x", 3, 64, 7, 2))
    x = m.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = m.op("Relu", m.conv(x, channels, width, 1))
            y = m.op("Relu", m.conv(y, width, width, 3, stride))
            y = m.conv(y, width, 4 * width, 1)
            if not block:
                x = m.conv(x, channels, 4 * width, 1, stride)
            x, channels = m.op("Relu", m.op("Add", y, x)), 4 * width
    return m.head(x, channels)


def mobilenet2(m):
    limits = m.constant(np.float32(0)), m.constant(np.float32(6))
    x, channels = m.op("Clip", m.conv("x", 3, 32, 3, 2), *limits), 32
    for expansion, features, blocks, stride in MOBILE:
        for block in range(blocks):
            y, wide = x, channels * expansion
            if expansion > 1:
                y = m.op("Clip", m.conv(y, channels, wide, 1), *limits)
            y = m.conv(y, wide, wide, 3, 1 if block else stride, wide)
            y = m.conv(m.op("Clip", y, *limits), wide, features, 1)
            x = m.op("Add", x, y) if block and channels == features else y
            channels = features
    return m.head(m.op("Clip", m.conv(x, channels, 1280, 1), *limits), 1280)


def bert(m, layers=12, d=768, heads=12):
    split, joined = m.constant(np.array([0, 0, heads, d // heads])), m.constant(np.array([0, 0, d]))
    scale, root = m.constant(np.float32((d // heads) ** -0.5)), m.constant(np.float32(2 ** 0.5))
    half, one = m.constant(np.float32(0.5)), m.constant(np.float32(1))

    def norm(x):
        return m.op("LayerNormalization", x, m.constant(np.ones(d, "f4")), m.draw(d), axis=-1)

    x = "x"
    for _ in range(layers):
        q, k, v = (m.op("Transpose", m.op("Reshape", m.linear(x, d, d), split), perm=perm)
                   for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        p = m.op("Softmax", m.op("Mul", m.op("MatMul", q, k), scale), axis=-1)
        a = m.op("Transpose", m.op("MatMul", p, v), perm=[0, 2, 1, 3])
        x = norm(m.op("Add", x, m.linear(m.op("Reshape", a, joined), d, d)))
        y = m.linear(x, d, 4 * d)
        erf = m.op("Add", m.op("Erf", m.op("Div", y, root)), one)
        y = m.op("Mul", m.op("Mul", y, erf), half)
        x = norm(m.op("Add", x, m.linear(y, 4 * d, d)))
    return x


def make(folder, name, form):
    """The file of a model in that form, made if it is not there."""
    import onnx
    from onnxruntime import quantization
    path = folder / f"{name}.{form}.onnx"
    if path.exists():
        return path
    if form == "f32":
        m = Maker()
        y = globals()[name](m)
        h, t = onnx.helper, onnx.TensorProto.FLOAT
        shape = WORDS if name == "bert" else (1, 1000)
        graph = h.make_graph(m.nodes, "g", [h.make_tensor_value_info("x", t, SHAPES[name])],
                             [h.make_tensor_value_info(y, t, shape)], m.weights)
        opset = [h.make_opsetid("", 17)]
        onnx.save(h.make_model(graph, opset_imports=opset, ir_version=8), path)
        return path
    source = make(folder, name, "f32")
    if form == "dynamic":
        quantization.quantize_dynamic(source, path)
        return path
    rng = np.random.default_rng(1)
    drawn = iter([{"x": rng.standard_normal(SHAPES[name]).astype("f4")} for _ in range(2)])

    class Reader(quantization.CalibrationDataReader):
        def get_next(self):
            return next(drawn, None)

    kind = quantization.QuantFormat.QDQ if form == "qdq" else quantization.QuantFormat.QOperator
    quantization.quantize_static(
        source, path, Reader(), quant_format=kind, per_channel=form == "qdq",
        activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)
    return path


def times(call, runs):
    call()
    taken = []
    for _ in range(runs):
        begin = time.perf_counter()
        call()
        taken.append((time.perf_counter() - begin) * 1e3)
    return min(taken), float(np.median(taken))


def measure(path, threads, runs):
    import onnxruntime
    sys.path.append(str(BUILD / "python"))
    import nereid
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    shape = SHAPES[path.name.split(".")[0]]
    x = {"x": np.random.default_rng(5).standard_normal(shape).astype("f4")}
    want, begin = session.run(None, x)[0], time.perf_counter()
    model = nereid.load(str(path), device="cpu")
    got = np.asarray(model.run(x)[0])
    first = time.perf_counter() - begin
    error = np.abs(want - got).max() / np.abs(want).max()
    turns = [(times(lambda: session.run(None, x), runs), times(lambda: model.run(x), runs))
             for _ in range(2)]
    (a, b), (c, d) = (np.min([t[side] for t in turns], 0) for side in (0, 1))
    print(f"{error:8.0e} {a:8.2f} {b:8.2f} {c:8.2f} {d:8.2f} {a / c:6.2f} {b / d:6.2f} "
          f"{first:6.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", default="1,4")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--one", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.one:
        return measure(args.one, int(args.threads), args.runs)
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        for threads in map(int, args.threads.split(",")):
            print(f"{threads} threads{'error':>23} {'ORT ms':>8} {'median':>8} {'ms':>8} "
                  f"{'median':>8} {'ratio':>6} {'':6} {'1st s':>6}")
            for name in args.names or SHAPES:
                for form in FORMS:
                    path = make(folder, name, form)
                    command = [sys.executable, __file__, "--one", path, "--threads", str(threads),
                               "--runs", str(args.runs)]
                    done = subprocess.run(command, capture_output=True, text=True,
                                          env=dict(os.environ, NEREID_THREADS=str(threads)))
                    line = (done.stdout or done.stderr or "none").strip().splitlines()[-1][:90]
                    print(f"{path.name:24} {line}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
