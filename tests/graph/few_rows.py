#!/usr/bin/env python3
"""Few rows times weights that memory has along the sum or along columns, as CPUs compute them
(pass few_rows), against NumPy in f64: fields of a byte and of a word, bytes, 16-bit floats; groups
of all sizes; what follows the product.  Their kernels also run with vectors of each width.

    few_rows.py [NAME...]
"""
import pathlib
import re
import sys
import tempfile

import numpy as np

from packed import Weights, along_the_sum, check, nereid, report, rounded, spread, text, words

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from widths import WIDTHS  # noqa: E402


def scaled(w, of, minus):
    """The element is (q - minus) * s of its group; `minus` may be a tensor of groups."""
    g = w.k // w.group
    return f"""
    m = to.dtype(view.default({of}, [{w.n}, {g}, {w.group}]), torch.float16)
    d = mul.Tensor(sub.{minus}, unsqueeze.default(s, -1))
    w = view.default(d, [{w.n}, {w.k}])
    y = linear.default(x, w)"""


def bytes_of_two(w):
    """Two fields a byte, less 8."""
    q, s = w.fields(w.n, w.k), w.scales(w.n, w.k // w.group)
    w.given(q=(q[:, ::2] | q[:, 1::2] << 4).astype(np.uint8), s=s)
    w.weights = ((q - 8) * spread(s.T, w.group).T).T
    return """
    low = bitwise_and.Scalar(q, 15)
    high = bitwise_right_shift.Tensor_Scalar(q, 4)
    both = stack.default([low, high], -1)""" + scaled(w, "both", "Scalar(m, 8)")


def zero_points(w):
    """The same with a zero point a group, which is a float."""
    body = bytes_of_two(w)
    z, q = (w.rng.integers(0, 60, (w.n, w.k // w.group)) / 4).astype(np.float16), w.inputs["q"]
    fields = np.stack([q & 15, q >> 4], -1).reshape(w.n, w.k)
    w.given(**w.inputs, z=z)
    s = w.inputs["s"]
    w.weights = ((fields - spread(z.T, w.group).T) * spread(s.T, w.group).T).T
    return body.replace("sub.Scalar(m, 8)", "sub.Tensor(m, unsqueeze.default(z, -1))")


def words_of_eight(w):
    """Eight fields in a word of 32 bits."""
    q, s = w.fields(w.n, w.k), w.scales(w.n, w.k // w.group)
    w.given(q=words(q), s=s)
    w.weights = ((q - 3) * spread(s.T, w.group).T).T
    return """
    at = arange.start_step(0, 32, 4, dtype = torch.int32)
    one = bitwise_right_shift.Tensor(unsqueeze.default(q, -1), at)
    both = bitwise_and.Scalar(one, 15)""" + scaled(w, "both", "Scalar(m, 3)")


def signed_bytes(w):
    """Bytes whose differences wrap around, before they are scaled."""
    q, s = w.rng.integers(-128, 128, (w.n, w.k)), w.scales(w.n, w.k // w.group)
    w.given(q=q.astype(np.int8), s=s)
    w.weights = ((q - 100).astype(np.int8) * spread(s.T, w.group).T).T
    return "\n    both = sub.Scalar(q, 100)" + scaled(w, "both", "Scalar(m, 0)")


def halves(w):
    """16-bit floats as they are, with a bias and a function after the sum."""
    v, b = w.rng.normal(size=(w.n, w.k)).astype(np.float16), w.scales(w.n)
    w.given(v=v, b=b)
    w.weights, w.bias = v.astype(np.float64).T, b.astype(np.float64)
    return """
    z = linear.default(x, v, b)
    y = relu.default(z)"""


def columns(w):
    """16-bit floats along columns."""
    v, b = w.rng.normal(size=(w.k, w.n)).astype(np.float16), w.scales(w.n)
    w.given(v=v, b=b)
    w.weights, w.bias = v.astype(np.float64), b.astype(np.float64)
    return """
    y = relu.default(addmm.default(b, x, v))"""


def bytes_along_columns(w):
    """Signed bytes along columns."""
    q = w.rng.integers(-128, 128, (w.k, w.n)).astype(np.int8)
    w.given(q=q)
    w.weights = q.astype(np.float64) / 64
    return """
    v = mul.Scalar(to.dtype(q, torch.float16), 0.015625)
    y = mm.default(x, v)"""


# Elements of the weight in one of memory; across: 0.
FORMS = {bytes_of_two: 2, zero_points: 2, words_of_eight: 8, signed_bytes: 1, halves: 1,
         columns: 0, bytes_along_columns: 0, along_the_sum: 0}
# More rows, from panels, by weights of few bits along the sum.
TURNED = [(9, 256, 64, 64), (16, 384, 65, 128), (33, 768, 100, 32), (64, 512, 130, 16)]
SIZES = [(1, 256, 64, 64), (2, 384, 65, 128), (3, 768, 100, 32), (5, 320, 67, 160),
         (8, 512, 130, 16), (1, 2048, 66, 32), (4, 128, 64, 128), (8, 1664, 66, 64),
         (3, 3968, 64, 32)]


FEW_ROWS = 8


def run_kernel(folder, w, plan, width, want, name):
    """The step of the product alone, on the left operand in its order, with vectors so wide."""
    step = next(s for s in plan.splitlines() if re.match(r"step \w*packed_mm", s))
    kernel = re.match(r"step (\w+)\(", step)[1]
    x, rows = w.x, len(w.x)
    ordered = re.search(r"temporary %\w+ \"f32\[(.*?)\]\"", plan)
    shape = [int(n) for n in ordered[1].split(", ")] if ordered else []
    if ordered:
        x = x.astype(np.float32)
    if len(shape) == 4 and rows > FEW_ROWS:
        panels, depth, lanes, _ = shape
        x = np.pad(x, ((0, panels * lanes - rows), (0, 0))).reshape(panels, lanes, depth)
        x = x.transpose(0, 2, 1)
    elif len(shape) == 4:
        blocks, rows, fields, lanes = shape
        x = x.reshape(rows, blocks, lanes, fields).transpose(1, 0, 3, 2)
    np.save(folder / "ordered.npy", np.ascontiguousarray(x))
    names = dict(re.findall(r"(\w+_ptr) = %(\w+)", step))
    given = []
    for parameter, of in names.items():
        of = "ordered" if of not in w.inputs and parameter.startswith("in") else of
        given.append(f"{parameter}=empty:f16[{rows},{w.n}]" if parameter == "out0_ptr"
                     else f"{parameter}=@{folder / of}.npy")
    sizes = dict(re.findall(r"(BM|BN|BK|BAND): (\d+)", step))
    many = rows > FEW_ROWS
    grid = f"cdiv({w.n}, {sizes['BM' if many else 'BN']}) * {shape[0] if many else 1}"
    constants = (f"-D{n}={v}" for n, v in sizes.items())
    done = nereid("run", f"{folder / 'k.py'}:{kernel}", *given, *constants, "--grid", grid,
                  "--device", "cpu", "--target", width, "--out", f"out0_ptr={folder / 'o.npy'}")
    off = np.inf
    if done.returncode == 0:
        off = np.linalg.norm(np.load(folder / "o.npy") - want) / np.linalg.norm(want)
    check(off < 1e-3, f"{name} with {width}: {off} {done.stderr[-500:]}")


def compare(form, seed, size, folder):
    rows, k, n, group = size
    n -= n % 8 if form is along_the_sum else 0
    w = Weights(k, n, group, seed)
    w.bias = 0
    body, name = form(w), f"{form.__name__} {rows} by {k} by {n}"
    w.x = (w.rng.normal(size=(rows, k)) * k**-0.5).astype(np.float16)
    (folder / "graph.py").write_text(text(w, body, rows))
    for tensor, a in {"x": w.x, **w.inputs}.items():
        np.save(folder / f"{tensor}.npy", a)
    want = w.x.astype(np.float64) @ w.weights + w.bias
    want = np.maximum(want, 0) if np.any(w.bias) else want
    plan = nereid("graph", folder / "graph.py", "--device", "cpu", "--emit", "plan")
    check(plan.returncode == 0, f"{name}: {plan.stderr[-500:]}")
    packed = not FORMS[form] or k % (16 * FORMS[form]) == 0
    check(("packed_mm" in plan.stdout) == packed, f"{name}: {plan.stdout[:500]}")
    arrays = [folder / f"{tensor}.npy" for tensor in ("x", *w.inputs)]
    for device in "cpu", "interp":
        done = nereid("graph", folder / "graph.py", *arrays, "--device", device, "--out-dir",
                      folder / "out")
        off = np.inf
        if done.returncode == 0:
            got = np.load(folder / "out/output_0.npy")
            off = np.linalg.norm(got - want) / np.linalg.norm(want)
        check(off < 1e-3, f"{name} on {device}: {off} {done.stderr[-500:]}")
    if not packed:
        return
    nereid("graph", folder / "graph.py", "--device", "cpu", "--emit", "kernels", "-o",
           folder / "k.py")
    run_kernel(folder, w, plan.stdout, WIDTHS[seed % len(WIDTHS)], want, name)


def large_inputs(form, folder):
    """Sums of products before their scale would be infinite."""
    w = Weights(256, 64, 64, 0)
    body, was = form(w), w.inputs["s"]
    w.x = rounded(w.rng.normal(size=(2, w.k)) * 2e37)
    w.given(**{**w.inputs, "s": rounded(was * 1e-3)})
    rows = [spread(s if form is along_the_sum else s.T, w.group) for s in (was, w.inputs["s"])]
    want = w.x.astype(np.float64) @ (w.weights / rows[0] * rows[1])
    (folder / "graph.py").write_text(text(w, body.replace("float16", "bfloat16"), 2))
    arrays = {"x": w.x, **w.inputs}
    for tensor, a in arrays.items():
        np.save(folder / f"{tensor}.npy", a)
    command = ["graph", folder / "graph.py", *(folder / f"{n}.npy" for n in arrays)]
    done = nereid(*command, "--device", "cpu", "--emit", "plan")
    check("acc - acc" in done.stdout, f"{form.__name__}: {done.stdout}")
    done = nereid(*command, "--device", "cpu", "--out-dir", folder / "out")
    got = np.load(folder / "out/output_0.npy") if not done.returncode else np.inf
    off = np.abs(got - want).max() / np.abs(want).max()
    check(off < 1e-2, f"{form.__name__}, large inputs: {off} {done.stderr[-500:]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            for seed, size in enumerate(SIZES + TURNED * (FORMS[form] > 1)):
                if len(sys.argv) == 1 or any(part in form.__name__ for part in sys.argv[1:]):
                    compare(form, seed, size, pathlib.Path(folder))
        for form in bytes_of_two, along_the_sum:
            large_inputs(form, pathlib.Path(folder))
    return report()


if __name__ == "__main__":
    sys.exit(main())
