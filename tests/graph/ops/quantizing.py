"""PyTorch's quantized_decomposed with scales that are tensors, of tokens and of groups, against
PyTorch, whose results are in quantizing.npz.

    quantizing.py      with PyTorch: computes those results anew
"""
import numpy as np

import recorded

rng = np.random.default_rng(77)


def normal(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def ties(scale, steps):
    """Elements half between two multiples of the scale's inverse, where its rounding decides."""
    return ((np.arange(-steps, steps) + 0.5) / np.float32(1 / scale)).astype(np.float32)


ARRAYS = {
    "x": normal(3, 8), "h": normal(3, 8, dtype=np.float16), "plus": np.abs(normal(5)) + 1,
    "minus": -np.abs(normal(2, 3)) - 1, "none": np.zeros(4, np.float32), "deep": normal(2, 3, 8),
    "sd": np.array([0.0123]), "sf": np.array(0.037, np.float32), "z": np.array([-7]),
    "zi": np.array(3, np.int32), "halves": ties(0.0123, 90), "low": np.array(-9),
    "high": np.array(9), "q": rng.integers(-128, 128, (3, 8)).astype(np.int8),
    "u": rng.integers(0, 256, (3, 8)).astype(np.uint8), "row": rng.random((3, 1)) + 0.01,
    "zero": rng.integers(-9, 9, (3, 1)), "gs": rng.random((3, 2)).astype(np.float32) + 0.1,
    "gz": rng.integers(-9, 9, (3, 2)).astype(np.int32), "whole": normal(3, 1) ** 2 + 0.1,
    "wz": rng.integers(-9, 9, (3, 1)).astype(np.int32), "s_x": normal(4, 6),
}
OF = "quantized_decomposed."
CHOOSE = [f"{OF}choose_qparams{kind}.tensor({x}, {least}, {most}, {eps}, torch.{t}) -> 0,1"
          for kind in ("", "_symmetric") for x in ("x", "plus", "minus", "none", "s_x")
          for least, most, eps, t in ((-128, 127, 1e-5, "int8"), (0, 255, 1.1920929e-07, "uint8"))]
TENSOR = [f"{OF}quantize_per_tensor.tensor({x}, {s}, {z}, {least}, {most}, torch.{t})"
          for x, s, z in (("x", "sd", "z"), ("h", "sf", "zi"), ("halves", "sd", "z"))
          for least, most, t in ((-128, 127, "int8"), (0, 255, "uint8"))]
BACK = [f"{OF}dequantize_per_tensor.tensor({x}, {s}, {z}, {least}, {most}, torch.{t}{out})"
        for x, t, least, most in (("q", "int8", -128, 127), ("u", "uint8", 0, 255))
        for s, z in (("sd", "z"), ("sf", "zi"))
        for out in ("", ", out_dtype=torch.float64", ", out_dtype=torch.float16")]
CALLS = [
    *CHOOSE, *TENSOR, *BACK,
    *(OF + f"quantize_per_tensor.default(halves, {scale}, -7, -128, 127, torch.int8)"
      for scale in (0.0123, 0.0371, 0.7)),
    OF + "quantize_per_tensor.tensor2(x, sd, z, low, high, torch.int8)",
    OF + "dequantize_per_tensor.tensor2(q, sf, zi, low, high, torch.int8)",
    OF + "choose_qparams_per_token_asymmetric.default(x, torch.int8) -> 0,1",
    OF + "choose_qparams_per_token_asymmetric.default(deep, torch.int8) -> 0,1",
    OF + "choose_qparams_per_token_asymmetric.default(minus, torch.int8) -> 0,1",
    OF + "choose_qparams_per_token_asymmetric.default(none, torch.int8) -> 0,1",
    OF + "choose_qparams_per_token_asymmetric.default(s_x, torch.int8) -> 0,1",
    OF + "quantize_per_token.default(x, row, zero, -128, 127, torch.int8)",
    OF + "dequantize_per_token.default(q, row, zero, -128, 127, torch.int8, torch.float32)",
    OF + "quantize_per_channel_group.default(x, gs, gz, -8, 7, torch.int8, 4)",
    OF + "quantize_per_channel_group.default(x, whole, wz, -8, 7, torch.int8, 16)",
    OF + "dequantize_per_channel_group.default(q, gs, gz, -8, 7, torch.int8, 4, torch.float32)",
    OF + "dequantize_per_channel_group.default(q, gs, None, -8, 7, torch.int8, 4, torch.float16)",
    OF + "dequantize_per_channel_group.default(q, whole, wz, -8, 7, torch.int8, 16, "
    "torch.float32)",
]

DEVICES = ("interp", )
CASES = recorded.cases(__file__, CALLS)

if __name__ == "__main__":
    import torch.ao.quantization.fx._decomposed  # noqa: F401
    recorded.record(__file__, CALLS, ARRAYS)
