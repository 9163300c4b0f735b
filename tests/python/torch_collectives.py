#!/usr/bin/env python3
"""Collectives in graphs of torch.compile(backend="nereid"): PyTorch runs them between Nereid's
segments.  Two processes, on CPUs by gloo, or each on a GPU by NCCL: `torch_collectives.py cuda`.

Each process compares values and gradients with eager ones, and counts what Nereid compiled."""
import os, pathlib, subprocess, sys, tempfile

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

PROCESSES, ROWS, WIDTH = 2, 8, 16
TEXT = "nereid: "  # what begins a line of a process's report


def near(got, want):
    return torch.allclose(got, want, atol=1e-4, rtol=1e-4)


def summed(x, w):
    import torch.distributed._functional_collectives as collectives

    part = torch.nn.functional.gelu(x @ w)
    return collectives.all_reduce(part, "sum", list(range(PROCESSES))) * 2 + 1


def gathered(x, w):
    import torch.distributed._functional_collectives as collectives

    part = torch.relu(x @ w) + 1
    whole = collectives.all_gather_tensor(part, 0, list(range(PROCESSES)))
    return (whole * whole).sum(1)


def scattered(x, w):
    import torch.distributed._functional_collectives as collectives

    part = (x @ w).sigmoid()
    return collectives.reduce_scatter_tensor(part, "sum", 0, list(range(PROCESSES))).softmax(-1)


def compare_functions(rank, device):
    """Lines of what differs: functions with collectives, compiled and eager."""
    torch.manual_seed(rank)
    wrong = []
    for function in (summed, gathered, scattered):
        for rows in (ROWS, 3 * ROWS):
            x = torch.randn(rows, WIDTH, device=device)
            w = torch.randn(WIDTH, WIDTH, device=device) / 4
            want, before = function(x, w), executables()
            got = torch.compile(function, backend="nereid", fullgraph=True)(x, w)
            if not near(got, want):
                wrong.append(f"{function.__name__}, {rows} rows: {(got - want).abs().max()}")
            if executables() == before:
                wrong.append(f"{function.__name__}, {rows} rows: Nereid compiled nothing of it")
    return wrong


SEGMENTS = []


def count_segments():
    """Let each segment that is compiled be counted."""
    from nereid.torch_backend.segments import segment

    whole = segment.Compiled.__init__

    def counted(self, *args, **kwargs):
        SEGMENTS.append(self)
        whole(self, *args, **kwargs)

    segment.Compiled.__init__ = counted


def executables():
    """Segments that Nereid has compiled in this process."""
    return len(SEGMENTS)


def layers(device):
    """A model with a class of its own: frames of torch.nn alone TorchDynamo leaves eager."""

    class Layers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.wide, self.norm = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.LayerNorm(4 * WIDTH)
            self.narrow = torch.nn.Linear(4 * WIDTH, 4)

        def forward(self, x):
            return self.narrow(self.norm(torch.nn.functional.gelu(self.wide(x))))

    torch.manual_seed(7)
    return Layers().to(device)


def trained(rank, device, compiled, steps=3):
    """Parameters after some steps of a model under DistributedDataParallel, each process with data
    of its own."""
    from torch.nn.parallel import DistributedDataParallel

    model = DistributedDataParallel(layers(device))
    call = torch.compile(model, backend="nereid") if compiled else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(100 + rank)
    for _ in range(steps):
        x = torch.randn(ROWS, WIDTH, generator=generator).to(device)
        optimizer.zero_grad()
        call(x).square().mean().backward()
        optimizer.step()
    return [p.detach().clone() for p in model.parameters()]


def compare_training(rank, device):
    want, before = trained(rank, device, compiled=False), executables()
    got = trained(rank, device, compiled=True)
    wrong = [f"parameter {i}: {(a - b).abs().max()}" for i, (a, b) in enumerate(zip(got, want))
             if not near(a, b)]
    others = [torch.empty_like(got[0]) for _ in range(PROCESSES)]
    torch.distributed.all_gather(others, got[0])
    if not torch.equal(*others):
        wrong.append("the processes have other parameters")
    return wrong + (["Nereid compiled nothing"] if executables() == before else [])


def work(rank, kind, folder):
    """One process: a line for each check."""
    device = torch.device(kind, rank) if kind == "cuda" else torch.device("cpu")
    if kind == "cuda":
        torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl" if kind == "cuda" else "gloo", rank=rank,
                                         init_method=f"file://{folder}/meet",
                                         world_size=PROCESSES)
    count_segments()
    for check in (compare_functions, compare_training):
        wrong = check(rank, device)
        print(f"{TEXT}{check.__name__} {'; '.join(wrong) or 'ok'}", flush=True)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def run(kind):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, NEREID_CACHE_DIR=os.path.join(folder, "cache"))
        # Processes compile one after the other: both would do the same work at once.
        children = [subprocess.Popen([sys.executable, __file__, kind, str(rank), folder],
                                     env=environment, text=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT) for rank in range(PROCESSES)]
        for rank, child in enumerate(children):
            try:
                text = child.communicate(timeout=300)[0]
            except subprocess.TimeoutExpired:
                child.kill()
                text = child.communicate()[0] + "\nno end within 300 s"
            lines = [line.removeprefix(TEXT).split(" ", 1) for line in text.splitlines()
                     if line.startswith(TEXT)]
            for name, outcome in lines:
                tally.check(outcome == "ok", f"{kind}, process {rank}, {name}: {outcome}")
            tally.check(child.returncode == 0 and len(lines) == 2,
                        f"{kind}, process {rank} ends: {text[-2000:]}")


def main():
    kind = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    if torch is None or not torch.distributed.is_available():
        print("1 skipped: no PyTorch with torch.distributed")
        tally.check(True, "")
    elif len(sys.argv) > 2:
        work(int(sys.argv[2]), kind, sys.argv[3])
        return 0
    elif kind == "cuda" and torch.cuda.device_count() < PROCESSES:
        print(f"1 skipped: PyTorch finds {torch.cuda.device_count()} of {PROCESSES} GPUs")
        tally.check(True, "")
    else:
        run(kind)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
