"""Products of quantized matrices, and quantization by blocks."""
import numpy as np

rng = np.random.default_rng(5)
ARRAYS = {
    "a": rng.integers(-128, 128, (5, 32)).astype(np.int8),
    "b": rng.integers(-128, 128, (32, 6)).astype(np.int8),
    "w": rng.integers(-128, 128, (6, 32)).astype(np.int8),
    "x": rng.normal(size=(5, 32)).astype(np.float32),
    "c": rng.random(6).astype(np.float32),
    "s": (rng.random((6, 4)) + 0.1).astype(np.float32),
    "z": rng.integers(-5, 5, (6, 4)).astype(np.int32),
    "f": rng.normal(size=(6, 4)).astype(np.float32),
    "r": (rng.random((6, 1)) + 0.1).astype(np.float32),
    "y": (rng.normal(size=(6, 32)) * 9).astype(np.float32),
    "e": np.float32(0.5).reshape(1), "g": np.float32(3).reshape(1),
    "h": (rng.random((5, 1)) + 0.1).astype(np.float32),
    "k": (rng.random((1, 6)) + 0.1).astype(np.float32),
    "l": rng.integers(-7, 8, (5, 300)).astype(np.int8),
    "m": rng.integers(-7, 8, (300, 130)).astype(np.int8),
    "lr": np.exp2(rng.integers(-3, 4, (5, 3))).astype(np.float32),
    "lb": np.exp2(rng.integers(-3, 4, (1, 3))).astype(np.float32),
    "mr": np.exp2(rng.integers(-3, 4, (3, 130))).astype(np.float32),
    "lw": np.exp2(rng.integers(-3, 4, (4, 1))).astype(np.float32),
    "mt": np.exp2(rng.integers(-3, 4, (130, 3))).astype(np.float32),
    "mw": np.exp2(rng.integers(-3, 4, (4, 2))).astype(np.float32),
    "lv": np.exp2(rng.integers(-3, 4, 5)).astype(np.float32),
    "mv": np.exp2(rng.integers(-3, 4, (130, 1))).astype(np.float32),
    "mb": np.exp2(rng.integers(-3, 4, (3, 2))).astype(np.float32),
}


def in_blocks(l, m, rows, columns):
    """The product of operands with scales of blocks."""
    def scaled(x, scales):
        for axis, n in enumerate(x.shape):
            if scales.shape[axis] != n:
                scales = np.repeat(scales, 128, axis).take(range(n), axis)
        return x * scales.astype(np.float64)
    return (scaled(l, rows) @ scaled(m, columns)).astype(np.float32)


EIGHT = ("_to_copy.default(l, dtype=torch.float8_e4m3fn);"
         " _to_copy.default(m, dtype=torch.float8_e5m2); clamp.default(m, -4, 4);"
         " _to_copy.default($2, dtype=torch.float8_e5m2); ")
few = lambda m: np.clip(m, -4, 4)


def blocks(x):
    return x.reshape(6, 4, 8)


def dequantize(w, s, z=None):
    y = blocks(w).astype(np.int32)
    y = y - z[:, :, None] if z is not None else y
    return (y.astype(np.float32) * s[:, :, None]).reshape(6, 32)


def quantize(y, s, z, low=-128, high=127):
    q = np.rint(blocks(y) * (np.float32(1) / s[:, :, None])) + z[:, :, None]
    return np.clip(q, low, high).astype(np.int8).reshape(6, 32)


def parameters(y, low, high, symmetric):
    least, most = np.minimum(y.min(1), 0), np.maximum(y.max(1), 0)
    if symmetric:
        scale = np.maximum(-least, most) / np.float32((high - low) / 2)
        return scale, np.full(6, int((high + low + 1) / 2), np.int32)
    scale = (most - least) / np.float32(high - low)
    return scale, np.clip(low - np.rint(least / scale), low, high).astype(np.int32)


def unclipped(y, low, high):
    least, most = np.minimum(y.min(1), 0), np.maximum(y.max(1), 0)
    scale = np.maximum(least / np.float32(low), most / np.float32(high))
    return scale[:, None], np.zeros((6, 1), np.float32)


def f8(x):
    """Integers of few bits are numbers of fp8."""
    return np.clip(x, -7, 7).astype(np.float32)


CASES = [
    ("_int_mm.default(a, b)", lambda a, b: a.astype(np.int32) @ b.astype(np.int32)),
    ("_weight_int8pack_mm.default(x, w, c)",
     lambda x, w, c: (x @ w.T.astype(np.float32)) * c),
    ("clamp.default(a, -7, 7); clamp.default(b, -7, 7);"
     " _to_copy.default($0, dtype=torch.float8_e4m3fn);"
     " _to_copy.default($1, dtype=torch.float8_e4m3fn);"
     " _scaled_mm.default($2, $3, e, g, out_dtype=torch.float32)",
     lambda a, b, e, g: f8(a) @ f8(b) * np.float32(1.5)),
    ("clamp.default(a, -7, 7); clamp.default(b, -7, 7);"
     " _to_copy.default($0, dtype=torch.float8_e4m3fn);"
     " _to_copy.default($1, dtype=torch.float8_e5m2);"
     " clamp.default($1, -4, 4); _to_copy.default($4, dtype=torch.float8_e5m2);"
     " _scaled_mm.default($2, $5, h, k, c, None, torch.float32)",
     lambda a, b, h, k, c: f8(a) @ np.clip(b, -4, 4).astype(np.float32) * h * k + c),
    (EIGHT + "_scaled_mm.default($0, $3, lr, mb, out_dtype=torch.float32)",
     lambda l, m, lr, mb: in_blocks(l, few(m), lr, mb)),
    (EIGHT + "_scaled_mm.default($0, $3, lr, mr, out_dtype=torch.float32)",
     lambda l, m, lr, mr: in_blocks(l, few(m), lr, mr)),
    (EIGHT + "_scaled_mm.default($0, $3, lb, mr, out_dtype=torch.float32)",
     lambda l, m, lb, mr: in_blocks(l, few(m), lb, mr)),
    (EIGHT + "_scaled_mm_v2.default($0, $3, [e], [0], [0], [g], [0], [0], None, torch.float32)",
     lambda l, m, e, g: l.astype(np.float32) @ few(m) * np.float32(1.5)),
    (EIGHT + "_scaled_mm_v2.default($0, $3, [lv], [1], [0], [mv], [1], [0], None, torch.float32)",
     lambda l, m, lv, mv: l.astype(np.float32) @ few(m) * lv[:, None] * mv.T),
    (EIGHT + "_scaled_mm_v2.default($0, $3, [lr], [4], [0], [mw], [5], [0], None, torch.float32)",
     lambda l, m, lr, mw: in_blocks(l, few(m), lr, mw[:3])),
    (EIGHT + "_scaled_mm_v2.default($0, $3, [lr], [4], [0], [mt], [4], [0], None, torch.float32)",
     lambda l, m, lr, mt: in_blocks(l, few(m), lr, mt.T)),
    (EIGHT + "_scaled_mm_v2.default($0, $3, [lw], [5], [0], [mt], [4], [0], None, torch.float32)",
     lambda l, m, lw, mt: in_blocks(l, few(m), lw[:3].T, mt.T)),
    (EIGHT + "nereid.float8_mm.default($0, $3)",
     lambda l, m: (l.astype(np.float32) @ few(m).astype(np.float32))),
    (EIGHT + "nereid.float8_mm.default($0, $3, lr, mb, columns=128)",
     lambda l, m, lr, mb: in_blocks(l, few(m), lr, mb)),
    (EIGHT + "nereid.float8_mm.default($0, $3, lr, mr, promotes=True)",
     lambda l, m, lr, mr: in_blocks(l, few(m), lr, mr)),
    (EIGHT + "nereid.float8_mm.default($0, $3, lb, mr, rows=128)",
     lambda l, m, lb, mr: in_blocks(l, few(m), lb, mr)),
    ("torchao.dequantize_affine.default(w, [1, 8], s, z, torch.int8)", dequantize),
    ("torchao.dequantize_affine.default(w, [1, 8], s, None, torch.int8, -8, 7)", dequantize),
    ("torchao.dequantize_affine.default(w, [1, 32], r, None, torch.int8)",
     lambda w, r: w.astype(np.float32) * r),
    ("torchao.dequantize_affine.default(w, [1, 8], s, f, torch.int8, 0, 15, 'FLOAT')",
     lambda w, s, f: ((blocks(w) - np.float32(8)) * s[:, :, None] + f[:, :, None])
     .astype(np.float32).reshape(6, 32)),
    ("torchao.quantize_affine.default(y, [1, 8], s, z, torch.int8)", quantize),
    ("torchao.quantize_affine.default(y, [1, 8], s, z, torch.int8, -8, 7)",
     lambda y, s, z: quantize(y, s, z, -8, 7)),
    ("torchao.choose_qparams_affine.default(y, 'SYMMETRIC', [1, 32], torch.int8,"
     " zero_point_dtype=torch.int32) -> 0,1", lambda y: parameters(y, -128, 127, True)),
    ("torchao.choose_qparams_affine.default(y, 'ASYMMETRIC', [1, 32], torch.int8, -8, 7,"
     " zero_point_dtype=torch.int32) -> 0,1", lambda y: parameters(y, -8, 7, False)),
    ("torchao.choose_qparams_affine.default(y, 'SYMMETRIC_NO_CLIPPING_ERR', [1, 32], torch.int8,"
     " -8, 7, keepdim=True) -> 0,1", lambda y: unclipped(y, -8, 7)),
    ("mul.Tensor(y, 0); torchao.choose_qparams_affine.default($0, 'ASYMMETRIC', [1, 32],"
     " torch.int8) -> 0,1",
     lambda y: (np.full(6, 2.0 ** -126, np.float32), np.full(6, -128, np.int32))),
]
