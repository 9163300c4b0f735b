#!/usr/bin/env python3
"""Runs a model (.onnx, .pt2, a graph as text) on drawn inputs.

    python run_model.py [MODEL] [DEVICE]
"""
import sys

import nereid
import numpy as np

MODEL = """
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 64]", w: "f32[64, 16]"):
        mm: "f32[s0, 16]" = torch.ops.aten.mm.default(x, w)
        relu: "f32[s0, 16]" = torch.ops.aten.relu.default(mm)
        return (relu,)
"""
OPEN = 8  # what sizes are that the model leaves open

model = nereid.load(sys.argv[1] if len(sys.argv) > 1 else MODEL,
                    device=sys.argv[2] if len(sys.argv) > 2 else "cpu")
draw = np.random.default_rng(0)
inputs = {}
for value in model.inputs:
    print("input", value.name, value.type)
    if value.is_number:
        inputs[value.name] = OPEN
        continue
    shape = [OPEN if isinstance(size, str) else size for size in value.shape]
    kind = {"f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "b8": "bool"}
    x = draw.standard_normal(shape) if value.dtype[0] == "f" else np.zeros(shape)
    inputs[value.name] = x.astype(kind[value.dtype])
for value, result in zip(model.outputs, model.run(inputs)):
    if value is not None:
        print("output", value.name, value.type, np.asarray(result).ravel()[:4])
print(model.explain(inputs))
