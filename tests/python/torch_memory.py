#!/usr/bin/env python3
"""Memory of large outputs on CPUs: what anybody still has is not written again, whatever they hold;
what nobody has is used again, and returned once no model needs it."""
import ctypes, gc, os, pathlib, random, sys, threading, time

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

ROWS, COLUMNS = 1024, 512  # 2 MiB


def compiled(function):
    return torch.compile(function, backend="nereid")


def resident():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4  # KiB


# What a caller may keep of a tensor, and how its elements are read later.
KEPT = {
    "tensor": (lambda t: t, lambda k: k),
    "view": (lambda t: t[3:].T, lambda k: k.T),
    "array": (lambda t: t.numpy(), lambda k: torch.from_numpy(k)),
    "memory view": (lambda t: memoryview(t.numpy()), lambda k: torch.from_numpy(k.obj)),
    "storage": (lambda t: t.untyped_storage(), lambda k: torch.Tensor().set_(k)),
    "capsule": (lambda t: torch.utils.dlpack.to_dlpack(t),
                lambda k: torch.utils.dlpack.from_dlpack(k)),
    "detached": (lambda t: t.detach(), lambda k: k),
    "part of another": (lambda t: torch.nn.Parameter(t), lambda k: k.data),
}


def check_kept():
    double = compiled(lambda x: x * 2 + 1)
    for name, (keep, read) in KEPT.items():
        held = []
        for i in range(4):
            held.append(keep(double(torch.full((ROWS, COLUMNS), float(i)))))
        for i, k in enumerate(held):
            found = read(k).reshape(-1)[:COLUMNS]
            tally.check((found == 2 * i + 1).all(), f"{name}: call {i} is {found[:2]}")


def check_shared():
    """Memory that goes to another process stays its."""
    double = compiled(lambda x: x * 2 + 1)
    shared = double(torch.ones(ROWS, COLUMNS)).share_memory_()
    other = shared.untyped_storage()._share_filename_cpu_()
    del shared
    double(torch.zeros(ROWS, COLUMNS))
    again = torch.UntypedStorage._new_shared_filename_cpu(*other)
    tally.check(torch.tensor([], dtype=torch.float32).set_(again)[5] == 3, "shared memory")


def check_resized():
    """A storage may get another size."""
    double = compiled(lambda x: x * 2 + 1)
    result = double(torch.ones(ROWS, COLUMNS))
    result.untyped_storage().resize_(64)
    del result
    for i in range(3):
        tally.check((double(torch.full((ROWS, COLUMNS), float(i))) == 2 * i + 1).all(),
                    "after a storage was resized")


def check_again():
    """Memory that nobody has is used again, by any model; in inference mode, too."""
    first, second = compiled(lambda x: x * 2), compiled(lambda x: (x - 1).T)
    x = torch.ones(ROWS, COLUMNS)
    addresses = {first(x).data_ptr() for _ in range(4)} | {second(x).data_ptr() for _ in range(4)}
    with torch.inference_mode():
        addresses |= {first(x).data_ptr() for _ in range(4)}
    tally.check(len(addresses) <= 2, f"{len(addresses)} places of one output")
    plain = first(x)
    tally.check(not plain.is_inference() and plain._base is None and plain._version == 0,
                "an output after one of inference mode")


def check_gradients():
    """Gradients that are added up, set to zero, or kept."""
    def steps(call, model):
        kept = []
        for i in range(6):
            loss = call(torch.full((ROWS, ROWS), 1.0 + i)).square().mean()
            loss.backward()
            if i % 3 == 2:
                kept.append(model.weight.grad)
                model.zero_grad(set_to_none=i < 3)
        return [*kept, model.weight.grad]

    torch.manual_seed(0)
    model = torch.nn.Linear(ROWS, COLUMNS)
    other = torch.nn.Linear(ROWS, COLUMNS)
    other.load_state_dict(model.state_dict())
    for got, want in zip(steps(compiled(model), model), steps(other, other)):
        tally.check(torch.allclose(got, want, rtol=1e-3, atol=1e-3), "gradients of several steps")


def check_threads():
    """Calls of several threads at once never have one memory."""
    double, wrong = compiled(lambda x: x * 2 + 1), []
    double(torch.ones(ROWS, COLUMNS))

    def work(number):
        for i in range(40):
            x = torch.full((ROWS, COLUMNS), float(100 * number + i))
            held = [double(x + j) for j in range(3)]
            wrong.extend((number, i, j) for j, h in enumerate(held)
                         if not (h == 2 * (x + j) + 1).all())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tally.check(not wrong, f"results of threads: {wrong[:3]}")


def check_sizes_of_threads():
    """Blocks of many sizes, made by threads at once: none is smaller than its tensor."""
    from nereid.host_memory import host_memory

    small, before = [], sys.getswitchinterval()

    def work(seed):
        draw, held, end = random.Random(seed), [], time.monotonic() + 3
        while time.monotonic() < end and not small:
            n = draw.randint(1 << 18, 1 << 20)
            held.append(host_memory.empty((n,), (1,), torch.float32))
            if held[-1].untyped_storage().nbytes() < 4 * n:
                small.append(n)
            if len(held) > draw.randint(0, 40):
                del held[:draw.randint(1, len(held))]

    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    sys.setswitchinterval(before)
    tally.check(not small, f"memory smaller than a tensor of {small} elements")


def check_many_held():
    """A caller may hold many outputs: a call looks at some of their blocks alone."""
    from nereid.host_memory import host_memory

    held = [host_memory.empty((1 << 18,), (1,), torch.float32) for _ in range(1000)]
    tally.check(len({t.data_ptr() for t in held}) == 1000, "outputs that are held share memory")
    count = len(host_memory._blocks)
    tally.check(count < 500, f"{count} blocks for 1,000 outputs")
    del held
    host_memory.trim()


def check_returned():
    """What a model used goes with it."""
    torch._dynamo.reset()
    double = compiled(lambda x: x * 3)
    double(torch.ones(ROWS, COLUMNS))
    before = resident()
    results = [double(torch.ones(ROWS, COLUMNS)) for _ in range(40)]
    most = resident()
    del results, double
    torch._dynamo.reset()
    tally.check(most > before + (60 << 10), f"{most - before} KiB of 40 results")
    tally.check(resident() < before + (16 << 10), f"{resident() - before} KiB are left of 80 MiB")


def check_stale():
    """Memory of sizes that are not asked for any more goes while others are."""
    from nereid.host_memory import host_memory

    double = torch.compile(lambda x: x * 2 + 1, backend="nereid", dynamic=True)
    results = [double(torch.ones(ROWS, COLUMNS)) for _ in range(20)]
    many = torch.compile(lambda x: x * 2 + 1, backend="nereid", dynamic=False)
    del results
    for _ in range(400):
        many(torch.ones(2 * ROWS, COLUMNS))
    count = len(host_memory._blocks)
    tally.check(count <= 3, f"{count} blocks that nobody has")


def check_loaded():
    """Results of a model that was loaded, likewise."""
    import nereid

    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2 + 1

    model = nereid.load(torch.export.export(Double(), (torch.ones(ROWS, COLUMNS),)))
    for name, (keep, read) in KEPT.items():
        held = [keep(model(torch.full((ROWS, COLUMNS), float(i)))) for i in range(4)]
        for i, k in enumerate(held):
            found = read(k).reshape(-1)[:COLUMNS]
            tally.check((found == 2 * i + 1).all(), f"{name}: run {i} is {found[:2]}")
    places = {model(torch.ones(ROWS, COLUMNS)).data_ptr() for _ in range(9)}
    tally.check(len(places) == 1, f"{len(places)} blocks for results that nobody has")


def main():
    check_kept()
    check_loaded()
    check_shared()
    check_resized()
    check_again()
    check_gradients()
    check_threads()
    check_sizes_of_threads()
    check_many_held()
    check_returned()
    check_stale()


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        main()
    sys.exit(tally.report())
