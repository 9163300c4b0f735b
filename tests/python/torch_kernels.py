#!/usr/bin/env python3
"""Kernels inside torch.compile, torch.library.triton_op and custom_op; on tensors of the CPU, or
with the argument cuda of a GPU.  --inductor: that backend, too."""
import os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import tally

STANDS_IN = "--as-triton" in sys.argv
DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
if STANDS_IN:
    nereid.install_as_triton()
try:
    import torch
    import quick_torch
except ImportError:
    torch = None
import nereid.language as tl


def check(what, ok, found=None):
    tally.check(ok, what if found is None else f"{what}: {found}")


@nereid.jit
def add_kernel(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@nereid.jit
def double_in_place(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@nereid.autotune([nereid.Config({"B": 16}), nereid.Config({"B": 32}, num_warps=1)], key=["n"])
@nereid.jit
def tuned_add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@nereid.heuristics({"B": lambda args: nereid.next_power_of_2(args["n"])})
@nereid.jit
def heuristic_add(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def with_tuple(x, y):
    out = torch.empty_like(x)
    add_kernel[(nereid.cdiv(x.numel(), 16),)](x, y, out, x.numel(), B=16)
    return out.sin() + 1


def with_function(x, y):
    out = torch.zeros_like(x)
    n = out.numel()
    add_kernel[lambda meta: (nereid.cdiv(n, meta["B"]),)](x, y, out, n, B=16, num_warps=2)
    return out.sin() + 1


def in_place(x, y):
    z = x + y
    double_in_place[(nereid.cdiv(x.numel(), 16),)](z, x.numel(), B=16)
    double_in_place[(nereid.cdiv(x.numel(), 16),)](z, x.numel(), B=16)
    return (z / 4).sin() + 1


def with_autotuner(x, y):
    out = torch.empty_like(x)
    n = out.numel()
    tuned_add[lambda meta: (nereid.cdiv(n, meta["B"]),)](x, y, out, n)
    return out.sin() + 1


def with_heuristics(x, y):
    out = torch.empty_like(x)
    heuristic_add[(1,)](x, y, out, out.numel())
    return out.sin() + 1


FUNCTIONS = (with_tuple, with_function, in_place, with_autotuner, with_heuristics)


def tensors(n=40):
    torch.manual_seed(n)
    return torch.randn(n, device=DEVICE), torch.randn(n, device=DEVICE)


def compare(what, function, *args):
    """Checks that a function of tensors x and y gives (x + y).sin() + 1."""
    try:
        found = function(*args)
    except Exception as error:
        check(what, False, f"{type(error).__name__}: {str(error)[:1500]}")
        return
    check(what, torch.allclose(found, (args[0] + args[1]).sin() + 1, atol=1e-6))


def check_backends(backends, **options):
    for backend in backends:
        for function in FUNCTIONS:
            torch._dynamo.reset()
            compiled = torch.compile(function, backend=backend, **options)
            compare(f"{function.__name__} under {backend}", compiled, *tensors())
        torch._dynamo.reset()
        compiled = torch.compile(with_function, backend=backend, dynamic=True, **options)
        for n in (40, 50, 64):
            compare(f"{n} elements under {backend}, of any size", compiled, *tensors(n))


def written(kernel, kwargs):
    """What PyTorch takes for written, in the way of its version."""
    from torch._higher_order_ops import triton_kernel_wrap as wrap

    if hasattr(wrap, "identify_mutated_tensors"):
        return wrap.identify_mutated_tensors(kernel, kwargs, {})
    accesses = wrap.identify_accessed_tensors(kernel, kwargs, {})
    return [dep.name for dep in accesses.read_writes.writes]


def check_written():
    x, y = tensors()
    kwargs = {"x": x, "y": y, "out": x, "n": 40, "B": 16}
    found = written(add_kernel, kwargs)
    check("the arguments that a kernel writes", found == ["out"], found)
    found = written(double_in_place, {"x": x, "n": 40, "B": 16})
    check("one that is read, too", found == ["x"], found)


def check_triton_op(backends):
    from torch.library import triton_op, wrap_triton

    @triton_op("nereid_tests::add", mutates_args={})
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        wrap_triton(add_kernel)[(nereid.cdiv(out.numel(), 16),)](x, y, out, out.numel(), B=16)
        return out

    add.register_autograd(lambda ctx, grad: (grad, grad))

    def function(x, y):
        return add(x, y).sin() + 1

    compare("triton_op", function, *tensors())
    for backend in backends:
        torch._dynamo.reset()
        compare(f"triton_op under {backend}",
                torch.compile(function, backend=backend, fullgraph=True), *tensors())
    x, y = (t.requires_grad_() for t in tensors())
    function(x, y).sum().backward()
    check("the gradient of a triton_op", torch.allclose(x.grad, (x + y).cos(), atol=1e-6))
    torch._dynamo.reset()
    z, w = (t.requires_grad_() for t in tensors())
    torch.compile(function, backend="aot_eager", fullgraph=True)(z, w).sum().backward()
    check("the gradient of a compiled one", torch.allclose(z.grad, x.grad))
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(lambda x, y: add_in_graph(wrap_triton, x, y))(*tensors())
    check("wrap_triton in make_fx", "triton_kernel_wrapper_mutation" in graph.code, graph.code)
    compare("the graph of make_fx", lambda x, y: graph(x, y).sin() + 1, *tensors())


def add_in_graph(wrap_triton, x, y):
    out = torch.empty_like(x)
    wrap_triton(add_kernel)[(nereid.cdiv(out.numel(), 16),)](x, y, out, out.numel(), B=16)
    return out


def check_custom_op(backends):
    @torch.library.custom_op("nereid_tests::add_opaque", mutates_args=())
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        add_kernel[(nereid.cdiv(out.numel(), 16),)](x, y, out, out.numel(), B=16)
        return out

    add.register_fake(lambda x, y: torch.empty_like(x))
    for backend in backends:
        torch._dynamo.reset()
        compare(f"custom_op under {backend}", torch.compile(
            lambda x, y: add(x, y).sin() + 1, backend=backend, fullgraph=True), *tensors())


def main():
    inductor = DEVICE == "cuda" or "--inductor" in sys.argv  # on a CPU it compiles C++ for long
    backends = ("eager", "aot_eager", "inductor") if inductor else ("eager", "aot_eager")
    check_custom_op(backends)
    if STANDS_IN:
        check_written()
        check_backends(backends, fullgraph=True)
        check_triton_op(backends)
    else:  # launches are outside of the graph
        check_backends(("eager", "aot_eager"))


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        sys.exit(tally.report())
    if not STANDS_IN:
        run = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--as-triton"], text=True,
                             stdout=subprocess.PIPE)
        *lines, last = run.stdout.splitlines() or [""]
        print("\n".join(lines), end="\n" if lines else "")
        for _ in range(int(last.split()[0]) if "passed" in last else 0):
            tally.check(True, "")
        tally.check(run.returncode == 0, f"as triton: {last}")
    main()
    sys.exit(tally.report())
