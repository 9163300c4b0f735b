#!/usr/bin/env python3
"""safetensors and GGUF files as --weights of a graph, right ones and damaged ones.

    tensor_files.py [--seed N] [--count N]    so many files with random damage
    tensor_files.py --record                  writes blocks.txt, where the package gguf is installed

Blocks of few bits are decoded here by NumPy as well, after the format's documents; those that the
format's package decodes are in tensor_files/blocks.txt, a line each: name, number, elements, bytes
of two blocks in hexadecimal, and sums of what they become, with signs (`signs`).
"""
import argparse, json, os, pathlib, random, struct, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
RNG = np.random.default_rng(5)
NAMES = {"F32": "f4", "F64": "f8", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1",
         "U8": "u1", "BOOL": "?"}
TYPES = {"f4": "f32", "f8": "f64", "f2": "f16", "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i8",
         "u1": "u8", "?": "b8"}


# ---- writers ----

def safetensors(tensors, pad=True, change=None, header=None):
    """`tensors`: dtype and array by name; `change` may alter the header."""
    out, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, array) in tensors.items():
        raw = array.tobytes()
        out[name] = {"dtype": dtype, "shape": list(array.shape),
                     "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    if change:
        change(out)
    text = json.dumps(out).encode() if header is None else header
    text += b" " * (-len(text) % 8 if pad else (1 - len(text)) % 8)
    return struct.pack("<Q", len(text)) + text + data


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def gguf(tensors, version=3, alignment=None, count=None, pairs=None, change=None):
    """`tensors`: number of the type, sizes with that of the last axis first, bytes, by name."""
    align = alignment or 32
    values = [text("general.name") + struct.pack("<I", 8) + text("a model"),
              text("list") + struct.pack("<IIQ", 9, 4, 3) + struct.pack("<3I", 1, 2, 3),
              text("words") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")]
    if alignment is not None:
        values.append(text("general.alignment") + struct.pack("<II", 4, alignment))
    infos, data = b"", b""
    for name, (kind, sizes, raw) in tensors.items():
        data += bytes(-len(data) % align)
        place = change(name, len(data)) if change else len(data)
        infos += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, place)
        data += raw
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if count is None else count,
                                 len(values) if pairs is None else pairs)
    head += b"".join(values) + infos
    return head + bytes(-len(head) % align) + data


# ---- GGUF's blocks ----

def halves(b, at):
    return b[:, at:at + 2].copy().view("<f2").astype("f4")


def nibbles(q):
    return np.concatenate([q & 15, q >> 4], 1).astype("f4")


def fifth(b, at):
    bits = b[:, at:at + 4].copy().view("<u4")
    return (bits >> np.arange(32, dtype="u4") & 1).astype("f4") * 16


def six_bits(s):
    """Eight scales and eight minima of 12 bytes."""
    low = s[:, :4] & 63, s[:, 4:8] & 63
    high = (s[:, 8:] & 15 | s[:, :4] >> 6 << 4), (s[:, 8:] >> 4 | s[:, 4:8] >> 6 << 4)
    return [np.concatenate(p, 1).astype("f4") for p in zip(low, high)]


def large(b, at, fives):
    scale, low = six_bits(b[:, 4:16])
    q = b[:, at:at + 128].reshape(-1, 4, 1, 32)
    x = np.concatenate([q & 15, q >> 4], 2).reshape(-1, 8, 32).astype("f4")
    if fives:
        x += (b[:, None, 16:48] >> np.arange(8, dtype="u1")[:, None] & 1) * np.float32(16)
    y = halves(b, 0)[..., None] * scale[..., None] * x - halves(b, 2)[..., None] * low[..., None]
    return y.reshape(-1, 256)


def six(b):
    low = b[:, :128].reshape(-1, 2, 1, 64)
    low = np.concatenate([low & 15, low >> 4], 2).reshape(-1, 2, 4, 32)
    high = b[:, 128:192].reshape(-1, 2, 1, 32) >> np.array([0, 2, 4, 6], "u1")[:, None] & 3
    x = (low | high << 4).reshape(-1, 16, 16).astype("f4") - 32
    scales = b[:, 192:208].copy().view("i1").astype("f4")
    return (halves(b, 208)[..., None] * scales[..., None] * x).reshape(-1, 256)


# number, elements, bytes, what NumPy makes of blocks, where they have f16 numbers
BLOCKS = {
    "Q4_0": (2, 32, 18, lambda b: halves(b, 0) * (nibbles(b[:, 2:]) - 8), [0]),
    "Q4_1": (3, 32, 20, lambda b: halves(b, 0) * nibbles(b[:, 4:]) + halves(b, 2), [0, 2]),
    "Q5_0": (6, 32, 22, lambda b: halves(b, 0) * (nibbles(b[:, 6:]) + fifth(b, 2) - 16), [0]),
    "Q5_1": (7, 32, 24, lambda b: halves(b, 0) * (nibbles(b[:, 8:]) + fifth(b, 4)) +
             halves(b, 2), [0, 2]),
    "Q8_0": (8, 32, 34, lambda b: halves(b, 0) * b[:, 2:].copy().view("i1").astype("f4"), [0]),
    "Q4_K": (12, 256, 144, lambda b: large(b, 16, False), [0, 2]),
    "Q5_K": (13, 256, 176, lambda b: large(b, 48, True), [0, 2]),
    "Q6_K": (14, 256, 210, six, [208]),
}


def blocks_of(kind, n):
    _, _, size, _, places = BLOCKS[kind]
    b = RNG.integers(0, 256, (n, size)).astype("u1")
    for at in places:
        b[:, at:at + 2] = RNG.normal(size=(n, 1)).astype("<f2").view("u1")
    return b


# ---- runs ----

def graph_of(types):
    """Returns its parameters; names that begin with b_ are buffers."""
    names = [n if n.startswith("b_") else f"p_{n}" for n in types]
    params = ", ".join(f'{n}: "{t}"' for n, t in zip(names, types.values()))
    lines = [f"        y{i} = torch.ops.aten.clone.default({n})" for i, n in enumerate(names)]
    results = ", ".join(f"y{i}" for i in range(len(types)))
    return "\n".join(["class GraphModule(torch.nn.Module):", f"    def forward(self, {params}):",
                      *lines, f"        return ({results},)", ""])


def run(folder, types, data, suffix):
    """The outputs, or the message of an error."""
    folder = pathlib.Path(folder)
    (folder / "graph.py").write_text(graph_of(types))
    path = folder / f"w.{suffix}"
    path.write_bytes(data)
    done = subprocess.run([NEREID, "graph", folder / "graph.py", "--weights", path, "--device",
                           "interp", "--out-dir", folder / "out"], capture_output=True, text=True,
                          errors="replace")
    if done.returncode == 1:
        return done.stderr
    if done.returncode:
        return f"status {done.returncode}: {done.stderr}"
    return [np.load(folder / f"out/output_{i}.npy") for i in range(len(types))]


def expect(name, got, wanted):
    if isinstance(got, str):
        check(False, f"{name}: {got}")
        return
    for g, w in zip(got, wanted):
        same = g.shape == w.shape and g.dtype == w.dtype and np.allclose(g, w, 1e-6, 1e-6)
        check(same, f"{name}: {g.dtype}{g.shape} {g.ravel()[:4]}, not {w.dtype}{w.shape} "
              f"{w.ravel()[:4]}")


def type_text(array):
    return f"{TYPES[array.dtype.str.strip('<|').replace('b1', '?')]}{list(array.shape)}"


def plain_files(folder):
    arrays = {f"layer.{i}.w": RNG.integers(0, 2 if t == "?" else 99, (3, i + 1)).astype(t)
              for i, t in enumerate(NAMES.values())}
    types = {n.replace(".", "_"): type_text(a) for n, a in arrays.items()}
    tensors = {n: (d, a) for d, (n, a) in zip(NAMES, arrays.items())}
    for pad in (True, False):  # without padding no tensor is aligned
        expect(f"safetensors, pad {pad}", run(folder, types, safetensors(tensors, pad),
                                              "safetensors"), list(arrays.values()))
    numbers = {"f4": 0, "f2": 1, "i1": 24, "i2": 25, "i4": 26, "i8": 27, "f8": 28}
    some = {n: a for n, a in arrays.items() if a.dtype.str[1:] in numbers}
    data = gguf({n: (numbers[a.dtype.str[1:]], a.shape[::-1], a.tobytes())
                 for n, a in some.items()}, version=2, alignment=64)
    expect("GGUF", run(folder, {n.replace(".", "_"): type_text(a) for n, a in some.items()}, data,
                       "gguf"), list(some.values()))


def block_files(folder):
    for dtype, limit in (("f32", 1e-6), ("f16", 2e-3)):
        data, types, wanted = {}, {}, []
        for kind, (number, elements, _, decode, _) in BLOCKS.items():
            b = blocks_of(kind, 6)
            data[f"{kind}.w"] = (number, (2 * elements, 3), b.tobytes())
            types[f"{kind}_w"] = f"{dtype}[3, {2 * elements}]"
            wanted.append(decode(b).reshape(3, 2 * elements))
        got = run(folder, types, gguf(data), "gguf")
        check(not isinstance(got, str), f"GGUF's blocks, {dtype}: {got}")
        for kind, g, w in zip(BLOCKS, got, wanted):
            close = np.allclose(g.astype("f4"), w, limit, limit * np.abs(w).max())
            check(close, f"{kind} {dtype}: {g[0, :4]}, not {w[0, :4]}")


RECORD = ROOT / "tests/graph/tensor_files/blocks.txt"


def signs(n):
    """Eight rows of signs, by which sums of n numbers depend on each of them."""
    return np.random.default_rng(n).choice([-1.0, 1.0], (8, n))


def record():
    import gguf
    lines, rng = [], np.random.default_rng(9)
    kinds = [k for k in gguf.GGML_QUANT_SIZES if hasattr(gguf.quants, k.name)
             and gguf.GGML_QUANT_SIZES[k][0] > 1]
    for kind in kinds:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        values = np.array([np.inf])
        while not np.isfinite(values).all() or abs(values).max() > 1e4:
            blocks = rng.integers(0, 256, (2, size)).astype("u1")
            values = gguf.quants.dequantize(blocks, kind).astype("f8").ravel()
        sums = " ".join(f"{x:.9g}" for x in signs(len(values)) @ values)
        lines.append(f"{kind.name} {int(kind)} {elements} {blocks.tobytes().hex()} | {sums}\n")
    RECORD.write_text("".join(lines))


def recorded_blocks(folder):
    data, types, wanted = {}, {}, []
    for line in RECORD.read_text().splitlines():
        kind, sums = line.split(" | ")
        name, number, elements, raw = kind.split()
        data[f"{name}.w"] = int(number), (int(elements), 2), bytes.fromhex(raw)
        types[f"{name}_w"] = f"f32[2, {elements}]"
        wanted.append(np.array(sums.split(), float))
    got = run(folder, types, gguf(data), "gguf")
    check(not isinstance(got, str), f"GGUF's recorded blocks: {got}")
    for name, g, w in zip(types, got, wanted):
        x = g.ravel().astype("f8")
        check(np.allclose(signs(x.size) @ x, w, 1e-5, 1e-5 * abs(x).sum()),
              f"{name}: {signs(x.size) @ x}, not {w}")


def shared_blocks(folder):
    """A tensor of blocks that a parameter takes in one dtype and a buffer in another."""
    number, elements, _, decode, _ = BLOCKS["Q8_0"]
    b = blocks_of("Q8_0", 6)
    want = decode(b).reshape(3, 2 * elements)
    size = f"[3, {2 * elements}]"
    got = run(folder, {"a_w": "f32" + size, "b_a_w": "f16" + size},
              gguf({"a.w": (number, (2 * elements, 3), b.tobytes())}), "gguf")
    expect("blocks in two dtypes", got, [want, want.astype("f2")])


# ---- files that are wrong in one way ----

X = np.arange(6, dtype="f4").reshape(2, 3)
PLAIN = {"a": ("F32", X), "b": ("F32", X)}
BLOCK = blocks_of("Q8_0", 2).tobytes()


def member(name, key, value):
    return dict(change=lambda out: out[name].__setitem__(key, value))


HUGE = 2**62
BAD_SAFETENSORS = [
    (b"\0\0\0", "the safetensors file can't be used: it ends in its header; copy it again, or save "
     "it again"),
    (struct.pack("<Q", 10**9) + b"{}", "over 100 MB"),
    (struct.pack("<Q", 99) + b"{}", "it ends in its header"),
    (safetensors({}, header=b"[1]"), "its header is no object"),
    (safetensors({}, header=b'{"a":'), "line 1, column"),
    (safetensors({}, header=b'{"a":1,"a":2}'), "of its header"),
    (safetensors(PLAIN, **member("a", "dtype", 4)), "it has no dtype, or no range of bytes"),
    (safetensors(PLAIN, **member("a", "data_offsets", [0])), "no range of bytes"),
    (safetensors(PLAIN, **member("a", "data_offsets", [0, 2**70])), "of its header"),
    (safetensors(PLAIN, **member("a", "data_offsets", [0, HUGE])), "beyond the end of the file"),
    (safetensors(PLAIN, **member("a", "data_offsets", [24, 0])), "beyond the end of the file"),
    (safetensors(PLAIN, **member("b", "data_offsets", [23, 47])), "some of its bytes"),
    (safetensors(PLAIN, **member("a", "shape", [2, 4])), "not as many as its elements take"),
    (safetensors(PLAIN, **member("a", "shape", [HUGE, HUGE])), "not as many as its elements take"),
    (safetensors(PLAIN, **member("a", "shape", [0, HUGE, HUGE])), "not as many as its elements"),
    (safetensors(PLAIN, **member("a", "shape", [-2, -3])), "tensor a of the safetensors file: it "
     "has no shape; copy the file again, or save it again"),
    (safetensors(PLAIN, **member("a", "shape", [1] * 99)), "it has too many axes"),
    (safetensors(PLAIN, **member("a", "dtype", "F6")), "tensor a has the type F6, which is not "
     "supported: save it in another one"),
    (safetensors({"b": ("F32", X)}), "has no tensor for p_a"),
    (safetensors({"a": ("F32", X.T.copy())}), "does not fit parameter"),
    (safetensors(PLAIN)[:-8], "beyond the end of the file"),
]
BAD_GGUF = [
    (b"GGUF", "it ends in its header"), (b"GGML" + bytes(64), "it does not begin with GGUF"),
    (gguf({}, version=1), "its version is not 2 or 3"),
    (gguf({}, version=3 << 24), "its version is not 2 or 3"),
    (gguf({}, pairs=2**60), "it ends in its values"),
    (gguf({}, pairs=9), "it ends in its values"),
    (gguf({}, alignment=12), "its alignment is no multiple of 8"),
    (gguf({"a": (0, (3, 2), X.tobytes())}, count=2**60), "it ends in its list of tensors"),
    (gguf({"a": (0, (3, 2), X.tobytes())}, count=2), "GGUF file"),
    (gguf({"": (0, (3, 2), X.tobytes())}), "is empty or too long"),
    (gguf({"a": (0, [1] * 60, X.tobytes())}), "it has too many axes"),
    (gguf({"a": (0, (2**63, 2), X.tobytes())}), "it has no shape"),
    (gguf({"a": (0, (2**40, 2**40), X.tobytes())}), "no whole blocks, or too large"),
    (gguf({"a": (8, (48,), BLOCK)}), "no whole blocks, or too large"),
    (gguf({"a": (8, (), b"")}), "no whole blocks, or too large"),
    (gguf({"a": (0, (3, 2), X.tobytes())}, change=lambda *_: 2**40), "beyond the end of the file"),
    (gguf({"a": (0, (3, 2), X.tobytes())}, change=lambda *_: 4), "beyond the end of the file"),
    (gguf({"a": (0, (3, 2), X.tobytes()), "b": (0, (3, 2), X.tobytes())}, change=lambda *_: 0),
     "some of its bytes"),
    (gguf({"a": (9, (32,), bytes(40))}), "has the type 9, which is not supported"),
    (gguf({"a": (8, (32, 2), BLOCK)})[:-9], "beyond the end of the file"),
]


def bad_files(folder):
    for i, (data, message) in enumerate([*BAD_SAFETENSORS, *BAD_GGUF]):
        suffix = "gguf" if i >= len(BAD_SAFETENSORS) else "safetensors"
        got = run(folder, {"a": "f32[2, 3]"}, data, suffix)
        check(isinstance(got, str) and message in got and not got.startswith("status"),
              f"bad file {i}, {message}: {got}")


def weights_as_model(folder):
    files = [("safetensors", safetensors(PLAIN)), ("gguf", gguf({})), ("bin", gguf({}))]
    for suffix, data in files:
        path = pathlib.Path(folder) / f"model.{suffix}"
        path.write_bytes(data)
        done = subprocess.run([NEREID, "graph", path], capture_output=True)
        wanted = f"{path} has tensors alone: name the model first, and this file as its weights"
        check(done.returncode == 1 and wanted in done.stderr.decode(errors="replace"),
              f"{suffix} as the model: {done.stderr}")


def damaged(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        how = rng.randrange(4)
        if how == 0:
            data[at] = rng.randrange(256)
        elif how == 1:
            data[at:at + 8] = struct.pack("<Q", rng.choice([0, 1, 2**31, 2**63 - 1, 2**64 - 1]))
        elif how == 2:
            del data[at:at + rng.randint(1, 9)]
        else:
            data[at:at] = data[:rng.randint(1, 9)]
        data = data or bytearray(b"x")
    return bytes(data)


def weights_by_pipe(folder):
    """A shell's <(...): the file can be read once, and not be mapped."""
    files = [("safetensors", safetensors(PLAIN)), ("gguf", gguf({"a": (0, (3, 2), X.tobytes())}))]
    for suffix, data in files:
        wanted, out = run(folder, {"a": "f32[2, 3]"}, data, suffix), f"{folder}/piped"
        done = subprocess.run(["bash", "-c", f"{NEREID} graph {folder}/graph.py --weights "
                               f"<(cat {folder}/w.{suffix}) --device interp --out-dir {out}"],
                              capture_output=True, text=True, timeout=60)
        got = done.stderr if done.returncode else [np.load(f"{out}/output_0.npy")]
        expect(f"{suffix} by a pipe", got, wanted)


def weights_of_onnx(folder):
    model, weights = pathlib.Path(folder) / "model.onnx", pathlib.Path(folder) / "w.safetensors"
    model.write_bytes(b"\x08\x07")
    for path in (weights, pathlib.Path(folder) / "no.safetensors"):
        done = subprocess.run([NEREID, "graph", model, "--weights", path], capture_output=True,
                              text=True)
        wanted = (f"{model} is an ONNX model, which has its weights: leave {path} out, or name a "
                  "graph or a .pt2 file")
        check(done.returncode == 2 and wanted in done.stderr,
              f"weights of an ONNX file: {done.returncode} {done.stderr}")


def random_damage(folder, seed, count):
    rng = random.Random(seed)
    files = [("safetensors", safetensors(PLAIN)), ("gguf", gguf(
        {"a": (0, (3, 2), X.tobytes()), "b": (8, (32, 2), BLOCK)}))]
    for i in range(count):
        suffix, data = files[i % 2]
        got = run(folder, {"a": "f32[2, 3]"}, damaged(rng, data), suffix)
        check(not isinstance(got, str) or not got.startswith("status"), f"damage {i}: {got}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    if args.record:
        return record()
    with tempfile.TemporaryDirectory() as folder:
        plain_files(folder)
        block_files(folder)
        recorded_blocks(folder)
        shared_blocks(folder)
        bad_files(folder)
        weights_as_model(folder)
        weights_by_pipe(folder)
        weights_of_onnx(folder)
        random_damage(folder, args.seed, args.count)
    return report()


if __name__ == "__main__":
    sys.exit(main())
