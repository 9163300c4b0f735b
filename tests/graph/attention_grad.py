#!/usr/bin/env python3
"""Attention and its gradients as PyTorch's operators for training have them, against NumPy: dtypes,
widths, masks, grouped heads, dropout, sums of rows, and open sizes.

    attention_grad.py [--devices interp,cpu] [--random N] [NAME...]

Of the cases only those whose name has a NAME.
"""
import argparse, math, os, pathlib, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
ATEN = "torch.ops.aten._scaled_dot_product_"
OWN = "torch.ops.nereid.scaled_dot_product_attention"
TYPES = {"f32": None, "f16": "torch.float16", "bf16": "torch.bfloat16"}
TOLERANCE = {"f32": 3e-6, "f16": 3e-3, "bf16": 2e-2}
KINDS = {"float32": "f32", "bool": "b8", "int64": "i64"}


class Case:
    """form: the operator; mask: an array, or None; bias: its gradient is wanted; kernels: how many
    of attention there should be; open: sizes are symbols."""

    def __init__(self, form="cpu", b=1, h=2, kv=None, t=5, s=7, d=16, e=None, causal=False,
                 mask=None, bias=False, dropout=0.0, dtype="f32", scale=None, kernels=3,
                 open=False, seed=1):
        rng = np.random.default_rng(seed)
        kv, e = kv or h, e or d
        shapes = {"q": (b, h, t, d), "k": (b, kv, s, d), "v": (b, kv, s, e), "g": (b, h, t, e)}
        self.inputs = {n: rng.normal(0, 1, x).astype(np.float32) for n, x in shapes.items()}
        if mask is not None:
            self.inputs["mask"] = mask
        if dropout:
            self.inputs["seed"] = np.array(1234567890123 + seed, np.int64)
        self.form, self.causal, self.bias, self.dropout = form, causal, bias, dropout
        self.dtype, self.scale, self.kernels, self.open = dtype, scale, kernels, open
        self.sizes = b, h, t, s

    def parameters(self):
        names = {}
        for n, x in self.inputs.items():
            size = list(x.shape)
            if self.open and n in "qkvg":
                size[0], size[2] = "b", "t" if n in "qg" else "s"
            if TYPES[self.dtype] and x.dtype == np.float32:
                n += "32"
            names[n] = f'{KINDS[str(x.dtype)]}[{", ".join(map(str, size))}]'
        return ", ".join(f'{n}: "{t}"' for n, t in names.items())

    def calls(self):
        c, p, scale = self.causal, self.dropout, f", scale={self.scale}" if self.scale else ""
        mask = "mask" if "mask" in self.inputs else "None"
        seed = ", seed=seed" if p else ""
        if self.form == "cpu":
            more = f", attn_mask={mask}{scale}"
            return (f"{ATEN}flash_attention_for_cpu.default(q, k, v, 0.0, {c}{more})",
                    f"{ATEN}flash_attention_for_cpu_backward.default(g, q, k, v, a0, a1, 0.0, {c}"
                    f"{more})", [])
        if self.form == "flash":
            return (f"{ATEN}flash_attention.default(q, k, v, {p}, {c}, False{scale}{seed})",
                    f"{ATEN}flash_attention_backward.default(g, q, k, v, a0, a1, None, None, a4, "
                    f"a5, {p}, {c}, a6, a7{scale})", [4, 5, 6, 7])
        if self.form == "efficient":
            return (f"{ATEN}efficient_attention.default(q, k, v, {mask}, True, {p}, {c}{scale}"
                    f"{seed})",
                    f"{ATEN}efficient_attention_backward.default(g, q, k, v, {mask}, a0, a1, a2, "
                    f"a3, {p}, [True, True, True, {self.bias}], {c}{scale})", [2, 3])
        if self.form == "own":
            seed = "seed" if p else "None"
            return (f"{OWN}.default(q, k, v, {mask}, {p}, {c}, {seed}{scale})",
                    f"{OWN}_backward.default(g, q, k, v, {mask}, a0, a1, {seed}, {p}, "
                    f"[True, True, True, {self.bias}], {c}{scale})", [])
        more = f"{mask}, True, {p}, {c}, False{scale}{seed}"
        return (f"{ATEN}cudnn_attention.default(q, k, v, {more})",
                f"{ATEN}cudnn_attention_backward.default(g, q, k, v, a0, a1, a6, a7, {mask}, None, "
                f"None, a4, a5, {p}, {c}{scale})", [4, 5, 6, 7])

    def text(self):
        forward, backward, items = self.calls()
        to = TYPES[self.dtype]
        names = [n for n, x in self.inputs.items() if x.dtype == np.float32]
        lines = [f"{n} = torch.ops.aten.to.dtype({n}32, {to})" for n in names if to]
        lines += [f"a = {forward}"] + [f"a{i} = a[{i}]" for i in [0, 1] + items]
        lines += [f"b = {backward}"] + [f"b{i} = b[{i}]" for i in range(3 + self.bias)]
        out = ["a0", "a1"] + [f"b{i}" for i in range(3 + self.bias)]
        if to:
            lines += [f"{n}f = torch.ops.aten.to.dtype({n}, torch.float32)" for n in out]
            out = [n + "f" for n in out]
        body = "".join(f"    {line}\n" for line in lines)
        return f"def forward(self, {self.parameters()}):\n{body}    return ({', '.join(out)},)\n"

    def rounded(self):
        """The inputs as the attention gets them, in f64."""
        x = {n: self.inputs[n] for n in "qkvg"}
        if self.dtype == "f16":
            x = {n: v.astype(np.float16) for n, v in x.items()}
        if self.dtype == "bf16":
            x = {n: ((v.view(np.uint32) + 0x8000) & 0xffff0000).view(np.float32)
                 for n, v in x.items()}
        return [v.astype(np.float64) for v in x.values()]

    def expected(self, kept):
        """Results, given what dropout multiplies each share with."""
        q, k, v, g = self.rounded()
        b, h, t, s = self.sizes
        times = h // k.shape[1]
        heads = k.shape[1]
        k, v = (np.repeat(x, times, axis=1) for x in (k, v))
        scale = self.scale or q.shape[-1]**-0.5
        scores = np.einsum("bhtd,bhsd->bhts", q, k) * scale
        if self.causal:
            scores = np.where(np.tri(t, s, dtype=bool), scores, -np.inf)
        mask = self.inputs.get("mask")
        if mask is not None:
            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
        most = scores.max(-1, keepdims=True)
        most = np.where(most == -np.inf, 0, most)
        p = np.exp(scores - most)
        total = p.sum(-1, keepdims=True)
        with np.errstate(divide="ignore"):
            sums = np.where(total == 0, np.inf, most + np.log(total))[..., 0]
        p = p / np.where(total == 0, 1, total)
        out = (p * kept) @ v
        delta = (out * g).sum(-1, keepdims=True)
        ds = p * (g @ np.swapaxes(v, -1, -2) * kept - delta)
        dk = np.swapaxes(ds, -1, -2) @ q * scale
        dv = np.swapaxes(p * kept, -1, -2) @ g
        dk, dv = (x.reshape(b, heads, times, s, -1).sum(2) for x in (dk, dv))
        if self.form == "cpu":
            sums = np.where(sums == np.inf, 0, sums)
        elif self.form == "efficient":
            sums = np.pad(sums, ((0, 0), (0, 0), (0, -t % 32)), constant_values=np.inf)
        elif self.form == "cudnn":
            sums = sums[..., None]
        return [out, sums, ds @ k * scale, dk, dv] + ([ds] if self.bias else [])


# ---- running ----

def nereid(*args):
    done = subprocess.run([NEREID, "graph", *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def run(case, text, inputs, device, outputs):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "case.graph")
        path.write_text(text)
        files = []
        for n, x in inputs.items():
            files.append(pathlib.Path(folder, n + ".npy"))
            np.save(files[-1], x)
        status, _, messages = nereid(path, *files, "--device", device, "--out-dir", folder)
        if status:
            return messages
        return [np.load(f"{folder}/output_{i}.npy") for i in range(outputs)]


def kept_shares(case, device):
    """What dropout multiplies shares with: of a unit matrix as values the result is the shares."""
    b, h, t, s = case.sizes
    if not case.dropout:
        return np.ones((b, h, t, s))
    shares = Case(case.form, dropout=case.dropout, causal=case.causal, scale=case.scale)
    shares.inputs = dict(case.inputs)
    shares.inputs["v"] = np.broadcast_to(np.eye(s, dtype=np.float32), (b, h, s, s)).copy()
    forward, _, _ = shares.calls()
    shares.inputs.pop("g")
    text = (f"def forward(self, {shares.parameters()}):\n    a = {forward}\n    o = a[0]\n"
            "    return (o,)\n")
    got = run(shares, text, shares.inputs, device, 1)
    if isinstance(got, str):
        return got
    return np.where(got[0] != 0, 1 / (1 - case.dropout), 0)


def problem(case, devices):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "case.graph")
        path.write_text(case.text())
        status, fused, messages = nereid(path, "--emit", "fused")
        plan = nereid(path, "--emit", "plan", "--device", "interp")[1]
    kinds = [line.split()[1] for line in fused.splitlines() if not line.startswith("#")]
    if status or kinds.count("attention") != case.kernels:
        return f"kernels: {' '.join(kinds) or messages}"
    gradients = case.kernels > 0 and case.dtype != "f64"
    keys = case.sizes[3]
    lanes = keys >= 64 or keys % 16 == 0  # which keys of one kernel are
    lanes = lanes or "_row_words(" in plan  # words of bf16, where the CPU multiplies them
    keeps = gradients and (case.bias or not lanes) and not (case.causal or case.open)
    one = gradients and not case.bias and not keeps
    if keeps != ("attention_grad_kept" in plan):
        return f"gradients of scores are {'not ' * keeps}kept"
    if one != ("attention_grad_parts" in plan):
        return f"{'no' if one else 'a'} kernel of all gradients"
    for device in devices:
        kept = kept_shares(case, device)
        if isinstance(kept, str):
            return f"{device}: {kept}"
        seen = kept[..., np.tri(*case.sizes[2:], dtype=bool)] if case.causal else kept
        gap = abs((seen != 0).mean() - (1 - case.dropout))
        if gap > 5 * math.sqrt(case.dropout / seen.size):
            return f"{device}: dropout keeps {(seen != 0).mean()}"
        expected = case.expected(kept)
        got = run(case, case.text(), case.inputs, device, len(expected))
        if isinstance(got, str):
            return f"{device}: {got}"
        for name, a, x in zip(("out", "sums", "dq", "dk", "dv", "dbias"), got, expected):
            if a.shape != x.shape:
                return f"{device}: {name} is {list(a.shape)}, not {list(x.shape)}"
            if not ((a == np.inf) == (x == np.inf)).all():
                return f"{device}: {name} is infinite elsewhere"
            a, x = (np.where(y == np.inf, 0, y) for y in (a, x))
            error = np.linalg.norm(a - x) / max(np.linalg.norm(x), 0.1 * x.size**0.5)
            if not error < TOLERANCE[case.dtype] * (1 if name in ("out", "sums") else 2):
                return f"{device}: {name} is off by {error:.3g} of its norm"
    return ""


# ---- cases ----

def masks(t, s):
    rng = np.random.default_rng(7)
    seen = rng.random((2, 1, t, s)) < 0.6
    seen[..., 0] = True
    hidden = seen.copy()
    hidden[0, 0, 2], hidden[1, 0, 1] = False, False
    return seen, hidden


def cases():
    seen, hidden = masks(6, 40)
    least = np.where(seen, 0, np.finfo(np.float32).min).astype(np.float32)
    added = np.random.default_rng(8).normal(0, 1, (2, 3, 6, 40)).astype(np.float32)
    minus = np.where(hidden, 0, -np.inf).astype(np.float32)
    small = dict(b=2, h=3, t=6, s=40)
    yield "plain", Case(b=2, h=3)
    yield "blocks", Case(t=150, s=140)
    yield "one key", Case(t=3, s=1)
    yield "one row", Case(t=1, s=9)
    yield "causal", Case(t=150, s=150, causal=True)
    yield "causal, more keys", Case(t=40, s=170, causal=True)
    yield "causal, more rows", Case(t=170, s=40, causal=True)
    yield "scale", Case(scale=0.7)
    for d in 1, 20, 64, 80, 256:
        yield f"width {d}", Case(t=6, s=40, d=d)
    yield "widths differ", Case("efficient", t=6, s=40, d=24, e=40)
    yield "a column of keys", Case("efficient", t=6, s=40, d=1, e=40)
    yield "too wide", Case("efficient", t=6, s=9, d=260, kernels=0)
    for form in "flash", "efficient", "cudnn", "own":
        yield form, Case(form, **small)
        yield f"{form} causal", Case(form, t=70, s=70, causal=True)
        yield f"{form} dropout", Case(form, b=2, t=40, s=70, dropout=0.3)
        yield f"{form} causal dropout", Case(form, t=70, s=70, causal=True, dropout=0.1)
    yield "groups", Case("flash", b=2, h=6, kv=2, t=40, s=70)
    yield "groups causal", Case("flash", h=4, kv=1, t=70, s=70, causal=True)
    yield "groups on a CPU", Case(h=4, kv=2)
    yield "groups dropout", Case("cudnn", h=2, kv=2, t=40, s=40, dropout=0.5)
    yield "groups of many rows", Case("own", h=4, kv=1, t=1030, s=40)
    yield "groups of many rows, dropout", Case("own", h=4, kv=1, t=1030, s=40, dropout=0.2)
    yield "bf16", Case("flash", b=2, t=40, s=70, d=64, dtype="bf16")
    yield "bf16 causal", Case("flash", t=150, s=150, d=40, causal=True, dtype="bf16")
    yield "bf16 causal, more keys", Case(t=40, s=170, d=16, causal=True, dtype="bf16")
    yield "bf16 groups", Case("flash", h=4, kv=2, t=70, s=70, d=24, dtype="bf16")
    yield "bf16 of many keys", Case(h=1, t=70, s=1100, d=8, dtype="bf16")
    yield "bf16 windows", Case(b=2, h=1, t=49, s=49, d=32, dtype="bf16")
    yield "bf16 open sizes", Case("flash", t=70, s=70, dtype="bf16", open=True)
    yield "bf16 widths differ", Case("own", t=30, s=40, d=24, e=72, dtype="bf16")
    yield "bf16 of odd widths", Case("own", t=30, s=40, d=20, e=36, dtype="bf16")
    yield "f16 causal", Case("flash", t=70, s=70, d=32, dtype="f16", causal=True)
    yield "f16 groups", Case("flash", h=4, kv=2, t=70, s=70, d=32, dtype="f16")
    for name, mask in ("seen", seen), ("rows that see nothing", hidden), ("added", added), (
            "rows of -inf", minus), ("least", least), ("of keys", seen[:, :, :1]):
        yield f"mask: {name}", Case(mask=mask, **small)
        yield f"cudnn mask: {name}", Case("cudnn", mask=mask, **small)
        yield f"own mask: {name}", Case("own", kv=1, mask=mask, **small)
        yield f"bf16 mask: {name}", Case("own", mask=mask, dtype="bf16", **small)
    yield "own bias", Case("own", kv=1, mask=added, bias=True, **small)
    yield "bias", Case("efficient", mask=added, bias=True, **small)
    yield "bias of blocks", Case("efficient", t=150, s=140, bias=True,
                                 mask=np.zeros((1, 2, 150, 140), np.float32))
    yield "bias, many keys", Case("own", t=70, s=290, bias=True,
                                  mask=np.zeros((1, 1, 70, 290), np.float32))
    yield "few rows", Case(h=3, t=17, s=49, d=32)
    yield "windows", Case("own", b=3, h=2, t=49, s=49, d=32, bias=True,
                          mask=np.random.default_rng(9).normal(0, 1, (1, 2, 49, 49)).astype("f"))
    yield "bias bf16", Case("efficient", mask=added, bias=True, dtype="bf16", **small)
    yield "bias that broadcasts", Case("efficient", mask=added[:1, :1], **small)
    yield "open sizes", Case("flash", b=2, t=70, s=70, open=True)
    yield "open sizes causal", Case("flash", b=2, t=70, s=70, open=True, causal=True)


def random_case(rng):
    pick = lambda *x: x[rng.integers(len(x))]  # noqa: E731
    form = pick("cpu", "flash", "efficient", "cudnn", "own", "own")
    grouped = form in ("flash", "cudnn", "own")
    kv, times = int(rng.integers(1, 4)), pick(1, 1, 2, 3) if grouped else 1
    b, t, s = int(rng.integers(1, 3)), int(rng.integers(1, 150)), int(rng.integers(1, 150))
    mask = None
    if form not in ("flash", ) and rng.random() < 0.4:
        shape = [pick(1, n) for n in (b, kv * times, t, s)]
        mask = rng.normal(0, 1, shape).astype(np.float32)
        if rng.random() < 0.5:
            mask = mask < 0.5
    causal = mask is None and rng.random() < 0.4
    dropout = pick(0, 0.2) if form != "cpu" and times == 1 and mask is None else 0
    bias = mask is not None and form in ("efficient", "own") and mask.dtype != bool
    d = pick(8, 16, 24, 32, 64, 72)
    e = pick(d, 16, 40) if form in ("efficient", "cudnn", "own") else d
    return Case(form, b, kv * times, kv, t, s, d, e, causal, mask, bias, dropout,
                dtype=pick("f32", "f32", "bf16"), seed=int(rng.integers(1 << 30)),
                open=rng.random() < 0.3 and mask is None)


def check_hidden(device):
    """A mask adds -100 to hidden keys, whose shares are no normal numbers: on a CPU they are 0,
    though the values are large."""
    case = Case("own", t=20, s=40, d=32, mask=np.zeros((1, 1, 20, 40), np.float32))
    case.inputs["mask"][..., 30:] = -100
    case.inputs["v"][:, :, 30:] = 3e38
    for n in "qk":
        case.inputs[n] *= 0.01
    lines = case.text().split("\n")
    text = "\n".join([lines[0], *[x for x in lines if " a = " in x or " a0 = " in x],
                      "    return (a0,)", ""])
    got = run(case, text, case.inputs, device, 1)
    seen = Case("own", t=20, s=30, d=32)
    seen.inputs = {n: x[:, :, :30] if n in "kv" else x for n, x in case.inputs.items()
                   if n != "mask"}
    want = seen.expected(np.ones((1, 2, 20, 30)))[0]
    text = got if isinstance(got, str) else f"{np.abs(got[0] - want).max()}"
    check(not isinstance(got, str) and np.abs(got[0] - want).max() < 1e-6,
          f"hidden keys on {device}: {text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", default="interp")
    parser.add_argument("--random", type=int, default=0, help="so many random cases as well")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    every = list(cases())
    rng = np.random.default_rng(args.seed)
    for i in range(args.random):
        every.append((f"random {i}", random_case(rng)))
    for name, case in every:
        if args.names and not any(n in name for n in args.names):
            continue
        text = problem(case, args.devices.split(","))
        check(not text, f"{name}: {text}")
    for device in args.devices.split(","):
        check_hidden(device)
    return report()


sys.exit(main())
