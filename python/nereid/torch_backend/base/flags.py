"""PyTorch's settings that change how a graph is computed.  They are read when it is compiled."""

from __future__ import annotations

import torch


def tf32() -> int:
    """Which sums of float32 PyTorch rounds to TF32: bits of nereid_graph_tf32."""
    try:
        products = torch.get_float32_matmul_precision() != "highest"
        return products + 2 * bool(torch.backends.cudnn.allow_tf32)
    except RuntimeError:  # it was set by names of PyTorch 2.9 that the old ones can't say
        return 0


def deterministic() -> bool:
    return torch.are_deterministic_algorithms_enabled()


def libraries(asked: str) -> str:
    """Which products libraries may compute, where `asked` is the option.  They promise neither the
    same sums in each run nor sums of parts in float32 alone."""
    matmul = torch.backends.cuda.matmul
    whole = not (matmul.allow_bf16_reduced_precision_reduction
                 and matmul.allow_fp16_reduced_precision_reduction)
    return "none" if deterministic() or whole else asked


def guard(module: torch.fx.GraphModule) -> None:
    """TorchDynamo compiles anew when a setting changes; of cuDNN's it does not know."""
    from torch._dynamo.guards import install_guard
    from torch._dynamo.source import GlobalStateSource
    from torch._guards import Guard, TracingContext

    if TracingContext.try_get() is None or not _has_convolution(module):
        return
    allowed = bool(tf32() & 2)

    def nereid_tf32(builder, guard):
        builder.guard_manager.root.add_lambda_guard(
            lambda _: bool(tf32() & 2) == allowed, ["torch.backends.cudnn.allow_tf32"], None)

    install_guard(Guard(GlobalStateSource(), nereid_tf32))


def _has_convolution(module: torch.fx.GraphModule) -> bool:
    """Might a convolution of it round its operands?"""
    values = [node.meta.get("example_value") for node in module.graph.nodes]
    on_gpu = any(isinstance(value, torch.Tensor) and value.is_cuda for value in values)
    return on_gpu and any("conv" in str(node.target) for node in module.graph.nodes)
