"""Programs as CUDA graphs: PyTorch's trees of graphs record and replay them."""

from __future__ import annotations

import sys
from typing import Callable

import torch

from nereid.torch_backend.base.log import log
from nereid.torch_backend.base.nodes import device_of, is_tensor
from nereid.torch_backend.segments.regions import waits


def reason_against(program) -> str | None:
    """Why a program can't be recorded; None: it can."""
    for node in program.placeholders:
        value = node.meta.get("val")
        if is_tensor(value) and value.device.type != "cuda" and value.dim() > 0:
            return f"input {node.name} is on {value.device}"
    if program.reads:
        node, what = next(iter(program.reads.items()))
        return f"{what} by {node.target}"
    for node, reason in program.reasons.items():
        if node.meta.get("unbacked_bindings"):
            return f"the data decides a size in {node.target}"
        if not isinstance(node.target, torch._ops.OpOverload):
            return f"{node.target} is a higher-order operator"
        if device_of(node) is None or device_of(node).type != "cuda":
            return f"{node.target} is not on a GPU ({reason})"
    for segment in program.segments:
        for node in segment.plan.nodes:
            if waits(node):
                return f"the host reads the condition of {node.target} as it runs"
    devices = {segment.plan.device for segment in program.segments}
    if not devices:
        return "nothing is computed"
    if any(device.type != "cuda" for device in devices) or len(devices) > 1:
        return f"it is on several devices: {', '.join(map(str, devices))}"
    return None


def forget() -> None:
    """PyTorch's trees keep the programs that they have recorded until they are told."""
    trees = sys.modules.get("torch._inductor.cudagraph_trees")
    if trees is not None:
        trees.reset_cudagraph_trees()


def _static_inputs(module: torch.fx.GraphModule, kind: str) -> list[int]:
    """Inputs whose memory is the same in all calls: parameters, and what the forward pass left."""
    if kind == "backward":
        from torch._inductor.utils import count_tangents

        return list(range(count_tangents(module)))
    context = torch._guards.TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return []
    return list(context.fw_metadata.static_input_indices)


def recorded(program, kind: str) -> Callable:
    """The program's function as a CUDA graph, or itself, with a line in the log.  `kind` is
    "inference", "forward" or "backward"."""
    reason = reason_against(program)
    if reason is not None:
        log.warning("no CUDA graph of this %s graph: %s", kind, reason)
        return program.call
    from torch._inductor.cudagraph_trees import cudagraphify_impl

    (device,) = {segment.plan.device for segment in program.segments}
    static = _static_inputs(program.module, kind)
    written = tuple(i for i, node in enumerate(program.placeholders)
                    if any(user.target is torch.ops.aten.copy_.default and user.args[0] is node
                           for user in node.users))
    compile_id = torch._guards.CompileContext.current_compile_id()
    made = None

    def call(args):
        nonlocal made
        if made is None:
            made = cudagraphify_impl(
                program.call, args, static, device_index=device.index or 0,
                stack_traces=[None] * len(program.output.args[0]),
                is_backward=kind == "backward", is_inference=kind == "inference",
                placeholders=_placeholders(program.graph), mutated_input_idxs=written,
                compile_id=compile_id)
        return made(args)

    return call


def _placeholders(graph):
    from torch._inductor.cudagraph_utils import get_placeholder_info

    return tuple(get_placeholder_info(graph))
