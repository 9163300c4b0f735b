"""Results of ONNX Runtime's for calls of operators, in a file: a line each, "dtype shape | values".

A module of such calls has CALLS, (operator, opset, inputs, attributes, number of results), and
VALUES, the name of the file.
"""
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent


def read(module):
    """The calls as cases of onnx_ops.py."""
    lines = iter((FOLDER / module.VALUES).read_text().splitlines())
    for name, opset, inputs, attributes, count in module.CALLS:
        wanted = []
        for _ in range(count):
            kind, values = next(lines).split("|")
            dtype, *shape = kind.split()
            values = np.array(values.split(), float).astype(dtype)
            wanted.append(values.reshape([int(n) for n in shape]))
        yield name, opset, inputs, attributes, tuple(wanted)


def write(module, model):
    """Writes the file anew: `model` is onnx_ops.model."""
    import onnxruntime
    lines = []
    for name, opset, inputs, attributes, count in module.CALLS:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model(name, opset, inputs, attributes, count),
                                               options, providers=["CPUExecutionProvider"])
        given = {f"x{i}": x for i, x in enumerate(inputs) if x is not None}
        for y in session.run(None, given):
            digits = "" if y.dtype.kind in "iub" else ".7g"
            values = " ".join(f"{v.item() if digits else int(v):{digits}}" for v in y.flat)
            lines.append(f"{y.dtype} {' '.join(map(str, y.shape))}| {values}\n")
    (FOLDER / module.VALUES).write_text("".join(lines))
