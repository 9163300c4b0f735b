#!/usr/bin/env python3
"""Products with weights of few bits, as GPUs compute them (nereid.packed_mm), and of 8-bit
integers: the plan for a GPU runs on other devices, and its results are compared with NumPy in f64.

    packed.py [--devices interp,nest] [NAME...]
"""
import argparse, ast, os, pathlib, re, shutil, subprocess, sys, tempfile, textwrap

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
TOLERANCE = 5e-3  # of bf16, relative to the norm; of f16 a fifth


class Weights:
    """The tensors that a form of weights has, and the weights, [k, n], of which they are."""

    def __init__(self, k, n, group, seed):
        self.rng, self.k, self.n, self.group = np.random.default_rng(seed), k, n, group
        self.inputs, self.lead = {}, ()

    def given(self, **tensors):
        self.inputs = tensors
        return self

    def scales(self, *shape):
        return (self.rng.random(shape) + 0.5).astype(np.float16)

    def fields(self, *shape):
        return self.rng.integers(0, 16, shape)


def words(fields):
    """Eight fields of the last axis in a word, the first in the lowest bits."""
    parts = fields.reshape(*fields.shape[:-1], -1, 8).astype(np.uint64)
    return (parts << np.arange(0, 32, 4, dtype=np.uint64)).sum(-1).astype(np.uint32).view(np.int32)


def spread(x, group):
    return np.repeat(x.astype(np.float64), group, 0)


def along_the_sum(w):
    """As GPTQ: words along k; zero points along n, one less than they are."""
    g = w.k // w.group
    q, z, s = w.fields(w.k, w.n), w.fields(g, w.n), w.scales(g, w.n)
    w.given(q=words(q.T).T.copy(), z=words(z), s=s)
    w.weights = (q - spread(z, w.group) - 1) * spread(s, w.group)
    return f"""
    at = arange.start_step(0, 32, 4, dtype = torch.int32)
    q1 = unsqueeze.default(q, 1)
    q2 = bitwise_right_shift.Tensor(q1, view.default(at, [1, 8, 1]))
    q3 = bitwise_and.Scalar(q2, 15)
    q4 = view.default(q3, [{g}, {w.group}, {w.n}])
    z1 = unsqueeze.default(z, 2)
    z2 = bitwise_right_shift.Tensor(z1, view.default(at, [1, 1, 8]))
    z3 = bitwise_and.Scalar(z2, 15)
    z4 = view.default(z3, [{g}, 1, {w.n}])
    d1 = sub.Tensor(q4, add.Tensor(z4, 1))
    d2 = mul.Tensor(unsqueeze.default(s, 1), d1)
    w = view.default(d2, [{w.k}, {w.n}])
    y = mm.default(x, w)"""


def along_columns(w):
    """As AWQ: words along n, whose fields are in another order."""
    g, order = w.k // w.group, np.array([0, 4, 1, 5, 2, 6, 3, 7])
    q, z, s = w.fields(w.k, w.n), w.fields(g, w.n), w.scales(g, w.n)

    def packed(x):
        return words(x.reshape(len(x), -1, 8)[..., np.argsort(order)].reshape(x.shape))

    w.given(q=packed(q), z=packed(z), s=s, at=(4 * order).astype(np.int32))
    w.weights = (q - spread(z, w.group)) * spread(s, w.group)
    return f"""
    q1 = unsqueeze.default(q, 2)
    q2 = bitwise_right_shift.Tensor(q1, at)
    q3 = bitwise_and.Scalar(q2, 15)
    q4 = view.default(q3, [{g}, {w.group}, {w.n}])
    z1 = unsqueeze.default(z, 2)
    z2 = bitwise_right_shift.Tensor(z1, at)
    z3 = bitwise_and.Scalar(z2, 15)
    z4 = view.default(z3, [{g}, 1, {w.n}])
    d1 = sub.Tensor(q4, z4)
    d2 = mul.Tensor(d1, unsqueeze.default(s, 1))
    w = view.default(d2, [{w.k}, {w.n}])
    y = mm.default(x, w)"""


def fields_of_two_bits(w):
    """Sixteen fields a word along k, and the same numbers less a half for each group."""
    g = w.k // w.group
    q, s = w.rng.integers(0, 4, (w.k, w.n)), w.scales(g, w.n)
    parts = q.reshape(w.k // 16, 16, w.n).astype(np.uint64)
    parts = parts << np.arange(0, 32, 2, dtype=np.uint64)[:, None]
    w.given(q=parts.sum(1).astype(np.uint32).view(np.int32), s=s)
    w.weights = (q - 2) * spread(s, w.group)
    return f"""
    at = arange.start_step(0, 32, 2, dtype = torch.int32)
    q1 = unsqueeze.default(q, 1)
    q2 = bitwise_right_shift.Tensor(q1, view.default(at, [1, 16, 1]))
    q3 = bitwise_and.Scalar(q2, 3)
    q4 = view.default(q3, [{g}, {w.group}, {w.n}])
    d = mul.Tensor(sub.Tensor(q4, 2), unsqueeze.default(s, 1))
    w = view.default(d, [{w.k}, {w.n}])
    y = mm.default(x, w)"""


def two_in_bytes(w):
    """Two fields a byte along k; zero points and scales as floats."""
    g, q = w.k // w.group, w.fields(w.n, w.k)
    z, s = (w.rng.integers(0, 60, (w.n, g)) / 4).astype(np.float16), w.scales(w.n, g)
    w.given(q=(q[:, ::2] | q[:, 1::2] << 4).astype(np.uint8), z=z, s=s)
    w.weights = ((q - spread(z.T, w.group).T) * spread(s.T, w.group).T).T
    return f"""
    low = bitwise_and.Scalar(q, 15)
    high = bitwise_right_shift.Tensor_Scalar(q, 4)
    both = stack.default([low, high], -1)
    m = to.dtype(view.default(both, [{w.n}, {g}, {w.group}]), torch.float16)
    d = mul.Tensor(sub.Tensor(m, unsqueeze.default(z, -1)), unsqueeze.default(s, -1))
    w = view.default(d, [{w.n}, {w.k}])
    y = linear.default(x, w)"""


def experts(w):
    """A batch of those, of whole numbers less 8."""
    g, w.lead = w.k // w.group, (3,)
    q, s = w.fields(3, w.n, w.k), w.scales(3, w.n, g)
    w.given(q=(q[..., ::2] | q[..., 1::2] << 4).astype(np.uint8), s=s)
    w.weights = ((q - 8) * np.repeat(s.astype(np.float64), w.group, 2)).transpose(0, 2, 1)
    return f"""
    low = bitwise_and.Scalar(q, 15)
    high = bitwise_right_shift.Tensor_Scalar(q, 4)
    both = to.dtype(stack.default([low, high], -1), torch.int32)
    m = view.default(sub.Tensor(both, 8), [3, {w.n}, {g}, {w.group}])
    d = mul.Tensor(m, unsqueeze.default(s, -1))
    w = view.default(d, [3, {w.n}, {w.k}])
    y = bmm.default(x, transpose.int(w, 1, 2))"""


def bytes_that_wrap(w):
    """Two fields a byte less 8 in 8 bits, where 7 less 8 is 255, as PyTorch computes it."""
    g, q = w.k // w.group, w.fields(w.n, w.k)
    s = w.scales(w.n, g)
    w.given(q=(q[:, ::2] | q[:, 1::2] << 4).astype(np.uint8), s=s)
    w.weights = ((q - 8) % 256 * spread(s.T, w.group).T).T
    return f"""
    low = bitwise_and.Scalar(q, 15)
    high = bitwise_right_shift.Tensor_Scalar(q, 4)
    both = sub.Tensor(stack.default([low, high], -1), 8)
    m = to.dtype(view.default(both, [{w.n}, {g}, {w.group}]), torch.float16)
    w = view.default(mul.Tensor(m, unsqueeze.default(s, -1)), [{w.n}, {w.k}])
    y = linear.default(x, w)"""


def signed_bytes_of_words(w):
    """Four numbers of 8 bits a word along k, whose upper half a cast makes negative."""
    g, q = w.k // w.group, w.rng.integers(-128, 128, (w.k, w.n))
    s = w.scales(g, w.n)
    parts = (q % 256).reshape(w.k // 4, 4, w.n).astype(np.uint64)
    parts = parts << np.arange(0, 32, 8, dtype=np.uint64)[:, None]
    w.given(q=parts.sum(1).astype(np.uint32).view(np.int32), s=s)
    w.weights = q * spread(s, w.group)
    return f"""
    at = view.default(arange.start_step(0, 32, 8, dtype = torch.int32), [1, 4, 1])
    field = bitwise_and.Scalar(bitwise_right_shift.Tensor(unsqueeze.default(q, 1), at), 255)
    number = view.default(to.dtype(field, torch.int8), [{g}, {w.group}, {w.n}])
    w = view.default(mul.Tensor(number, unsqueeze.default(s, 1)), [{w.k}, {w.n}])
    y = mm.default(x, w)"""


def table_in_bytes(w):
    """As MXFP4: two fields a byte, which choose from a table, and powers of two as scales."""
    g, table = w.k // w.group, np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float16)
    table = np.concatenate([table, -table])
    q, e = w.fields(w.n, w.k), w.rng.integers(124, 130, (w.n, g)).astype(np.uint8)
    packed = (q[:, ::2] | q[:, 1::2] << 4).astype(np.uint8)
    w.given(q=packed, e=e, table=table)
    w.weights = (table.astype(np.float64)[q] * np.repeat(2.0 ** (e - 127.0), w.group, 1)).T
    return f"""
    low = bitwise_and.Scalar(q, 15)
    high = bitwise_right_shift.Tensor_Scalar(q, 4)
    low1 = to.dtype(low, torch.int64)
    high1 = to.dtype(high, torch.int64)
    low2 = index.Tensor(table, [low1])
    high2 = index.Tensor(table, [high1])
    both = stack.default([low2, high2], -1)
    m = view.default(both, [{w.n}, {g}, {w.group}])
    e1 = to.dtype(e, torch.int32)
    e2 = unsqueeze.default(sub.Tensor(e1, 127), -1)
    d = ldexp.Tensor(m, e2)
    w = view.default(d, [{w.n}, {w.k}])
    y = linear.default(x, w)"""


def table_of_bf16(w):
    """The same in bf16, in which powers of two are exact."""
    body = table_in_bytes(w)
    w.given(**{**w.inputs, "table": w.inputs["table"].astype(np.float32)})
    return body


def bytes_of_rows(w):
    """A number of 8 bits for each weight, and a scale for each column, after the product."""
    q, s = w.rng.integers(-128, 128, (w.n, w.k)).astype(np.int8), w.scales(w.n)
    w.given(q=q, s=s)
    w.weights = q.T * s.astype(np.float64)
    return """
    w = to.dtype(q, torch.float16)
    p = linear.default(x, w)
    y = mul.Tensor(p, s)"""


def rounded(x):
    """Numbers that bf16 has."""
    return ((np.asarray(x, np.float32).view(np.uint32) + 0x8000) & 0xFFFF0000).view(np.float32)


def tensor_core_tiles(w):
    """As torch.ops.aten._convert_weight_to_int4pack orders them."""
    g, steps = w.k // w.group, 4 if w.k % 64 == 0 else 2
    q = w.fields(w.n, w.k)
    s = rounded(w.rng.random((g, w.n, 2)) + 0.5)
    lane, word = np.arange(32)[:, None, None], np.arange(steps // 2)[None, :, None]
    first = 32 * word + lane % 4 * 2
    at = first + np.array([0, 8, 16, 24, 1, 9, 17, 25])  # from the lowest field
    tiles = q.reshape(w.n // 8, 8, -1, 16 * steps).transpose(0, 2, 1, 3)
    w.given(q=words(tiles[:, :, np.broadcast_to(lane // 4, at.shape), at])[..., 0], s=s)
    w.weights = (q.T - 8.0) * spread(s[..., 0], w.group) + spread(s[..., 1], w.group)
    return f"""
    y = _weight_int4pack_mm.default(x, q, {w.group}, s)"""


FORMS = [tensor_core_tiles, along_the_sum, along_columns, fields_of_two_bits, two_in_bytes, experts,
         bytes_that_wrap, signed_bytes_of_words, table_in_bytes, table_of_bf16, bytes_of_rows]
# The function by which the kernel makes 16-bit floats of fields; two words need whole tiles.
FIELDS = {tensor_core_tiles: "two_fields", along_the_sum: "two_fields",
          along_columns: "(?:two_words|one_field)",
          fields_of_two_bits: "two_fields", two_in_bytes: "two_fields", experts: "two_fields",
          table_in_bytes: "choose_numbers",
          table_of_bf16: "choose_numbers"}
# rows, k, n, group; with 64 rows a warpgroup multiplies
SIZES = [(5, 256, 64, 64), (1, 384, 40, 128), (1, 768, 48, 128),
         (17, 64, 24, 32), (33, 160, 136, 32), (3, 192, 64, 64), (64, 512, 128, 128)]
LARGE = [(1, 1024, 1024, 32), (20, 640, 1024, 64)]  # what fields choose is not written to memory
NAMES = {"float16": "f16", "float32": "bf16", "int32": "i32", "int8": "i8", "uint8": "u8"}


def flat(body):
    """Calls in calls as lines of their own, and operators with the prefix that graphs have."""
    lines = []

    def value(x):
        if not isinstance(x, ast.Call):
            return ast.unparse(x)
        named = [f"{k.arg} = {ast.unparse(k.value)}" for k in x.keywords]
        call = f"torch.ops.aten.{ast.unparse(x.func)}({', '.join([*map(value, x.args), *named])})"
        lines.append(f"    t{len(lines)} = {call}\n")
        return f"t{len(lines) - 1}"

    for statement in ast.parse(textwrap.dedent(body)).body:
        call = statement.value
        name = value(call)
        lines[-1] = lines[-1].replace(f"{name} =", f"{statement.targets[0].id} =", 1)
    return "".join(lines)


def text(w, body, rows):
    inputs = {"x": w.x, **w.inputs}
    parameters = ", ".join(f'{n}: "{NAMES[str(a.dtype)]}[{", ".join(map(str, a.shape))}]"'
                           for n, a in inputs.items())
    return f"def forward(self, {parameters}):\n{flat(body)}    return (y,)\n"


def nereid(*args):
    return subprocess.run([NEREID, *map(str, args)], capture_output=True, text=True)


def compare(name, w, body, rows, fields, devices, folder):
    wide = any(a.dtype == np.float32 for a in w.inputs.values())
    x = w.rng.normal(size=(*w.lead, rows, w.k)) * w.k**-0.5
    w.x = rounded(x) if wide else x.astype(np.float16)
    (folder / "graph.py").write_text(text(w, body, rows))
    arrays = []
    for n, a in {"x": w.x, **w.inputs}.items():
        np.save(folder / f"{n}.npy", a)
        arrays.append(folder / f"{n}.npy")
    plan = nereid("graph", folder / "graph.py", "--device", "cuda", "--emit", "plan", "-o",
                  folder / "plan.txt")
    check(plan.returncode == 0, f"{name}: {plan.stderr[-500:]}")
    if plan.returncode:
        return
    plan = (folder / "plan.txt").read_text()
    steps = [s for s in plan.splitlines() if s.startswith("step ")]
    whole, large = w.k % 64 == 0 and w.n % 64 == 0, w.k * w.n >= 1 << 19
    table = name.startswith("table")
    packed = whole or not table
    fields = "one_field" if fields == "two_words" and not whole else fields
    fused = packed and (large or not table)  # a small table's numbers are written to memory
    check(any("packed_mm" in s for s in steps) == packed, f"{name}: {steps}")
    kernels = [s for s in steps if not s.startswith("step k1_sum_to")]  # of parts
    check(not fused or len(kernels) == 1, f"{name}: one kernel, not {steps}")
    check(not fused or not fields or re.search(rf"= .*\b{fields}\(", plan), f"{name}: no {fields}")
    want = w.x.astype(np.float64) @ w.weights
    for device in devices:
        done = nereid("graph", folder / "plan.txt", *arrays, "--device", device, "--out-dir",
                      folder / "out")
        check(done.returncode == 0, f"{name} on {device}: {done.stderr[-500:]}")
        if done.returncode:
            continue
        off = np.linalg.norm(np.load(folder / "out/output_0.npy") - want) / np.linalg.norm(want)
        check(off < (TOLERANCE if wide else TOLERANCE / 5), f"{name} on {device}: {off} away")


INTEGERS = """def forward(self, a: "i8[{m}, {k}]", b: "i8[{b}]", s: "f32[{n}]"):
    t: "i8[{k}, {n}]" = torch.ops.aten.{view}
    y: "i32[{m}, {n}]" = torch.ops.aten._int_mm.default(a, t)
    f: "f32[{m}, {n}]" = torch.ops.aten.to.dtype(y, torch.float32)
    z: "f32[{m}, {n}]" = torch.ops.aten.mul.Tensor(f, s)
    return (z,)
"""


def compare_integers(devices, folder, of, k):
    """Products of 8-bit integers are exact sums in i32, with scales in the same kernel; plans for a
    CPU multiply words of four bytes along the sum, the last ones filled up with zeros."""
    m, n, rng = 20, 40, np.random.default_rng(5)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    s = rng.integers(1, 5, n).astype(np.float32)
    want = (a.astype(np.int32) @ b.astype(np.int32)).astype(np.float32) * s
    for turned in True, False:
        view = "permute.default(b, [1, 0])" if turned else f"view.default(b, [{k}, 40])"
        shape = f"{n}, {k}" if turned else f"{k}, {n}"
        (folder / "graph.py").write_text(INTEGERS.format(m=m, n=n, k=k, b=shape, view=view))
        files = []
        for name, array in ("a", a), ("b", np.ascontiguousarray(b.T) if turned else b), ("s", s):
            np.save(folder / f"{name}.npy", array)
            files.append(folder / f"{name}.npy")
        plan = nereid("graph", folder / "graph.py", "--device", of, "--emit", "plan", "-o",
                      folder / "plan.txt")
        text = (folder / "plan.txt").read_text() if plan.returncode == 0 else plan.stderr
        words = of == "cpu"
        check("mm_mul(" in text, f"integers: no kernel with the scales: {text[-500:]}")
        check(words == ("\"bytes\"" in text), f"integers: words along {k}: {text[-500:]}")
        for device in devices:
            done = nereid("graph", folder / "plan.txt", *files, "--device", device, "--out-dir",
                          folder / "out")
            good = done.returncode == 0
            good = good and np.array_equal(np.load(folder / "out/output_0.npy"), want)
            check(good, f"integers on {device}: {done.stderr[-500:]}")


SIGNED = """def forward(self, x: "bf16[{rows}, {k}]", q: "i8[{n}, {k}]"):
    w = torch.ops.aten.to.dtype(q, torch.bfloat16)
    y = torch.ops.aten.linear.default(x, w)
    return (y,)
"""


def compare_signed(devices, folder):
    """Each signed byte becomes that number in bf16."""
    rows, k, n = 8, 256, 64
    q = np.zeros((n, k), np.int8)
    x = np.zeros((rows, k), np.float32)
    places = np.arange(rows) * 29 + 3
    x[np.arange(rows), places] = 1
    q[:, places] = np.arange(rows * n).reshape(rows, n).T % 256 - 128
    run_plan(SIGNED.format(rows=rows, k=k, n=n), {"x": x, "q": q}, r"floats_of_bytes\(in", devices,
             folder, "signed bytes", lambda y: np.array_equal(y, x @ q.T.astype(np.float32)))


def run_plan(text, given, pattern, devices, folder, name, is_right):
    """The plan for a GPU has the pattern, and its result is right."""
    (folder / "graph.py").write_text(text)
    for n, a in given.items():
        np.save(folder / f"{n}.npy", a)
    plan = nereid("graph", folder / "graph.py", "--device", "cuda", "--emit", "plan", "-o",
                  folder / "plan.txt")
    text = (folder / "plan.txt").read_text() if plan.returncode == 0 else plan.stderr
    check(re.search(pattern, text), f"{name}: no {pattern}: {text[-500:]}")
    for device in devices:
        done = nereid("graph", folder / "plan.txt", *(folder / f"{n}.npy" for n in given),
                      "--device", device, "--out-dir", folder / "out")
        good = done.returncode == 0 and is_right(np.load(folder / "out/output_0.npy"))
        check(good, f"{name} on {device}: {done.stderr[-500:]}")


GROUPS = """
    low = bitwise_and.Scalar(q, 15)
    high = bitwise_right_shift.Tensor_Scalar(q, 4)
    both = to.dtype(stack.default([low, high], -1), torch.int32)
    m = view.default(sub.Tensor(both, 8), [4, {n}, {groups}, {group}])
    d = mul.Tensor(m, unsqueeze.default(s, -1))
    w = view.default(d, [4, {n}, {k}])
    y = _grouped_mm.default(x, transpose.int(w, 1, 2), ends)"""


def compare_groups(devices, folder):
    """Rows by their experts' weights of four bits, which no kernel writes to memory."""
    for sizes in ([5, 0, 12, 3], [40, 0, 70, 9]):
        w = Weights(128, 64, 32, len(sizes))
        q, s = w.fields(4, w.n, w.k), w.scales(4, w.n, w.k // w.group)
        ends = np.cumsum(sizes).astype(np.int32)
        w.x = (w.rng.normal(size=(sum(sizes), w.k)) * w.k**-0.5).astype(np.float16)
        w.given(q=(q[..., ::2] | q[..., 1::2] << 4).astype(np.uint8), s=s, ends=ends)
        full = ((q - 8) * np.repeat(s.astype(np.float64), w.group, 2)).transpose(0, 2, 1)
        want = np.concatenate([x @ m for x, m in zip(np.split(w.x.astype(np.float64), ends[:-1]),
                                                     full)])
        body = GROUPS.format(n=w.n, k=w.k, groups=w.k // w.group, group=w.group)
        (folder / "graph.py").write_text(text(w, body, len(w.x)))
        files = []
        for name, array in {"x": w.x, **w.inputs}.items():
            np.save(folder / f"{name}.npy", array)
            files.append(folder / f"{name}.npy")
        plan = nereid("graph", folder / "graph.py", "--device", "cuda", "--emit", "plan", "-o",
                      folder / "plan.txt")
        lines = (folder / "plan.txt").read_text() if plan.returncode == 0 else plan.stderr
        steps = [s for s in lines.splitlines() if s.startswith("step ") and "check_index" not in s]
        one = len(steps) == 1 and "packed_grouped_mm" in steps[0]
        check(one, f"groups: {steps} {plan.stderr[-500:]}")
        for device in devices:
            done = nereid("graph", folder / "plan.txt", *files, "--device", device, "--out-dir",
                          folder / "out")
            off = np.inf
            if done.returncode == 0:
                got = np.load(folder / "out/output_0.npy")
                off = np.linalg.norm(got - want) / np.linalg.norm(want)
            check(off < TOLERANCE / 5, f"groups {sizes} on {device}: {off} {done.stderr[-500:]}")


COLUMNS = """def forward(self, x: "f32[3, {k}]", q: "u8[{n}, {half}]", s: "f32[{groups}, {n}, 2]"):
    y = torch.ops.aten._weight_int4pack_mm_for_cpu.default(x, q, 32, s)
    return (y,)
"""


def packed_columns():
    """Columns that PyTorch packs together on this machine."""
    try:
        flags = set(re.search("flags.*", pathlib.Path("/proc/cpuinfo").read_text())[0].split())
    except (OSError, TypeError):
        return 0
    if {"fma", "avx512vl", "avx512bw", "avx512dq"} <= flags:
        return 64
    return 32 if {"fma", "avx2"} <= flags else 0


def compare_columns(folder):
    """Weights of torch.ops.aten._convert_weight_to_int4pack_for_cpu: blocks of columns whose bytes
    have columns of both halves, then neighbors."""
    k, rng, block = 64, np.random.default_rng(7), packed_columns()
    for n in 48, 128, 176:
        q, x = rng.integers(0, 16, (n, k)), rng.normal(size=(3, k)).astype(np.float32)
        s = rng.random((k // 32, n, 2)).astype(np.float32)
        w = (q.T - 8) * spread(s[..., 0], 32) + spread(s[..., 1], 32)
        whole = n // block * block if block else 0
        halves = q[:whole].reshape(-1, 2, max(block, 2) // 2, k)
        low = np.concatenate([halves[:, 0].transpose(0, 2, 1).ravel(), q[whole::2].T.ravel()])
        high = np.concatenate([halves[:, 1].transpose(0, 2, 1).ravel(), q[whole + 1::2].T.ravel()])
        packed = (low | high << 4).astype(np.uint8).reshape(n, k // 2)
        (folder / "graph.py").write_text(COLUMNS.format(k=k, half=k // 2, n=n, groups=k // 32))
        files = []
        for name, array in ("x", x), ("q", packed), ("s", s):
            np.save(folder / f"{name}.npy", array)
            files.append(folder / f"{name}.npy")
        done = nereid("graph", folder / "graph.py", *files, "--device", "cpu", "--out-dir",
                      folder / "out")
        off = np.inf
        if done.returncode == 0:
            off = np.abs(np.load(folder / "out/output_0.npy") - x.astype(np.float64) @ w).max()
        check(off < 1e-4, f"columns {n}: {off} away {done.stderr[-500:]}")
        compare_packing(folder, "_for_cpu.default(q, 1)", q.astype(np.int32), packed)


def compare_packing(folder, call, fields, want):
    """Packing by a graph gives the words or bytes that PyTorch's operator does."""
    shape = ", ".join(map(str, fields.shape))
    (folder / "graph.py").write_text(
        f'def forward(self, q: "{NAMES[str(fields.dtype)]}[{shape}]"):\n'
        f"    y = torch.ops.aten._convert_weight_to_int4pack{call}\n    return (y,)\n")
    np.save(folder / "q.npy", fields)
    done = nereid("graph", folder / "graph.py", folder / "q.npy", "--device", "cpu", "--out-dir",
                  folder / "out")
    same = done.returncode == 0 and np.array_equal(np.load(folder / "out/output_0.npy"), want)
    check(same, f"packing {call} of {fields.shape}: {done.stderr[-500:]}")


def compare_tiles(folder):
    """Tiles of tensor cores from bytes whose upper field is the first."""
    for k, n in (128, 64), (64, 16), (192, 24):
        w = Weights(k, n, 64, k)
        fields = w.rng.integers(0, 16, (n, k))
        w.fields = lambda *shape: fields
        tensor_core_tiles(w)
        packed = (fields[:, ::2] << 4 | fields[:, 1::2]).astype(np.uint8)
        compare_packing(folder, ".default(q, 4)", packed, w.inputs["q"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="interp,nest")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not args.names or "integers" in args.names:
            for of, k in ("cuda", 96), ("cpu", 96), ("cpu", 132), ("cpu", 98):
                compare_integers(args.devices.split(","), pathlib.Path(folder), of, k)
        if not args.names or "groups" in args.names:
            compare_groups(args.devices.split(","), pathlib.Path(folder))
        if not args.names or "signed" in args.names:
            compare_signed(args.devices.split(","), pathlib.Path(folder))
        if not args.names or "tiles" in args.names:
            compare_tiles(pathlib.Path(folder))
        if not args.names or "columns" in args.names:
            compare_columns(pathlib.Path(folder))
        for form in FORMS:
            sizes = SIZES + LARGE if form.__name__.startswith("table") else SIZES
            for seed, (rows, k, n, group) in enumerate(sizes):
                name = f"{form.__name__}, {rows} by {k} by {n}"
                if args.names and not any(part in name for part in args.names):
                    continue
                w = Weights(k, n, group, seed)
                compare(name, w, form(w), rows, FIELDS.get(form), args.devices.split(","),
                        pathlib.Path(folder))
    return report()


if __name__ == "__main__":
    sys.exit(main())
