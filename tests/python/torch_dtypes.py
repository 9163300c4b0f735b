#!/usr/bin/env python3
"""Values and gradients where a dtype, or the data, tells right forms of an operator from others:
torch.compile(backend="nereid") against eager PyTorch."""
import os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
import tally

try:
    import torch
except ImportError:
    torch = None


def equal_rows(rows):
    """Columns of equal elements, whose mean in f32 is often another number."""
    return torch.randn(1, 33, generator=torch.Generator().manual_seed(0)).repeat(rows, 1)


def exact():
    """{name: (function, inputs)}: results and gradients have eager mode's bits."""
    return {
        "std of equal elements": (lambda x: x.std(0), equal_rows(5)),
        "std_mean of equal elements": (lambda x: torch.std_mean(x, 0, keepdim=True)[0],
                                       equal_rows(5)),
        "a factor that ends early": (lambda x: torch.linalg.cholesky_ex(x.detach()), torch.tensor(
            [[4.0, 2, 4, 6], [2, 10, 14, 18], [4, 14, 17, 7], [6, 18, 7, 9]])),
    }


def results_of(function, inputs):
    """The results, and the gradients of their sum."""
    leaves = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    results = function(*leaves)
    results = list(results) if isinstance(results, tuple) else [results]
    sums = [x.sum() for x in results if x.requires_grad]
    wanted = [x for x in leaves if x.requires_grad]
    gradients = torch.autograd.grad(sum(sums), wanted) if sums else ()
    return [x.detach() for x in (*results, *gradients)]


def check_exact():
    for name, (function, *inputs) in exact().items():
        torch._dynamo.reset()
        want = results_of(function, inputs)
        got = results_of(torch.compile(function, backend="nereid", fullgraph=True), inputs)
        same = all(a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(got, want))
        tally.check(same and len(got) == len(want), f"{name}: {got}, not {want}")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    check_exact()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
