#!/usr/bin/env python3
"""Mixtures of experts by torch.compile: products of groups beside eager PyTorch and float64, with
gradients; forms in which users write experts; group ends that are wrong.  On tensors of the CPU, or
with the argument cuda of a GPU.  --random N, --seed S: that many random groups and sizes."""
import contextlib, os, pathlib, subprocess, sys, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import tally

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
try:
    import torch
    import quick_torch
    import torch.nn.functional as F
except ImportError:
    torch = None


def argument(name, otherwise):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else otherwise


# ---- products of groups ----


def draw(rng, *shape):
    return torch.randn(*shape, generator=rng).to(DEVICE, torch.bfloat16)


def ends_of(rng, groups, rows):
    """Of groups of any sizes, among them empty ones; the last may end before the rows do."""
    cuts = torch.sort(torch.randint(0, rows + 1, (groups,), generator=rng)).values
    cuts[torch.rand(groups, generator=rng) < 0.2] = 0
    return torch.cummax(cuts, 0).values


def exactly(x, w, cuts):
    begins = [0, *cuts.tolist()]
    parts = [x[a:b] @ w[i] for i, (a, b) in enumerate(zip(begins, begins[1:]))]
    return torch.cat([*parts, x[begins[-1]:] @ w[0] * 0])


def with_gradients(call, x, w, g):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    y = call(x, w)
    y.backward(g.to(y.dtype))
    return [y.detach(), x.grad, w.grad]


def check_errors(name, got, eager, want):
    """No more than twice eager's error from float64, or than one rounding."""
    for what, a, b, c in zip(("result", "gradient of rows", "of matrices"), got, eager, want):
        norm = c.norm().item() or 1
        error, other = ((t.double() - c).norm().item() / norm for t in (a, b))
        tally.check(error <= max(2 * other, 1e-3), f"{name}: {what} is off by {error:.2e}, eager's "
                    f"by {other:.2e}")


def check_products(seed):
    rng = torch.Generator().manual_seed(seed)
    pick = lambda hi: 8 * int(torch.randint(1, hi, (), generator=rng))  # noqa: E731
    groups, rows, k, n = pick(20) // 8, pick(40), pick(16), pick(16)
    cuts = ends_of(rng, groups, rows)
    offs, last = cuts.to(DEVICE, torch.int32), int(cuts[-1])
    turned = seed % 2
    x, g = draw(rng, rows, k), draw(rng, rows, n)
    w = draw(rng, groups, n, k) if turned else draw(rng, groups, k, n)
    product = F.grouped_mm if seed % 3 else torch._grouped_mm

    def call(x, w):
        return product(x, w.transpose(-2, -1) if turned else w, offs=offs)

    def exact(x, w):
        return exactly(x, w.transpose(-2, -1) if turned else w, cuts)

    torch._dynamo.reset()
    found = [with_gradients(f, a, b, g) for f, a, b in
             ((torch.compile(call, backend="nereid"), x, w), (call, x, w),
              (exact, x.double(), w.double()))]
    inside = [[y[:last], dx[:last], dw] for y, dx, dw in found]
    check_errors(f"seed {seed}", *inside)


def check_other_forms():
    """Groups of columns, and batches of matrices."""
    rng = torch.Generator().manual_seed(0)
    offs = torch.tensor([8, 8, 24], dtype=torch.int32, device=DEVICE)
    a, b = draw(rng, 3, 16, 32), draw(rng, 24, 32).t()
    c = draw(rng, 3, 32, 8)
    begins = [0, 8, 8, 24]
    for name, args, want in (
            ("columns", (a, b, offs),
             lambda: torch.cat([a[i].double() @ b[:, begins[i]:begins[i + 1]].double()
                                for i in range(3)], 1)),
            ("batches", (a, c, None), lambda: torch.bmm(a.double(), c.double()))):
        torch._dynamo.reset()
        call = torch.compile(lambda x, y, o: torch._grouped_mm(x, y, offs=o), backend="nereid")
        want = want()
        error = ((call(*args).double() - want).norm() / want.norm()).item()
        tally.check(error < 4e-3, f"{name}: off by {error:.2e}")


# ---- 8-bit floats with scales of rows and columns ----


def scaled_cases(rng):
    """Operands as PyTorch wants them, their values in float64, and the scales."""
    def whole(*shape):
        return torch.randn(*shape, generator=rng).to(DEVICE, torch.float8_e4m3fn)

    def scales(*shape):
        return (torch.rand(*shape, generator=rng) + 0.5).to(DEVICE)

    yield "rows", whole(64, 32), whole(3, 48, 32).mT, scales(64), scales(3, 48)
    yield "columns", whole(3, 16, 32), whole(64, 32).mT, scales(3, 16), scales(64)
    yield "sum", whole(32, 64), whole(48, 64).mT, scales(3 * 32), scales(3 * 48)
    yield "batches", whole(3, 16, 32), whole(3, 48, 32).mT, scales(3, 16), scales(3, 48)


def scaled_exactly(name, x, w, a, b, begins):
    parts = [slice(p, q) for p, q in zip(begins, begins[1:])]
    x, w, a, b = (t.double() for t in (x, w, a, b))
    if name == "rows":
        x = x * a[:, None]
        return torch.cat([x[p] @ w[i] * b[i] for i, p in enumerate(parts)])
    if name == "columns":
        w = w * b
        return torch.cat([x[i] * a[i][:, None] @ w[:, p] for i, p in enumerate(parts)], 1)
    a, b = a.view(3, -1, 1), b.view(3, 1, -1)
    if name == "sum":
        return torch.stack([x[:, p] @ w[p] for p in parts]) * a * b
    return x @ w * a * b


def check_scaled(last):
    rng, begins = torch.Generator().manual_seed(0), [0, 16, 16, last]
    ends = torch.tensor(begins[1:], dtype=torch.int32, device=DEVICE)
    for name, x, w, a, b in scaled_cases(rng):
        if last != 64 and name != "sum":
            continue
        offs = None if name == "batches" else ends
        torch._dynamo.reset()
        call = torch.compile(lambda *t: torch._scaled_grouped_mm(*t, out_dtype=torch.bfloat16),
                             backend="nereid")
        want = scaled_exactly(name, x, w, a, b, begins)
        error = ((call(x, w, a, b, offs).double() - want).norm() / want.norm()).item()
        tally.check(error < 4e-3, f"scaled {name} to {last}: off by {error:.2e}")


# ---- experts as users write them ----


def route(x, router, top):
    wide = torch.promote_types(x.dtype, torch.float32)
    weights, experts = torch.topk(torch.softmax(x.to(wide) @ router.to(wide), -1), top)
    return (weights / weights.sum(-1, keepdim=True)).to(x.dtype), experts


def swiglu(h):
    gate, up = h.chunk(2, -1)
    return F.silu(gate) * up


def ends(experts, n):
    return torch.histc(experts.float(), bins=n, min=0, max=n - 1).cumsum(0).to(torch.int32)


def given(x, offs, up, down):
    return torch._grouped_mm(swiglu(torch._grouped_mm(x, up, offs=offs)), down, offs=offs)


def sorted_rows(x, router, up, down, top=2):
    weights, experts = route(x, router, top)
    order = torch.argsort(experts.view(-1), stable=True)
    y = given(x[order // top], ends(experts.view(-1), up.shape[0]), up, down)
    y = y * weights.view(-1)[order].unsqueeze(-1)
    return torch.zeros_like(x).index_add(0, order // top, y)


def counted(x, router, up, down, top=2):
    weights, experts = route(x, router, top)
    order = torch.argsort(experts.view(-1), stable=True)
    offs = torch.bincount(experts.view(-1), minlength=up.shape[0]).cumsum(0, dtype=torch.int32)
    index = (order // top).view(-1, 1).expand(-1, x.shape[1])
    rows = torch.gather(x, 0, index) * weights.view(-1)[order].view(-1, 1)
    return torch.zeros_like(x).scatter_add(0, index, given(rows, offs, up, down) * 0.5)


def sorted_back(x, router, up, down, top=2):
    weights, experts = route(x, router, top)
    token = torch.arange(x.shape[0], device=x.device).unsqueeze(1).expand(-1, top).reshape(-1)
    order = torch.argsort(experts.reshape(-1))
    y = given(x[token][order], ends(experts.reshape(-1)[order], up.shape[0]), up, down)
    y = (y * weights.reshape(-1)[order].unsqueeze(-1))[torch.argsort(order)]
    return y.view(x.shape[0], top, x.shape[1]).sum(1)


def loop(x, router, up, down, top=2):
    weights, experts = route(x, router, top)
    out = torch.zeros_like(x)
    for e in range(up.shape[0]):
        token, which = torch.where(experts == e)
        y = swiglu(x[token] @ up[e]) @ down[e]
        out = out.index_add(0, token, y * weights[token, which, None])
    return out


def every_expert(x, router, up, down, top=2):
    weights, experts = route(x, router, top)
    share = torch.zeros(x.shape[0], up.shape[0], dtype=x.dtype, device=x.device)
    share = share.scatter(1, experts, weights)
    y = torch.bmm(swiglu(torch.bmm(x.expand(up.shape[0], -1, -1), up)), down)
    return (y * share.t().unsqueeze(-1)).sum(0)


def check_form(form, tokens=40, width=32, hidden=24, experts=6):
    rng = torch.Generator().manual_seed(tokens)
    args = [draw(rng, tokens, width), torch.randn(width, experts, generator=rng).to(DEVICE),
            draw(rng, experts, width, 2 * hidden) * 0.2, draw(rng, experts, hidden, width) * 0.2]
    g = draw(rng, tokens, width)

    def run(call, dtype=None):
        leaves = [t.to(dtype or t.dtype).clone().requires_grad_() for t in args]
        y = call(*leaves)
        y.backward(g.to(y.dtype))
        return [y.detach(), *[t.grad for t in leaves]]

    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as told:
        got = run(torch.compile(form, backend="nereid"))
    by_pytorch = [w for w in told if "nereid" in str(w.message).lower()]
    tally.check(not by_pytorch, f"{form.__name__}: {by_pytorch and by_pytorch[0].message}")
    eager, want = run(form), run(every_expert if form is not counted else form_of_counted,
                                 torch.float64)
    for i, (a, b, c) in enumerate(zip(got, eager, want)):
        norm = c.norm().item() or 1
        error, other = ((t.double() - c).norm().item() / norm for t in (a, b))
        tally.check(error <= max(2 * other, 4e-3),
                    f"{form.__name__}: result {i} is off by {error:.2e}, eager's by {other:.2e}")


def form_of_counted(x, router, up, down, top=2):
    """counted, which scales rows before the products."""
    weights, experts = route(x, router, top)
    out = torch.zeros_like(x)
    for j in range(top):
        rows = x * weights[:, j, None]
        h = torch.einsum("td,tdh->th", rows, up[experts[:, j]])
        out = out + torch.einsum("th,thd->td", swiglu(h), down[experts[:, j]]) * 0.5
    return out


# ---- wrong ends ----


WRONG = {"fall": ([4, 2, 16], "one is less than the one before"),
         "overrun": ([4, 8, 17], "out of range"), "are negative": ([-1, 2, 9], "out of range"),
         "are uneven": ([16, 24, 64], "no multiple of 16")}


def wrong_call(name):
    """What takes ends, and the other arguments.  PyTorch's kernel asserts where groups of a sum of
    8-bit floats begin."""
    rng = torch.Generator().manual_seed(0)
    if name == "are uneven":
        (x, w, a, b), = [case[1:] for case in scaled_cases(rng) if case[0] == "sum"]
        return lambda ends: torch._scaled_grouped_mm(x, w, a, b, ends, out_dtype=torch.bfloat16)
    x, w = draw(rng, 16, 8), draw(rng, 3, 8, 16)
    return lambda ends: torch._grouped_mm(x, w, offs=ends)


def call_wrongly(name):
    torch._dynamo.reset()
    call = torch.compile(wrong_call(name), backend="nereid")
    call(torch.tensor(WRONG[name][0], dtype=torch.int32, device=DEVICE))
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def check_refused():
    """On a GPU the kernel ends by an assertion, after which the process can't use it."""
    for name, (ends, text) in WRONG.items():
        if DEVICE == "cuda":
            done = subprocess.run([sys.executable, __file__, "cuda", "--wrong", name], text=True,
                                  capture_output=True, timeout=200)
            tally.check(done.returncode == 1 and text in done.stderr,
                        f"ends that {name}: {done.returncode}, {done.stderr[-400:]}")
            continue
        try:
            call_wrongly(name)
            tally.check(False, f"ends that {name} are taken")
        except (IndexError, RuntimeError) as error:
            tally.check(text in str(error), f"ends that {name}: {error}")


def check_after_refused():
    torch._dynamo.reset()
    eager = wrong_call("fall")
    call = torch.compile(eager, backend="nereid")
    for ends in ([4, 2, 16], [4, 4, 16]):
        ends = torch.tensor(ends, dtype=torch.int32)
        with contextlib.suppress(RuntimeError):
            got = call(ends)
    far = (got - eager(ends)).abs().max().item()
    tally.check(far < 0.1, f"the call after a refused one is off by {far}")


def main():
    if torch is None or not hasattr(torch, "_grouped_mm"):
        print("1 skipped: no PyTorch with _grouped_mm")
        return tally.report()
    if "--wrong" in sys.argv:
        return call_wrongly(sys.argv[sys.argv.index("--wrong") + 1])
    count, seed = argument("--random", 6), argument("--seed", 1)
    for i in range(seed, seed + count):
        check_products(i)
    if "--random" not in sys.argv:
        check_other_forms()
        for last in (64, 48, 42, 17):
            check_scaled(last)
        for form in (sorted_rows, counted, sorted_back, loop, every_expert):
            check_form(form)
        check_refused()
        if DEVICE == "cpu":
            check_after_refused()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
