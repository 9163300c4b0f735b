#!/usr/bin/env python3
"""Lifetimes of what torch.compile makes: programs that nothing calls leave no object, mapping,
descriptor or memory; those that something calls are right after all else is gone.

With a number, that many graphs instead of 30.
"""
import ctypes, gc, os, pathlib, sys, weakref

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/support")]
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 30
LARGEST = 400  # KiB that a graph leaves beyond those of "aot_eager"; a program takes 2,500
OWN = {"cache_autograd": False}


def held():
    """(KiB of memory, mappings, descriptors)"""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    mappings = pathlib.Path("/proc/self/maps").read_text().count("\n")
    return pages * 4, mappings, len(os.listdir("/proc/self/fd"))


def programs():
    """Those that live."""
    from nereid import torch_backend

    gc.collect()
    return list(torch_backend._programs)


def train(backend, *shape):
    x = torch.randn(shape, requires_grad=True)
    backend(lambda x: (x * 2).sin().sum(-1) * x.exp().mean())(x).sum().backward()


def infer(backend, *shape):
    with torch.no_grad():
        backend(lambda x: (x * 2).sin().sum(-1) * x.exp().mean())(torch.randn(shape))


def backend(name, options=None):
    return lambda function: torch.compile(function, backend=name, options=options)


def left_by(step, backend):
    """What a number of programs leave that are compiled, run and dropped: as of held()."""
    before, first = None, 5
    for i in range(COUNT + first):
        if i == first:
            before = held()
        step(backend, 4, 8)
        torch._dynamo.reset()
    return [b - a for a, b in zip(before, held())]


def drops(what, step, options):
    theirs = left_by(step, backend("aot_eager"))
    ours = left_by(step, backend("nereid", options))
    tally.check(not programs(), f"{what}: {len(programs())} programs live")
    tally.check(ours[0] < theirs[0] + LARGEST * COUNT, f"{what}: {COUNT} graphs left {ours[0]} KiB,"
                f" where aot_eager leaves {theirs[0]}")
    tally.check(ours[1] < COUNT, f"{what}: {COUNT} graphs left {ours[1]} mappings")
    tally.check(ours[2] <= 1, f"{what}: {COUNT} graphs left {ours[2]} descriptors")


def check_dropped():
    drops("inference", infer, OWN)
    drops("training", train, OWN)
    drops("training, from PyTorch's cache", train, {"cache_autograd": True})


def check_descriptors_of_living():
    """A program that lives takes no descriptor."""
    functions = [torch.sin, torch.cos, torch.tan, torch.exp, torch.sqrt, torch.neg, torch.abs]
    functions = [lambda x, f=f: f(x.abs()).cumsum(-1) for f in functions]
    x, count = torch.randn(4, 8), held()[2]
    compiled = [torch.compile(f, backend="nereid", options=OWN) for f in functions]
    for function, made in zip(functions, compiled):
        tally.check(torch.allclose(made(x), function(x), atol=1e-5), "one of many")
    tally.check(len(programs()) == len(functions), f"{len(programs())} programs live")
    tally.check(held()[2] <= count + 2, f"{held()[2] - count} descriptors of living programs")
    del compiled
    torch._dynamo.reset()
    tally.check(not programs(), f"{len(programs())} programs live after a reset")


def check_backward_alone():
    """A backward pass runs, twice, when its forward program and PyTorch's caches are gone."""
    x = torch.randn(4, 8, requires_grad=True)
    function = lambda x: (x.sin() * x.exp()).sum()
    compiled = torch.compile(function, backend="nereid", options=OWN)
    loss = compiled(x)
    kinds = {program.kind: weakref.ref(program) for program in programs()}
    del compiled
    torch._dynamo.reset()
    left = [program.kind for program in programs()]
    tally.check(set(kinds) == {"forward", "backward"}, f"programs: {list(kinds)}")
    tally.check("backward" in left, f"after a reset, with a loss: {left}")
    (want,) = torch.autograd.grad(function(x), x)
    for i in range(2):
        (got,) = torch.autograd.grad(loss, x, retain_graph=True)
        tally.check(torch.allclose(got, want, atol=1e-5), f"gradient {i} of what is left: {got}")
    del loss
    tally.check(not programs(), f"without the loss: {programs()}")


def check_dropped_while_compiled():
    """A program that is dropped before its first run, while a thread compiles it."""
    from nereid.torch_backend.segments import program, segment

    original, begun = segment.Compiled.compile, []

    def compile(self):
        begun.append(weakref.ref(self))
        original(self)

    segment.Compiled.compile = compile
    try:
        x = torch.randn(4, 8, requires_grad=True)
        loss = torch.compile(lambda x: (x.tan() * x).sum(), backend="nereid", options=OWN)(x)
        del loss  # its backward program was handed to a thread, and never run
        torch._dynamo.reset()
    finally:
        segment.Compiled.compile = original
    for thread in program.threading.enumerate():
        if isinstance(thread, program._Work):
            thread.join(60)
    del thread
    left = [ref for ref in begun if ref() is not None] if not programs() else programs()
    tally.check(len(begun) == 2 and not left, f"{len(begun)} were compiled, {len(left)} are left")


def check_forked():
    """A child runs what it inherited, drops it, and compiles anew."""
    function = lambda x: (x.cos() * 3).cumsum(0)
    x, compiled = torch.randn(6, 8), torch.compile(function, backend="nereid", options=OWN)
    compiled(x)
    child = os.fork()
    if child == 0:
        right = torch.allclose(compiled(x), function(x), atol=1e-5)
        del compiled
        torch._dynamo.reset()
        again = torch.compile(lambda x: x.cos() - 3, backend="nereid", options=OWN)
        right &= not programs() and torch.allclose(again(x), x.cos() - 3, atol=1e-5)
        os._exit(0 if right else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    tally.check(status == 0, f"a forked process ends with {status}")
    tally.check(torch.allclose(compiled(x), function(x), atol=1e-5), "the parent, after that")
    del compiled
    torch._dynamo.reset()


def check_recorded():
    """torch._dynamo.reset() makes PyTorch's trees of CUDA graphs forget programs, too."""
    from torch._inductor import cudagraph_trees

    forgotten, original = [], cudagraph_trees.reset_cudagraph_trees
    cudagraph_trees.reset_cudagraph_trees = lambda: forgotten.append(1)
    try:
        train(backend("nereid", OWN), 4, 8)
        torch._dynamo.reset()
    finally:
        cudagraph_trees.reset_cudagraph_trees = original
    tally.check(forgotten, "the trees of CUDA graphs are kept")
    if torch.cuda.is_available():
        x = torch.randn(4, 8, device="cuda")
        compiled = torch.compile(lambda x: x.sin(), backend="nereid", mode="reduce-overhead")
        for _ in range(4):
            compiled(x)
        del compiled
        torch._dynamo.reset()
        tally.check(not programs(), f"programs in CUDA graphs live: {programs()}")


def main():
    check_recorded()
    torch.manual_seed(0)
    check_dropped()
    check_descriptors_of_living()
    check_backward_alone()
    check_dropped_while_compiled()
    check_forked()


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        main()
    sys.exit(tally.report())
