#!/usr/bin/env python3
"""Graphs that make constants on one device and use them on another: torch.compile makes them where
they are used, with the elements that they had.  Fake tensors stand for those of a GPU."""
import math, os, pathlib, sys
from unittest import mock

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

PLAN = 2  # the number of that stage


def on(x, *elements, **options):
    return torch.tensor(*elements, **options).to(x.device)


def grid(x):
    rows, columns = torch.meshgrid(torch.linspace(-1, 1, 5), torch.arange(5.0), indexing="ij")
    return x + torch.stack([rows, columns]).to(x.device)[1]


def special(x):
    values = on(x, [math.nan, math.inf, -math.inf, -0.0, 1e-40])
    return x.copysign(values), x + values


def both(x):
    """A constant that the CPU's part of the graph returns, too."""
    steps = torch.arange(5) * 3
    return x + steps.to(x.device), steps + 1


def parts(x):
    first, second = torch.arange(10.0).split(5)
    return x * first.to(x.device) + second.to(x.device)


# What becomes one segment on x's device, of x of [5, 5].
MADE = {
    "a number": lambda x: x * on(x, 0.1),
    "a number of float64": lambda x: x * on(x, 0.1, dtype=torch.float64),
    "a number that stays on the CPU": lambda x: x + torch.tensor(3),
    "integers": lambda x: x + on(x, [1, -2, 3, 2**40, -2**63]),
    "flags": lambda x: x.where(on(x, [True, False, True, True, False]), 7),
    "bf16": lambda x: x.bfloat16() + on(x, [0.1, 0.2, 0.3, 0.4, 0.5], dtype=torch.bfloat16),
    "rows": lambda x: x[:2, :3] - on(x, [[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]),
    "equal elements": lambda x: x * on(x, [[2.5] * 5]),
    "no elements": lambda x: (x.sum(), on(x, [], dtype=torch.float32)),
    "special numbers": special,
    "zeros of another dtype": lambda x: x.masked_fill(~torch.zeros(5).to(x.device, torch.bool), 2),
    "a range": lambda x: x + torch.arange(x.shape[0]).to(x.device),
    "a range of the last axis": lambda x: x + torch.arange(1, x.shape[1] + 1).float().to(x.device),
    "a grid": grid,
    "a window": lambda x: x * torch.hann_window(5).to(x.device),
    "a triangle": lambda x: x.masked_fill(torch.ones(5, 5).tril().bool().to(x.device), -math.inf),
    "an index": lambda x: x[torch.arange(4, -1, -1)] + x[:, torch.tensor([0, 0, 1, 1, 2])],
    "parts": parts,
    "moved twice": lambda x: x + torch.arange(5.0).to(x.device).cpu().mul(2).to(x.device),
    "a write": lambda x: x.add_(on(x, [1.0, 2.0, 3.0, 4.0, 5.0])),
}
# What stays a copy between devices, and why.
COPIED = {
    "many elements": (lambda x, cpu: x + on(x, [float(i * i) for i in range(25)]).view(5, 5),
                      "a copy from"),
    "an input": (lambda x, cpu: x + (cpu + torch.arange(5)).to(x.device), "a copy from"),
    "random numbers": (lambda x, cpu: x + torch.rand(5).to(x.device), "a copy from"),
    "a size that data decides": (lambda x, cpu: x.sum() + cpu.nonzero().to(x.device).sum(),
                                 "a copy from"),
}


def traced(function, devices, symbolic=False):
    """The graph that the backend would get for inputs of [5, 5] there, after the pass."""
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental import proxy_tensor
    from torch.fx.experimental.symbolic_shapes import (
        DimDynamic, ShapeEnv, StatelessSymbolicContext)

    from nereid.torch_backend.passes.constants import make_constants_in_place
    from nereid.torch_backend.decompositions.table import decompositions

    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    sizes = [DimDynamic.DYNAMIC if symbolic else DimDynamic.STATIC] * 2
    inputs = [mode.from_tensor(torch.empty(5, 5), symbolic_context=StatelessSymbolicContext(sizes))
              for _ in devices]
    with mode:
        inputs = [value.to(device) for value, device in zip(inputs, devices)]
    # Constants of an element would be moved to the GPU, which there need not be.
    with mode, mock.patch.object(proxy_tensor, "CONSTANT_NUMEL_LIMIT", -1):
        module = proxy_tensor.make_fx(
            torch.func.functionalize(function), decomposition_table=decompositions(),
            tracing_mode="fake")(*inputs)
    module.graph.eliminate_dead_code()
    make_constants_in_place(module)
    module.graph.lint()
    return module


def steps_of(module):
    """The segments, and {operator that PyTorch runs: the reason}."""
    from nereid.torch_backend.segments.partition import Segment, partition
    from nereid.torch_backend.base.settings import settings_of

    parts = partition(module.graph, {}, settings_of(None, None))
    segments = [step for step in parts.steps if isinstance(step, Segment)]
    return segments, {str(node.target): why for node, why in parts.reasons.items()}


def plan_of(segment):
    """The kernels of a segment, for its device."""
    from nereid import _nereid
    from nereid.torch_backend.segments.segment import SegmentPlan

    plan = SegmentPlan(segment, {}, {})
    plan.choose_outputs([node for node in plan.nodes
                         if any(user not in plan.inside for user in node.users)])
    source, _ = plan.text()
    graph = _nereid.Graph("<graph>", source.encode(), None, [], [], [])
    return graph.emit({"device": segment.device.type, "libraries": "none"},
                      PLAN)


def same(got, want):
    got, want = (value if isinstance(value, (list, tuple)) else (value,) for value in (got, want))
    return len(got) == len(want) and all(
        a.dtype == b.dtype and torch.allclose(a.double(), b.double(), rtol=1e-6, equal_nan=True)
        and torch.equal(torch.signbit(a), torch.signbit(b)) for a, b in zip(got, want))


def check_values(name, module, function, x):
    """The graph computes the same, were its device the CPU."""
    for node in module.graph.nodes:
        node.args = torch.fx.node.map_aggregate(
            node.args, lambda a: torch.device("cpu") if isinstance(a, torch.device) else a)
        if "device" in node.kwargs:
            node.kwargs = {**node.kwargs, "device": torch.device("cpu")}
    module.recompile()
    given = x.clone()
    tally.check(same(module(given), function(x)) and torch.equal(given, x), f"{name}: its values")


def check_made():
    x = torch.randn(5, 5)
    for name, function in MADE.items():
        module = traced(function, ["cuda"])
        segments, reasons = steps_of(module)
        devices = [segment.device.type for segment in segments]
        tally.check(devices == ["cuda"] and not reasons, f"{name}: {devices}, {reasons}")
        for segment in segments:
            tally.check("step k" in plan_of(segment), f"{name}: no kernels")
        check_values(name, module, function, x.clone())


def check_both():
    module = traced(both, ["cuda"])
    segments, reasons = steps_of(module)
    devices = sorted(segment.device.type for segment in segments)
    tally.check(devices == ["cpu", "cuda"] and not reasons, f"both: {devices}, {reasons}")
    check_values("both", module, both, torch.randn(5, 5))


def check_copied():
    for name, (function, why) in COPIED.items():
        module = traced(function, ["cuda", "cpu"])
        reasons = steps_of(module)[1]
        reason = reasons.get("prims.device_put.default", "none")
        tally.check(reason == f"{why} cpu to cuda:0", f"{name}: {reasons}")


def check_open_sizes():
    def function(x):
        steps = torch.arange(x.shape[0], dtype=torch.float32) / x.shape[0]
        return x + steps[:, None].to(x.device)

    module = traced(function, ["cuda"], symbolic=True)
    segments, reasons = steps_of(module)
    tally.check([s.device.type for s in segments] == ["cuda"] and not reasons,
                f"open sizes: {segments}, {reasons}")
    check_values("open sizes", module, function, torch.randn(7, 3))


def check_to_the_cpu():
    def function(x, cpu):
        return cpu + torch.arange(5.0, device=x.device).cpu(), x + 1

    module = traced(function, ["cuda", "cpu"])
    segments, reasons = steps_of(module)
    tally.check(sorted(s.device.type for s in segments) == ["cpu", "cuda"] and not reasons,
                f"to the CPU: {segments}, {reasons}")


def check_host_indices():
    """Indices on the CPU are copied by the segment that reads them."""
    def indexed(x, cpu):
        return x[cpu.long()[0] % 5] + x.index_put((cpu.long()[1] % 5,), x[:5] * 2)

    module = traced(indexed, ["cuda", "cpu"])
    segments, reasons = steps_of(module)
    taken = [node.target for s in segments if s.device.type == "cuda" for node in s.nodes]
    tally.check(not reasons and torch.ops.aten.index.Tensor in taken
                and torch.ops.aten.index_put.default in taken,
                f"indices on the CPU: {segments}, {reasons}")


def check_bags():
    """Bags have on a GPU the results that PyTorch has there, and the values of a CPU."""
    for name, options in {
            "sums": {}, "means, the last offset": {"mode": 1, "include_last_offset": True},
            "padding": {"padding_idx": 4, "include_last_offset": True},
            "means with padding": {"mode": 1, "padding_idx": 4}}.items():
        def bags(x):
            rows, offsets = on(x, [0, 3, 1, 4, 4, 2, 3]), on(x, [0, 2, 2, 7])
            return torch.ops.aten._embedding_bag.default(x, rows, offsets, **options)[0]

        module = traced(bags, ["cuda"])
        kinds = [str(node.target) for node in module.graph.nodes]
        tally.check(not any("embedding_bag" in kind for kind in kinds), f"{name}: {kinds}")
        tally.check(not steps_of(module)[1], f"{name}: {steps_of(module)[1]}")
        check_values(name, module, bags, torch.randn(5, 5))

    def maxima(x):
        rows, offsets = on(x, [0, 3, 1, 4, 4, 2, 3]), on(x, [0, 2, 2, 7])
        return torch.ops.aten._embedding_bag.default(x, rows, offsets, mode=2,
                                                     include_last_offset=True)

    module = traced(maxima, ["cuda"])
    (bag,) = [node for node in module.graph.nodes if "embedding_bag" in str(node.target)]
    sizes = tuple(bag.meta["val"][2].shape)
    tally.check(sizes == (3,), f"maxima of bags: sizes {sizes} by the compiler, without the last")


def check_long_sorts():
    """On a GPU PyTorch sorts long rows, and Nereid short ones and the first few elements."""
    def sorts(x):
        row = x.repeat(1, 20000)
        return (x.sort(), row[:, :2000].sort(stable=True, descending=True), row.topk(50),
                row.sort(0), row.sort(stable=True), row.argsort(1), row.topk(5000))

    from nereid.torch_backend.segments.reasons import reason_against

    for device, expected in ("cuda", 3), ("cpu", 0):
        nodes = [node for node in traced(sorts, [device]).graph.nodes
                 if isinstance(node.target, torch._ops.OpOverload)]
        reasons = [reason for node in nodes if (reason := reason_against(node))]
        tally.check(reasons == ["PyTorch's radix sort of long rows is faster"] * expected,
                    f"sorts of long rows, {device}: {reasons}")


def check_order_of_indices():
    """On a GPU the indices of an element are not next to each other."""
    def chosen(x):
        return torch.ops.aten.nonzero_static.default(x, size=3)

    module = traced(chosen, ["cuda"])
    found = [node for node in module.graph.nodes if "nonzero_static" in str(node.target)]
    tally.check(len(found) == 1, f"nonzero_static: {module.code}")


def check_compiled():
    """On one device nothing changes."""
    torch.manual_seed(0)  # of other sums, those near 0 are further off than the tolerance
    x = torch.randn(5, 5)
    for name, function in MADE.items():
        torch._dynamo.reset()
        ours, theirs = x.clone(), x.clone()
        value = torch.compile(function, backend="nereid")(ours)
        tally.check(same(value, function(theirs)) and torch.equal(ours, theirs),
                    f"{name}, compiled")


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        for name, function in list(globals().items()):
            if name.startswith("check_") and name != "check_values":
                function()
    sys.exit(tally.report())
