#!/usr/bin/env python3
"""Attention in graphs against NumPy: dtypes, widths, masks, grouped heads, caches; and that each
case takes as many kernels of which kind as it should.

    attention.py [--devices interp,nest,cpu] [NAME...]      only cases whose name has a NAME
"""
import argparse, os, pathlib, re, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
SDPA = "torch.ops.aten.scaled_dot_product_attention.default"
CASES = {}
KINDS = {np.dtype("float32"): "f32", np.dtype("float16"): "f16", np.dtype("bool"): "b8",
         np.dtype("int64"): "i64"}
TOLERANCE = {"f32": 2e-6, "f16": 2e-3, "bf16": 2e-2}
MIN = float(np.finfo(np.float32).min)


class Case:
    """inputs: arrays by name; lines: the graph's body, which ends in `out`; expected: what out is;
    groups: the kinds of kernels in it, None: any; shapes: annotations other than the arrays'
    own; vectors: operands have more than one column."""

    def __init__(self, inputs, lines, expected, groups="attention", dtype="f32", shapes=None,
                 vectors=True):
        self.inputs, self.lines, self.expected = inputs, lines, expected
        self.vectors = vectors
        self.groups, self.dtype, self.shapes = groups, dtype, shapes or {}

    def text(self):
        sizes = {n: self.shapes.get(n, list(x.shape)) for n, x in self.inputs.items()}
        parameters = ", ".join(f'{n}: "{KINDS[x.dtype]}[{", ".join(map(str, sizes[n]))}]"'
                               for n, x in self.inputs.items())
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def forward(self, {parameters}):\n{body}    return (out,)\n"


def normal(seed, *shape, dtype=np.float32):
    return np.random.default_rng(seed).normal(0, 1, shape).astype(dtype)


def attention(q, k, v, mask=None, causal=False, scale=None):
    """In f64; rows that see nothing are 0, as in PyTorch."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    times = q.shape[-3] // k.shape[-3] if q.ndim > 2 else 1
    if times > 1:
        k, v = (np.repeat(x, times, axis=-3) for x in (k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1]**-0.5 if scale is None else scale)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    most = scores.max(-1, keepdims=True, initial=-np.inf)
    p = np.exp(scores - np.where(most == -np.inf, 0, most))
    v = np.where(np.isnan(v), 0, v)
    total = p.sum(-1, keepdims=True)
    return p @ v / np.where(total == 0, 1, total)


def qkv(b, h, t, s, d, e=None, kv=None):
    return {"q": normal(1, b, h, t, d), "k": normal(2, b, kv or h, s, d),
            "v": normal(3, b, kv or h, s, e or d)}


def transposed(inputs, lines, expected, **more):
    """As models do behind it: then the result needs no copy."""
    return Case(inputs, lines + ["out = torch.ops.aten.transpose.int(a, 1, 2)"],
                np.swapaxes(expected, 1, 2), **more)


def plain(name, inputs, arguments="", causal=False, scale=None, **more):
    q, k, v, *mask = inputs.values()
    expected = attention(q, k, v, *mask, causal=causal, scale=scale)
    lines = [f"a = {SDPA}({', '.join(inputs)}{arguments})"]
    CASES[name] = transposed(inputs, lines, expected, **more)


def in_dtype(name, dtype, inputs, arguments="", causal=False):
    """Cast to the dtype before, and to f32 behind it."""
    kind = {"bf16": "torch.bfloat16", "f16": "torch.float16"}[dtype]
    lines = [f"{n}c = torch.ops.aten.to.dtype({n}, {kind})" for n in inputs]
    lines += [f"b = {SDPA}(qc, kc, vc{arguments})", "t = torch.ops.aten.transpose.int(b, 1, 2)",
              "out = torch.ops.aten.to.dtype(t, torch.float32)"]
    expected = np.swapaxes(attention(*inputs.values(), causal=causal), 1, 2)
    CASES[name] = Case(inputs, lines, expected, dtype=dtype, groups="loops loops loops attention")


def define():
    plain("full", qkv(2, 3, 5, 7, 16))
    plain("blocks", qkv(1, 2, 70, 96, 16))
    plain("one key", qkv(1, 2, 3, 1, 16))
    plain("causal", qkv(1, 2, 80, 80, 16), ", None, 0.0, True", causal=True)
    plain("causal, more keys", qkv(1, 1, 9, 70, 16), ", None, 0.0, True", causal=True)
    plain("causal, more rows", qkv(1, 1, 70, 33, 16), ", None, 0.0, True", causal=True)
    plain("scale", qkv(1, 2, 5, 40, 16), ", scale=0.7", scale=0.7)
    for width in 1, 20, 40, 64, 80, 128, 256:
        plain(f"width {width}", qkv(1, 1, 6, 40, width), vectors=width > 1)
    plain("widths differ", qkv(1, 2, 6, 40, 24, 40))
    plain("too wide", qkv(1, 1, 3, 5, 260), groups="matmul loops matmul")
    in_dtype("bf16", "bf16", qkv(1, 2, 20, 70, 64))
    in_dtype("f16 causal", "f16", qkv(1, 2, 40, 40, 32), ", None, 0.0, True", causal=True)
    rank("rank 3", (2, ), (2, ))
    rank("rank 2", (), ())
    rank("leading axes broadcast", (3, 1), (3, ), "attention loops")
    rank("more values than keys", (1, 2), (1, 2), "attention loops", v=(3, 2))
    rank("values of more axes", (2, ), (2, ), "attention loops", v=(3, 1))
    masks()
    places()
    packed()
    heads()
    layouts()
    symbolic()
    shares()
    parts()
    lanes()
    words()


def words():
    """bf16, which CPUs multiply in words: many rows and few, odd numbers of keys, rests of blocks,
    shares, masks that are a function of places, given ones, and those that are added."""
    rng = np.random.default_rng(13)
    for t, s, d, kv in ((16, 3, 16, 3), (49, 49, 32, 3), (130, 131, 48, 1), (70, 263, 16, 3),
                        (1, 97, 32, 3), (5, 1100, 16, 1), (35, 90, 40, 3), (20, 1100, 24, 3)):
        inputs = qkv(1, 3, t, s, d, kv=kv)
        seen = rng.random((t, s)) < 0.5
        seen[:, 0] = True
        hidden = np.where(seen, 0, -np.inf).astype(np.float32)
        causal = ", None, 0.0, True, enable_gqa=True"
        for name, mask, arguments in (("", None, ", enable_gqa=True"), (", causal", None, causal),
                                      (", a mask", seen, ", m, enable_gqa=True"),
                                      (", -inf", hidden, ", mc, enable_gqa=True")):
            given = {**inputs, **({} if mask is None else {"m": mask})}
            lines = [f"{n}c = torch.ops.aten.to.dtype({n}, torch.bfloat16)" for n in given]
            lines += [f"b = {SDPA}(qc, kc, vc{arguments})",
                      "t = torch.ops.aten.transpose.int(b, 1, 2)",
                      "out = torch.ops.aten.to.dtype(t, torch.float32)"]
            expected = attention(*inputs.values(), mask=mask, causal="True, e" in arguments)
            CASES[f"words of {t} rows by {s} of {d}{name}"] = Case(
                given, lines, np.swapaxes(expected, 1, 2), dtype="bf16", groups=None)


def lanes():
    """Rows that are lanes of a CPU: blocks of keys with rests of all kinds."""
    rng = np.random.default_rng(12)
    for t, s, d in (16, 3, 16), (49, 49, 32), (21, 131, 48), (70, 263, 16), (35, 90, 40):
        inputs = qkv(1, 2, t, s, d)
        seen = rng.random((t, s)) < 0.5
        seen[2] = False
        hidden = np.where(seen, 0, -np.inf).astype(np.float32)
        masks = {"": {}, ", a mask": {"mask": seen}, ", a bias": {"mask": normal(5, 2, t, s)},
                 ", -inf": {"mask": hidden}, ", padding": {"mask": rng.random((1, 1, 1, s)) < 0.6}}
        for name, mask in masks.items():
            plain(f"{t} rows by {s} of {d}{name}", {**inputs, **mask})
    plain("49 rows, a negative scale", qkv(1, 2, 49, 49, 32), ", scale=-0.7", scale=-0.7)
    plain("70 rows, widths differ", qkv(1, 2, 70, 40, 16, 48))
    plain("33 rows of shared keys", qkv(1, 6, 33, 21, 16, kv=2), ", enable_gqa=True")
    plain("any rows and keys", qkv(2, 2, 70, 40, 16),
          shapes={"q": [2, 2, "s0", 16], **{n: [2, 2, "s1", 16] for n in "kv"}})


    seen = rng.random((1, 1, 20, 1100)) < 0.5
    for name, mask in ("", {}), (", a mask", {"mask": seen}):
        plain(f"20 rows by 1100 keys in shares{name}", {**qkv(1, 2, 20, 1100, 24), **mask},
              groups="attention loops")


def rank(name, q, kv, groups="attention", v=None):
    v = kv if v is None else v
    inputs = {"q": normal(1, *q, 5, 16), "k": normal(2, *kv, 9, 16), "v": normal(3, *v, 9, 16)}
    scores = inputs["q"].astype(np.float64) @ np.swapaxes(inputs["k"], -1, -2) / 4
    p = np.exp(scores - scores.max(-1, keepdims=True))
    expected = p / p.sum(-1, keepdims=True) @ inputs["v"]
    CASES[name] = Case(inputs, [f"out = {SDPA}(q, k, v)"], expected, groups)


def masks():
    rng = np.random.default_rng(4)
    b, h, t, s = 2, 3, 6, 70
    for shape in [(t, s), (1, 1, t, s), (b, 1, 1, s), (b, h, t, s), (h, 1, s), (1, 1, t, 1)]:
        mask = rng.random(shape) < 0.6
        mask[..., :1] |= mask.shape[-1] > 1
        plain(f"mask {list(shape)}", {**qkv(b, h, t, s, 16), "mask": mask})
        plain(f"bias {list(shape)}", {**qkv(b, h, t, s, 16), "mask": normal(5, *shape)})
    nothing = rng.random((b, 1, t, s)) < 0.5
    nothing[0, 0, 2], nothing[1, 0, 0, :64] = False, False
    plain("rows that see nothing", {**qkv(b, h, t, s, 16), "mask": nothing})
    least = np.where(nothing, 0, MIN).astype(np.float32)
    plain("rows of the least float", {**qkv(b, h, t, s, 16), "mask": least})
    infinite = np.where(nothing, 0, -np.inf).astype(np.float32)
    plain("rows of -inf", {**qkv(b, h, t, s, 16), "mask": infinite})
    inputs = {**qkv(1, 2, 6, 40, 16), "seen": nothing[:1, :, :, :40]}
    lines = ["mask = torch.ops.aten.where.Scalar(seen, 0.0, -inf)", f"a = {SDPA}(q, k, v, mask)"]
    q, k, v, seen = inputs.values()
    CASES["a mask made of another"] = transposed(inputs, lines, attention(q, k, v, seen))


ROW_AND_KEY = ["r = torch.ops.aten.arange.default({t})",
               "r1 = torch.ops.aten.unsqueeze.default(r, 1)",
               "c = torch.ops.aten.arange.default({s})"]


def limits(name, lines, seen, extra=(), t=70, s=70, h=2, kv=2, **more):
    """A mask that is made of places, beside `extra` inputs."""
    inputs = {**qkv(2, h, t, s, 16, kv=kv), **dict(extra)}
    before = [line.format(t=t, s=s) for line in ROW_AND_KEY]
    lines = before + lines + [f"a = {SDPA}(q, k, v, mask, enable_gqa=True)"]
    q, k, v = (inputs[n] for n in "qkv")
    r, c = np.arange(t)[:, None], np.arange(s)
    CASES[name] = transposed(inputs, lines, attention(q, k, v, seen(r, c)), **more)


def places():
    def op(name, *args):
        return f"torch.ops.aten.{name}({', '.join(args)})"
    causal = ["m = " + op("le.Tensor", "c", "r1")]
    limits("causal by places", causal + ["mask = " + op("unsqueeze.default", "m", "0")],
           lambda r, c: c <= r)
    limits("causal from the end", ["r2 = " + op("add.Tensor", "r1", "30"),
                                   "mask = " + op("ge.Tensor", "r2", "c")],
           lambda r, c: c <= r + 30, t=40)
    window = ["l = " + op("sub.Tensor", "r1", "20"), "w = " + op("gt.Tensor", "c", "l"),
              "mask = " + op("bitwise_and.Tensor", "m", "w")]
    limits("a window", causal + window, lambda r, c: (c <= r) & (c > r - 20), t=150, s=150)
    limits("a window ahead", ["f = " + op("sub.Tensor", "c", "r1"),
                              "x = " + op("ge.Scalar", "f", "5"),
                              "y = " + op("lt.Scalar", "f", "40"),
                              "mask = " + op("logical_and.default", "x", "y")],
           lambda r, c: (c >= r + 5) & (c < r + 40), t=150)
    limits("not behind", ["g = " + op("gt.Tensor", "c", "r1"),
                          "mask = " + op("logical_not.default", "g")],
           lambda r, c: c <= r)
    rng = np.random.default_rng(6)
    padding = rng.random((2, 1, 1, 70)) < 0.6
    limits("causal with padding", causal + ["mask = " + op("bitwise_and.Tensor", "m", "padding")],
           lambda r, c: (c <= r) & padding, {"padding": padding})
    limits("or is no limit", causal + ["mask = " + op("bitwise_or.Tensor", "m", "padding")],
           lambda r, c: (c <= r) | padding, {"padding": padding})
    for number in "-inf", str(MIN):
        limits(f"added {number[:4]}", causal + [f"mask = {op('where.Scalar', 'm', '0.0', number)}"],
               lambda r, c: c <= r)
    limits("triu of -inf", ["n = " + op("full.default", "[70, 70]", "-inf"),
                            "mask = " + op("triu.default", "n", "1")], lambda r, c: c <= r)
    end = ["r2 = " + op("add.Tensor", "r1", "{}"), "m = " + op("ge.Tensor", "r2", "c")]
    for t, s, h, kv in (5, 600, 8, 2), (3, 70, 6, 1), (20, 90, 8, 2), (63, 64, 4, 2):
        shape = dict(t=t, s=s, h=h, kv=kv, groups="attention loops" if s == 600 else "attention")
        begin = [end[0].format(s - t), end[1]]
        limits(f"packed rows of {h} heads, {t} by {s}",
               begin + ["mask = " + op("unsqueeze.default", "m", "0")],
               lambda r, c, n=s - t: c <= r + n, **shape)
        narrow = ["l = " + op("sub.Tensor", "r2", "9"), "w = " + op("gt.Tensor", "c", "l"),
                  "mask = " + op("bitwise_and.Tensor", "m", "w")]
        limits(f"packed window of {h} heads, {t} by {s}", begin + narrow,
               lambda r, c, n=s - t: (c <= r + n) & (c > r + n - 9), **shape)
    limits("all is seen", ["x = " + op("ge.Scalar", "r1", "0"),
                           "mask = " + op("expand.default", "x", "[70, 70]")],
           lambda r, c: (r >= 0) & (c >= 0))


def packed():
    """Few rows of heads that share their keys."""
    gqa = ", enable_gqa=True"
    rng = np.random.default_rng(11)
    for t, s in (2, 40), (7, 500), (17, 33):
        groups = "attention loops" if s == 500 else "attention"
        inputs = qkv(2, 6, t, s, 16, kv=2)
        masks = {"of heads": rng.random((2, 6, t, s)) < 0.6, "of rows": rng.random((t, s)) < 0.6,
                 "of batches": rng.random((2, 1, 1, s)) < 0.6, "added": normal(5, 6, t, s)}
        for name, mask in masks.items():
            plain(f"packed, {t} rows, a mask {name}", {**inputs, "mask": mask}, gqa, groups=groups)
        plain(f"packed, {t} rows, causal", inputs, ", None, 0.0, True" + gqa, causal=True,
              groups=groups)
    open_sizes = {"q": ["s0", 6, 5, 16], **{n: ["s0", 2, "s1", 16] for n in "kv"}}
    plain("packed, any keys", qkv(2, 6, 5, 70, 16, kv=2), gqa, shapes=open_sizes,
          groups="attention loops")
    in_dtype("packed in f16", "f16", qkv(2, 8, 4, 50, 32, kv=2), gqa)


def heads():
    plain("grouped heads", qkv(2, 6, 5, 9, 16, kv=2), ", enable_gqa=True")
    inputs = qkv(2, 6, 5, 9, 16, kv=2)
    lines = []
    for x in "kv":
        lines += [f"{x}1 = torch.ops.aten.unsqueeze.default({x}, 2)",
                  f"{x}2 = torch.ops.aten.expand.default({x}1, [2, 2, 3, 9, 16])",
                  f"{x}3 = torch.ops.aten.reshape.default({x}2, [2, 6, 9, 16])"]
    gqa = f"out = {SDPA}(q, k, v, enable_gqa=True)"
    open_heads = {"q": [2, "h", 5, 16], "k": [2, "g", 9, 16], "v": [2, "g", 9, 16]}
    CASES["grouped heads of any number"] = Case(inputs, [gqa], attention(*inputs.values()),
                                                "attention loops", shapes=open_heads)
    fewer = {"q": inputs["q"][0], "k": inputs["k"], "v": inputs["v"][:1]}
    CASES["grouped heads, fewer axes"] = Case(fewer, [gqa], attention(*fewer.values()),
                                              "attention loops")
    CASES["repeated heads"] = transposed(inputs, lines + [f"a = {SDPA}(q, k3, v3)"],
                                         attention(*inputs.values()))


def layouts():
    """Heads cut from one projection, and put beside each other again."""
    x = normal(1, 2, 20, 3 * 4 * 16)
    lines = ["c = torch.ops.aten.chunk.default(x, 3, -1)"]
    for i, n in enumerate("qkv"):
        lines += [f"{n} = c[{i}]", f"{n}1 = torch.ops.aten.view.default({n}, [2, 20, 4, 16])",
                  f"{n}2 = torch.ops.aten.transpose.int({n}1, 1, 2)"]
    lines += [f"a = {SDPA}(q2, k2, v2)", "t = torch.ops.aten.transpose.int(a, 1, 2)",
              "r = torch.ops.aten.reshape.default(t, [2, 20, 64])",
              "out = torch.ops.aten.mul.Tensor(r, 2.0)"]
    q, k, v = (np.swapaxes(y.reshape(2, 20, 4, 16), 1, 2) for y in np.split(x, 3, -1))
    y = 2 * np.swapaxes(attention(q, k, v), 1, 2).reshape(2, 20, 64)
    CASES["cut from one tensor"] = Case({"x": x}, lines, y)


def symbolic():
    shapes = {"q": ["s0", 2, "s1", 16], "k": ["s0", 2, "s2", 16], "v": ["s0", 2, "s2", 16],
              "mask": ["s0", 1, 1, "s2"]}
    plain("symbolic", qkv(2, 2, 70, 40, 16), shapes=shapes)
    same = {n: ["s0", 2, "s1", 16] for n in "qkv"}
    plain("symbolic causal", qkv(2, 2, 70, 70, 16), ", None, 0.0, True", causal=True, shapes=same)
    mask = np.random.default_rng(7).random((2, 1, 1, 40)) < 0.7
    plain("symbolic sum of keys", qkv(2, 2, 7, 70, 16),
          shapes={"q": [2, 2, "s0", 16], **{n: [2, 2, "s0 + s1", 16] for n in "kv"}})
    plain("symbolic mask", {**qkv(2, 2, 7, 40, 16), "mask": mask}, shapes=shapes)


def parts():
    """What PyTorch chooses for a device, as AOTAutograd's graphs have it."""
    inputs = {**qkv(2, 2, 6, 40, 16), "mask": normal(5, 2, 1, 6, 40)}
    op = "torch.ops.aten._scaled_dot_product_{}_attention{}.default"
    calls = {"flash for cpu": (op.format("flash", "_for_cpu"), "attn_mask = mask"),
             "efficient": (op.format("efficient", ""), "mask, True"),
             "cudnn": (op.format("cudnn", ""), "mask, True"), "flash": (op.format("flash", ""), "")}
    q, k, v, mask = inputs.values()
    for name, (target, arguments) in calls.items():
        own = {n: x for n, x in inputs.items() if n != "mask" or "mask" in arguments}
        lines = [f"l = {target}(q, k, v{', ' * bool(arguments)}{arguments})"]
        CASES[name] = transposed(own, lines + ["a = l[0]"],
                                 attention(q, k, v, mask if "mask" in own else None))


def shares():
    """Few rows and many keys: programs share the keys."""
    more = {"groups": "attention loops"}
    plain("decode", qkv(1, 2, 1, 600, 16), **more)
    plain("decode symbolic", qkv(1, 2, 1, 600, 16), **more,
          shapes={n: [1, 2, "s0", 16] for n in "kv"})
    plain("few keys of many", qkv(1, 2, 1, 40, 16), **more,
          shapes={n: [1, 2, "s0", 16] for n in "kv"})
    mask = np.arange(600)[None, None, None] <= 70
    plain("decode from a cache", {**qkv(1, 2, 1, 600, 16), "mask": mask}, **more)
    grouped = qkv(2, 8, 1, 600, 16, kv=2)
    plain("decode grouped", grouped, ", enable_gqa=True", **more)
    plain("decode for one key", {**grouped, **qkv(2, 8, 1, 600, 16, kv=1)}, ", enable_gqa=True",
          **more)
    some = {**grouped, "mask": np.random.default_rng(9).random((2, 8, 1, 600)) < 0.5}
    plain("decode grouped with masks", some, ", enable_gqa=True", **more)
    few = {**qkv(2, 8, 1, 30, 16, kv=2), "mask": some["mask"][..., :30]}
    plain("decode grouped, few keys", few, ", enable_gqa=True")
    bias = normal(8, 1, 2, 1, 600)
    plain("decode with a bias", {**qkv(1, 2, 1, 600, 16), "mask": bias}, **more)
    plain("decode nothing", {**qkv(1, 2, 1, 600, 16), "mask": mask & False}, **more)
    prefixes = np.arange(600) <= np.array([70, 330, 20, -1])[:, None]
    plain("decode rows of their own", {**qkv(2, 2, 4, 600, 16), "mask": prefixes}, **more)
    plain("decode a window", {**grouped, "mask": (np.arange(600) > 320) & (np.arange(600) < 400)
                              & np.ones((1, 1, 1, 1), bool)}, ", enable_gqa=True", **more)
    hidden = np.where(mask, 0, -np.inf).astype(np.float32)
    plain("decode by -inf", {**qkv(1, 2, 1, 600, 16), "mask": hidden}, **more)
    plain("decode symbolic with a mask", {**qkv(1, 2, 1, 600, 16), "mask": mask}, **more,
          shapes={**{n: [1, 2, "s0", 16] for n in "kv"}, "mask": [1, 1, 1, "s0"]})
    batches = np.arange(300) <= np.arange(90)[:, None, None, None]
    plain("decode of many batches", {**qkv(90, 3, 1, 300, 16), "mask": batches})
    # What no row sees is not read: a cache may have anything there.
    cache = {**qkv(2, 8, 1, 600, 16, kv=2), "mask": np.arange(600)[None, None, None] <= 250}
    cache["v"][:, :, 320:] = np.nan
    plain("decode beside what is not read", cache, ", enable_gqa=True", **more)
    plain("a few rows", qkv(1, 2, 3, 600, 16), ", None, 0.0, True", causal=True, **more)


# ---- running ----


def nereid(*args):
    done = subprocess.run([NEREID, "graph", *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def problem(case, devices):
    """What is wrong with a case; "" if nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "graph.py")
        file.write_text(case.text())
        files = []
        for name, x in case.inputs.items():
            files.append(pathlib.Path(folder, f"{name}.npy"))
            np.save(files[-1], x)
        status, fused, messages = nereid(file, "--emit", "fused")
        groups = " ".join(line.split()[1] for line in fused.splitlines()
                          if not line.startswith("#"))
        if status or case.groups and groups != case.groups:
            return f"kernels: {groups or messages}"
        # An index that adds nothing would keep loads narrow.
        if case.vectors and "d * 0" in nereid(file, "--emit", "kernels")[1]:
            return "a load is widened by an index that it has"
        for device in devices:
            status, _, messages = nereid(file, *files, "--device", device, "--out-dir", folder)
            if status:
                return f"{device}: {messages}"
            got = np.load(pathlib.Path(folder, "output_0.npy"))
            error = np.linalg.norm(got - case.expected) / (np.linalg.norm(case.expected) or 1)
            if got.shape != case.expected.shape or not error < TOLERANCE[case.dtype]:
                return f"{device}: shape {list(got.shape)}, error {error:.3g} of the norm"
    return ""


# ---- kernels for Hopper, on the interpreter of loop nests ----


def run_on_hopper(text, arrays):
    """The result of a plan's first kernel, for a GPU with warpgroups, and the text."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "graph.py").write_text(text)
        status, plan, messages = nereid(folder / "graph.py", "--device", "cuda", "--emit", "plan")
        if status:
            raise RuntimeError(messages)
        head, source = plan.split("\nsource\n")
        (folder / "kernel.py").write_text(source)
        step = next(line for line in head.splitlines() if line.startswith("step k0_attention("))
        constants = re.findall(r"(BM|BN|BD|BE): (\d+)", step)
        warps, stages = re.search(r"warps (\d+) stages (\d+)", step).groups()
        grid = re.search(r"grid ([\d, ]*\d)", step)[1].replace(" ", "")
        out = re.search(r"out0_ptr = (%\w+)", step)[1]
        dtype, shape = re.search(rf'{out} .*?"(\w+)\[([\d, ]*)\]"', head).groups()
        given = [f"out0_ptr=zeros:{dtype}[{shape.replace(' ', '')}]"]
        for parameter, name in re.findall(r"(in\d+_ptr) = %(\w+)", step):
            np.save(folder / f"{name}.npy", arrays[name])
            given.append(f"{parameter}=@{folder}/{name}.npy")
        given += [x for n, v in constants for x in ("-D", f"{n}={v}")]
        done = subprocess.run([NEREID, "run", folder / "kernel.py:k0_attention", *given,
                               "--num-warps", warps, "--num-stages", stages, "--grid", grid,
                               "--device", "nest", "--target", "sm_90a", "--out",
                               f"out0_ptr={folder}/out.npy"], text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return np.load(folder / "out.npy").astype(np.float64), source


def typed(arrays):
    names = {"float16": "f16", "float32": "f32"}
    return ", ".join(f'{n}: "{names[str(x.dtype)]}[{", ".join(map(str, x.shape))}]"'
                     for n, x in arrays.items())


def compare(got, want):
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    return "" if got.shape == want.shape and error < 1e-3 else f"error {error:.3g} of the norm"


# Columns of keys and values, rows, keys, heads, heads of keys.
WIDTHS = [(80, 80, 70, 130, 1, 1), (96, 96, 64, 128, 1, 1), (192, 128, 70, 100, 1, 1),
          (160, 160, 66, 90, 1, 1), (64, 64, 5, 300, 8, 2), (128, 128, 20, 70, 4, 1),
          (576, 512, 1, 300, 16, 1), (576, 512, 40, 50, 2, 1), (512, 320, 70, 40, 1, 1)]


def widths_on_hopper(d, e, t, s, h, kv):
    arrays = {n: x.astype(np.float16) for n, x in qkv(1, h, t, s, d, e, kv).items()}
    text = (f"def forward(self, {typed(arrays)}):\n    a = {SDPA}(q, k, v, enable_gqa=True)\n"
            "    b = torch.ops.aten.permute.default(a, [0, 2, 1, 3])\n    return (b,)\n")
    got, _ = run_on_hopper(text, arrays)
    if got.shape[-1] > e:  # shares: results, and the logarithm of their sums
        part, log = got[..., :e], got[..., e:e + 1]
        weight = np.exp(log - log.max(0))
        got = (weight * part).sum(0) / weight.sum(0)
    return compare(got, np.swapaxes(attention(*arrays.values()), 1, 2))


# Functions of scores as lines of a graph, the same in NumPy, and what their kernels don't have.
# Before them are `row` and `key`, integers of 64 bits, and `table`, of 200 numbers.
ATEN = "torch.ops.aten"
FUNCTIONS = {
    "scaled": (f"y = {ATEN}.mul.Tensor(x, 0.5)", lambda x, row, key: x * 0.5, "factor"),
    "capped": (f"a = {ATEN}.div.Tensor(x, 3)\nb = {ATEN}.tanh.default(a)\n"
               f"y = {ATEN}.mul.Tensor(b, 3)", lambda x, row, key: 3 * np.tanh(x / 3), "tanh * 3"),
    "capped and moved": (f"a = {ATEN}.tanh.default(x)\ny = {ATEN}.add.Tensor(a, x)",
                         lambda x, row, key: np.tanh(x) + x, "tl.int64"),
    "by distances": (f"a = {ATEN}.sub.Tensor(key, row)\nb = {ATEN}.mul.Tensor(a, 0.125)\n"
                     f"y = {ATEN}.add.Tensor(x, b)",
                     lambda x, row, key: x + (key - row) * 0.125, "tl.int64"),
    # A product that 32 bits don't hold.
    "by large integers": (f"a = {ATEN}.mul.Tensor(key, 3000000000)\n"
                          f"b = {ATEN}.remainder.Scalar(a, 7)\ny = {ATEN}.add.Tensor(x, b)",
                          lambda x, row, key: x + key * 3000000000 % 7, None),
    # Rows of the least number that f32 has are means of all values.
    "least": (f"a = {ATEN}.ge.Tensor(row, 9)\ny = {ATEN}.where.self(a, x, -3.4028234663852886e+38)",
              lambda x, row, key: np.where(row >= 9, x, np.finfo(np.float32).min), "tl.int64"),
    "largest": (f"a = {ATEN}.ge.Tensor(row, key)\nb = {ATEN}.mul.Tensor(a, 3.0e38)\n"
                f"y = {ATEN}.add.Tensor(x, b)", lambda x, row, key: x + (row >= key) * 3e38,
                "tl.int64"),
}


TABLE = np.sin(np.arange(200)).astype(np.float32)
OF_DISTANCES = (f"a = {ATEN}.sub.Tensor(key, row)\nb = {ATEN}.add.Tensor(a, 70)\n"
                f"c = {ATEN}._unsafe_index.Tensor(table, [b])\ny = {ATEN}.add.Tensor(x, c)",
                lambda x, row, key: x + TABLE[key - row + 70])
FUNCTIONS["a table"] = (*OF_DISTANCES, None)
FUNCTIONS["a table, whole blocks"] = (*OF_DISTANCES, "+ 70, mask=mmask")


def function_on_hopper(name):
    lines, function, absent = FUNCTIONS[name]
    t, s, d = 64 if "whole blocks" in name else 70, 130, 64
    arrays = {n: x.astype(np.float16) for n, x in qkv(1, 2, t, s, d).items()}
    arrays["table"] = TABLE
    lines, none = lines.replace("\n", "\n    "), ", ".join(["None"] * 5)
    text = f"""def forward(self, {typed(arrays)}):
    x = torch.ops.nereid.attention_scores.default(q, k, scale = 0.25)
    rows = {ATEN}.arange.default({t})
    row = {ATEN}.view.default(rows, [{t}, 1])
    key = {ATEN}.arange.default({s})
    {lines}
    r = torch.ops.nereid.flex_attention.default(q, k, v, y, {none}, 0, 0, scale = 0.25)
    o = r[0]
    of_rows = {ATEN}.permute.default(o, [0, 2, 1, 3])
    return (of_rows,)
"""
    got, source = run_on_hopper(text, arrays)
    q, k, v = (arrays[n].astype(np.float64) for n in "qkv")
    x = function(q @ np.swapaxes(k, 2, 3) * 0.25, np.arange(t)[:, None], np.arange(s))
    p = np.exp(x - x.max(-1, keepdims=True))
    wrong = compare(got, np.swapaxes(p / p.sum(-1, keepdims=True) @ v, 1, 2))
    return wrong or (f"the kernel has {absent}" if absent and absent in source else "")


def hopper_cases():
    for case in WIDTHS:
        yield "Hopper " + " ".join(map(str, case)), lambda case=case: widths_on_hopper(*case)
    for name in FUNCTIONS:
        yield f"Hopper {name}", lambda name=name: function_on_hopper(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    define()
    failed = passed = 0
    for name, case in CASES.items():
        if args.names and not any(n in name for n in args.names):
            continue
        text = problem(case, args.devices.split(","))
        passed += not text
        failed += bool(text)
        if text:
            print(f"FAIL {name}: {text}")
    for name, problem_of in hopper_cases():
        if args.names and not any(n in name for n in args.names):
            continue
        try:
            text = problem_of()
        except RuntimeError as error:
            text = str(error)
        passed += not text
        failed += bool(text)
        if text:
            print(f"FAIL {name}: {text}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
