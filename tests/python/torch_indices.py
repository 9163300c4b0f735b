#!/usr/bin/env python3
"""Indices out of range through torch.compile(backend="nereid"): an error wherever PyTorch has one,
with the operator and the line of the model.  With the argument cuda on a GPU, where the kernel
ends by an assertion: each case in a process of its own, as the process can't use the GPU after."""
import concurrent.futures, os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch
    from torch.nn import functional as F
except ImportError:
    torch = None

ASSERTION = "an index is out of range for an axis of"


def cases():
    """{name: (function, inputs, indices that are out of range)}; there are 10 rows of 4."""
    def of_rows(function):
        return function, (torch.randn(10, 4), torch.tensor([1, 9])), torch.tensor([1, 10])

    def of_columns(function):
        return function, (torch.randn(10, 4), torch.tensor([[1, 3]])), torch.tensor([[1, 4]])

    def of_classes(function, wrong=4):
        target = torch.tensor([1] * 9 + [-100])
        bad = torch.tensor([wrong] + [1] * 9)
        return lambda x, i: function(x, i), (torch.randn(10, 4), target), bad

    def unpool(x, i):
        return F.max_unpool2d(x, i, 2)

    planes = torch.randn(1, 2, 2, 2), torch.tensor([0, 2, 8, 10] * 2).view(1, 2, 2, 2)
    ones = torch.ones(2, 4)
    return {
        "embedding": of_rows(lambda x, i: F.embedding(i, x)),
        "embedding, negative": (lambda x, i: F.embedding(i, x),
                                (torch.randn(10, 4), torch.tensor([0])), torch.tensor([-1])),
        "embedding_bag": of_rows(lambda x, i: F.embedding_bag(i.view(1, 2), x)),
        "index_select": of_rows(lambda x, i: x.index_select(0, i)),
        "index": of_rows(lambda x, i: x[i] + 1),
        "index, from the end": (lambda x, i: x[i], (torch.randn(10, 4), torch.tensor([-10])),
                                torch.tensor([-11])),
        "index_put": of_rows(lambda x, i: x.index_put((i,), ones.to(x.device))),
        "index_put that adds": of_rows(lambda x, i: x.index_put((i,), ones.to(x.device), True)),
        "index_add": of_rows(lambda x, i: x.index_add(0, i, ones.to(x.device))),
        "index_copy": of_rows(lambda x, i: x.index_copy(0, i, ones.to(x.device))),
        "index_fill": of_rows(lambda x, i: x.index_fill(0, i, 2.0)),
        "gather": of_columns(lambda x, i: x.gather(1, i)),
        "scatter": of_columns(lambda x, i: x.scatter(1, i, 1.0)),
        "scatter_add": of_columns(lambda x, i: x.scatter_add(1, i, x)),
        "scatter_add, repeated": of_rows(
            lambda x, i: x.scatter_add(0, i[:, None].expand(-1, 4), ones.to(x.device))),
        "gather, repeated": of_rows(lambda x, i: x.t().gather(1, i.expand(4, -1))),
        "scatter_reduce": of_columns(lambda x, i: x.scatter_reduce(1, i, x, "amax")),
        "take": (lambda x, i: x.take(i), (torch.randn(10, 4), torch.tensor([39])),
                 torch.tensor([40])),
        "put": (lambda x, i: x.put(i, x.view(-1)[:1]), (torch.randn(10, 4), torch.tensor([39])),
                torch.tensor([40])),
        "nll_loss": of_classes(F.nll_loss),
        "cross_entropy": of_classes(F.cross_entropy),
        "cross_entropy, negative": of_classes(F.cross_entropy, -1),
        "multi_margin_loss": (lambda x, i: F.multi_margin_loss(x, i),
                              (torch.randn(10, 4), torch.ones(10).long()), torch.full((10,), 4)),
        "max_unpool2d": (unpool, planes, planes[1] + 8),
    }


def compiled(name, device, mode):
    """The function, of inputs on the device, its inputs and the indices."""
    function, (x, good), bad = cases()[name]
    call = torch.compile(function, backend="nereid", mode=mode)
    return call, function, *(tensor.to(device) for tensor in (x, good, bad))


def check_cpu(name):
    torch._dynamo.reset()
    call, function, x, good, bad = compiled(name, "cpu", None)
    far = (call(x, good) - function(x, good)).abs().max().item()
    tally.check(far < 1e-5, f"{name}: good indices")
    try:
        call(x, bad)
        tally.check(False, f"{name}: no error")
        return
    except IndexError as error:
        text = str(error)
    words = " is out of range: ", "\n  by aten.", "torch_indices.py:", "\n  in segment 0 of"
    tally.check(all(word in text for word in words), f"{name}: {text}")
    far = (call(x, good) - function(x, good)).abs().max().item()
    tally.check(far < 1e-5, f"{name}: good indices after bad ones")


def check_training():
    """The forward pass ends with the error."""
    torch._dynamo.reset()
    layer = torch.nn.Embedding(10, 4)
    call = torch.compile(layer, backend="nereid")
    call(torch.tensor([9])).sum().backward()
    try:
        call(torch.tensor([10])).sum().backward()
        tally.check(False, "training: no error")
    except IndexError:
        tally.check(layer.weight.grad[9].eq(1).all().item(), "gradients before the error")
    unchecked = torch.compile(lambda i, x: F.embedding(i, x), backend="nereid",
                              options={"check_indices": False})
    tally.check(unchecked(torch.tensor([10]), layer.weight.detach()).shape == (1, 4),
                "check_indices=False")


def child(name, mode):
    """What a process does whose kernel ends: good indices, bad ones, and a wait for them."""
    call, function, x, good, bad = compiled(name, "cuda", None if mode == "default" else mode)
    with torch.no_grad():
        for _ in range(4):
            far = (call(x, good) - function(x, good)).abs().max().item()
        print("far" if far > 1e-5 else "near", flush=True)
        try:
            call(x, bad).sum().item()
            print("no error", flush=True)
        except RuntimeError as error:
            print(f"{type(error).__name__}: {error}", flush=True)
    os._exit(3)  # nothing of PyTorch's can be freed any more


def check_gpu(name, mode):
    words = [sys.executable, __file__, "child", name, mode]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    good = done.stdout.startswith("near\n") and "no error" not in done.stdout
    good = good and done.returncode == 3 and ASSERTION in done.stderr
    tally.check(good, f"{name}, {mode}: {done.stdout}{done.stderr[-400:]}")


def check_all_gpu():
    runs = [(name, "default") for name in cases()]
    runs += [(name, "reduce-overhead") for name in ("embedding", "cross_entropy",
                                                    "index_put that adds")]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # a process each, which starts slowly
        list(pool.map(lambda run: check_gpu(*run), runs))


def check_kernels():
    """Kernels for a GPU have the assertion, with the operator; those for a CPU have none."""
    from nereid import _nereid

    text = ('def forward(self, i: "i64[9]", w: "f32[1000, 64]", s: "f32[s0, 64]"):\n'
            "    rows = torch.ops.aten.embedding.default(w, i)\n"
            "    more = torch.ops.aten.embedding.default(s, i)\n"
            "    return (rows, more)\n")
    for device, asserts in ("cuda", True), ("cuda", False), ("cpu", True):
        graph = _nereid.Graph("<graph>", text.encode(), None, [], [], [])
        options = {"device": device, "assert_indices": asserts}
        kernels = graph.emit(options, 1)
        there = f'"rows: {ASSERTION} 1000 elements"' in kernels
        there = there and f'"more: {ASSERTION} s0 elements"' in kernels
        tally.check(there == (asserts and device == "cuda"), f"kernels on {device}: {kernels}")


def check_narrow_bags():
    """Indices and offsets of 32 bits, whose backward graph is of open sizes."""
    for mode in "sum", "mean", "max":
        table = torch.randn(20, 3, requires_grad=True)
        found = []
        for function in (torch.nn.functional.embedding_bag, torch.compile(
                torch.nn.functional.embedding_bag, backend="nereid", dynamic=True)):
            index = torch.arange(37, dtype=torch.int32) % 20
            offsets = torch.tensor([0, 5, 5, 30], dtype=torch.int32)
            table.grad = None
            rows = function(index, table, offsets, mode=mode)
            rows.square().sum().backward()
            found.append((rows, table.grad))
        same = all(torch.allclose(a, b, 1e-5, 1e-6) for a, b in zip(*found))
        tally.check(same, f"bags of 32 bits: {mode}")


def check_offsets():
    """The first bag begins with the first index, and none after the last one."""
    table = torch.randn(20, 3, requires_grad=True)
    index = torch.arange(12)
    for mode in "sum", "mean", "max":
        torch._dynamo.reset()
        function = torch.compile(torch.nn.functional.embedding_bag, backend="nereid")
        for offsets, good in ([0, 3, 12], True), ([1, 3, 5], False), ([0, 3, 13], False):
            for trained in True, False:
                try:
                    with torch.set_grad_enabled(trained):
                        function(index, table, torch.tensor(offsets), mode=mode)
                    raised = False
                except IndexError:
                    raised = True
                tally.check(raised != good, f"{mode} of bags at {offsets}: {raised}")


def main():
    if "cuda" in sys.argv:
        check_all_gpu()
        return
    torch.manual_seed(0)
    for name in cases():
        check_cpu(name)
    check_training()
    check_narrow_bags()
    check_offsets()
    check_kernels()


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    elif sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        main()
    sys.exit(tally.report())
