#!/usr/bin/env python3
"""Calls of compiled graphs without gradients: past AOTAutograd's wrappers where these do nothing,
through them where they write inputs, make views or take tensors apart."""
import os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None


def wrappers_of(call):
    """(results of a call, did wrappers of AOTAutograd's run?)"""
    found = []

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.endswith("runtime_wrappers.py"):
            found.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        results = call()
    finally:
        sys.setprofile(None)
    return results, bool(found)


def same(got, want):
    got, want = (value if isinstance(value, (tuple, list)) else (value,) for value in (got, want))
    return len(got) == len(want) and all(
        torch.allclose(a, b, rtol=1e-4, atol=1e-5) and a.requires_grad == b.requires_grad
        and a._version == b._version and a.stride() == b.stride() for a, b in zip(got, want))


def check(title, function, make, direct, runs=3, **options):
    """`make` gives the inputs of a call; the second call and later ones are direct."""
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="nereid", **options)
    for run in range(runs):
        torch.manual_seed(run)
        given = make()
        copies = [value.detach().clone().requires_grad_(value.requires_grad) for value in given]
        grad = torch.is_grad_enabled()
        torch.manual_seed(run)
        want = function(*copies)
        torch.manual_seed(run)
        got, wraps = wrappers_of(lambda: compiled(*given))
        tally.check(same(got, want), f"{title}: results of call {run}")
        tally.check(same(given, copies), f"{title}: inputs after call {run}")
        tally.check(torch.is_grad_enabled() == grad, f"{title}: gradients' mode after call {run}")
        if run:
            tally.check(wraps != direct, f"{title}: wrappers {'run' if wraps else 'do not run'}")


def written(x):
    x.add_(1)
    return x * 2


def check_direct():
    x = lambda: [torch.randn(6, 5)]
    check("one result", lambda x: x + 1, x, True)
    check("two results", lambda x: (x + 1, x.sum(0)), x, True)
    check("columns first", lambda x: (x * 2).t().contiguous() + 1, x, True)
    check("by PyTorch", lambda x: (x + 1).sin() * 2, x, True,
          options={"by_pytorch": ["aten.sin.default"]})
    check("numbers", lambda x: x + torch.rand(5), x, True, options={"fallback_random": True})
    check("an input as it is", lambda x: (x, x + 1), x, True)
    linear = torch.nn.Linear(5, 3)
    with torch.no_grad():
        check("weights", linear, x, True)
        check("inputs with gradients", lambda x: x.exp(), lambda: [torch.randn(4).requires_grad_()],
              True)
    for turn in ("made", "loaded"):
        check(f"a stored graph, {turn}", lambda x: x.cos() + 3, x, True,
              options={"cache_autograd": True})


def check_wrapped():
    x = lambda: [torch.randn(6, 5)]
    check("an input that is written", written, x, False)
    check("a view", lambda x: (x[1:], x + 1), x, False)
    check("open sizes", lambda x: x.softmax(-1), lambda: [torch.randn(4 + torch.randint(
        5, ()).item(), 5)], False, dynamic=True)
    check("gradients", lambda x: x * 3, lambda: [torch.randn(4).requires_grad_()], False)
    check("what is compared", lambda x: x + 5, x, False, options={"verify": True})
    with torch.autocast("cpu", dtype=torch.bfloat16):
        check("autocast", lambda x: x @ x.t(), x, False)


def check_parts():
    """A tensor of two: AOTAutograd computes on both."""
    from torch.testing._internal.two_tensor import TwoTensor

    torch._dynamo.reset()
    function = lambda x: x * 2 + 1
    compiled = torch.compile(function, backend="nereid")
    for _ in range(3):
        x = TwoTensor(torch.randn(4), torch.randn(4))
        got, want = compiled(x), function(x)
        tally.check(type(got) is TwoTensor and same([got.a, got.b], [want.a, want.b]),
                    "a tensor of two")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    check_direct()
    check_wrapped()
    check_parts()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
