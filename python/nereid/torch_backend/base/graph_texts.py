"""AOTAutograd's texts of graphs, which it prints for the log and for its cache even if nobody asks.

Each graph is printed with strides and devices: 6% of AOTAutograd's time for a step of Swin.  An
entry of its cache has them for the trace of a process that reads it.
"""

from __future__ import annotations

import logging
from typing import Any

from nereid.torch_backend.base.rules import Rules

# Functions of AOTAutograd that print a graph, and what they give without.
_PRINTING = {"_log_joint_graph": None, "_log_fw_bw_graphs": (None, None),
             "_log_inference_graph": None}


def _is_watched(module) -> bool:
    """Does somebody see the texts: a trace, or the log?"""
    logs = (getattr(module, name, None) for name in ("aot_joint_log", "aot_graphs_log"))
    return bool(logging.getLogger("torch.__trace").handlers) or any(
        log is None or log.isEnabledFor(logging.INFO) for log in logs)


def _entries() -> list[tuple[dict, Any, Any]]:
    try:
        from torch._functorch._aot_autograd import graph_compile
    except ImportError:  # PyTorch before 2.10
        return []
    if _is_watched(graph_compile):
        return []
    return [(vars(graph_compile), name, lambda *args, nothing=nothing, **kwargs: nothing)
            for name, nothing in _PRINTING.items() if hasattr(graph_compile, name)]


def no_graph_texts() -> Rules:
    """Within it, AOTAutograd prints no graph that nobody sees."""
    return Rules(_entries)
