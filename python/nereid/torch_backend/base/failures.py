"""Failures of the backend while it compiles: PyTorch runs the graph, and a warning says so."""

from __future__ import annotations

import logging
import operator
from typing import Callable

import torch

from nereid import errors
from nereid.torch_backend.base.draws import ATTENTION, is_seeded
from nereid.torch_backend.base.log import line_of, log
from nereid.torch_backend.base.nodes import name_of

# No failures: PyTorch's orders to TorchDynamo, to break a graph or to trace it once more.
_ORDERS = (torch._dynamo.exc.TorchDynamoException,)


def has_eager_form(graph: torch.fx.Graph) -> bool:
    """Can PyTorch's operators compute all nodes, those of regions included?  They have no seeds."""
    if any(node.op == "call_function" and is_seeded(node) for node in graph.nodes):
        return False
    owner = graph.owning_module
    parts = [operator.attrgetter(node.target)(owner) for node in graph.nodes
             if node.op == "get_attr" and owner is not None]
    return all(has_eager_form(part.graph) for part in parts
               if isinstance(part, torch.fx.GraphModule))


def eager_call(node) -> tuple:
    """The operator, with positional and named arguments, by which PyTorch computes a node."""
    if node.target is torch.ops.prims.convert_element_type.default:
        # Operators of `prims` run rules in Python at each call: 160 us where ATen's take 3.
        given = dict(zip(("a", "dtype"), node.args), **node.kwargs)
        return torch.ops.aten._to_copy.default, (given["a"],), {"dtype": given["dtype"]}
    named = node.kwargs
    if name_of(node.target) in ATTENTION:
        named = {name: value for name, value in named.items() if name != "seed"}
    return node.target, node.args, named


def boxed(function: Callable) -> Callable:
    """The function with its arguments in a list, which it empties, as AOTAutograd calls it."""
    def call(args):
        given = [*args]
        args.clear()
        return function(*given)

    call._boxed_call = True
    return call


class Original:
    """The graphs of a module as TorchDynamo made them: of itself and of its regions."""

    def __init__(self, module: torch.fx.GraphModule):
        self.module, self.graphs = module, []
        for part in module.modules():
            if isinstance(part, torch.fx.GraphModule):
                graph = torch.fx.Graph()
                graph.output(graph.graph_copy(part.graph, {}))
                self.graphs.append((part, graph))

    @property
    def has_eager_form(self) -> bool:
        return all(has_eager_form(graph) for _, graph in self.graphs)

    @property
    def decides_sizes(self) -> bool:
        """Does data decide sizes of tensors, or numbers, in them?"""
        return any(node.meta.get("unbacked_bindings")
                   for _, graph in self.graphs for node in graph.nodes)

    def function(self) -> Callable:
        """What runs them, by PyTorch."""
        for part, graph in self.graphs:
            part.graph = graph
            part.recompile()
        return self.module.forward


def may_be_caught(error: BaseException) -> bool:
    return isinstance(error, Exception) and not isinstance(error, _ORDERS)


def _node_of(error: BaseException):
    """The node that the innermost function was about which had one; None: none had."""
    found, trace = None, error.__traceback__
    while trace is not None:
        values = trace.tb_frame.f_locals
        for value in (values.get("node"), values.get("n"), *values.values()):
            if isinstance(value, torch.fx.Node) and value.op not in ("placeholder", "output"):
                found = value
                break
        trace = trace.tb_next
    return found


def _line_near(node) -> str:
    """The line of a node, or of the nearest before it that has one."""
    while node.op != "root":
        if line_of(node):
            return line_of(node)
        node = node.prev
    return ""


def _place(node, graph: torch.fx.Graph) -> str:
    """The node and the line of the program that an error is about, else where the graph begins."""
    of = "at"
    if node is None:
        calls = [one for one in graph.nodes if one.op not in ("placeholder", "output", "get_attr")]
        node, of = next(iter(calls), None), "in the graph that begins at"
    if node is None:
        return ""
    line = _line_near(node) or next(filter(None, map(line_of, graph.nodes)), "")
    return f" {of} {node.name}, {node.target}" + (f" ({line})" if line else "")


def _is_ours(error: BaseException) -> bool:
    """Is it a mistake of Nereid's, not a limit that a message explains, nor what eager mode raises
    for the same arguments (decompositions/checks.py)?"""
    internal = getattr(errors, "InternalError", ())
    if getattr(error, "raised_by_eager_mode", False):
        return False
    return isinstance(error, internal) or not isinstance(
        error, (errors.NereidError, MemoryError, OSError))


def _description(error: BaseException, graph: torch.fx.Graph, node) -> str:
    """What happened, where, and whether to report it; without the rest if that can't be found."""
    try:
        text = str(error).partition("\n\nWhile executing")[0]
        text = text.partition("\n<graph>:")[0]  # the nodes of a kernel
        ask = "; please report this, it is a mistake of Nereid's" if _is_ours(error) else ""
        return f"{type(error).__name__}: {text}{_place(node or _node_of(error), graph)}{ask}"
    except Exception:
        return type(error).__name__


class Warnings:
    """One for each graph of TorchDynamo, whose forward and backward may fail both."""

    tool_told = False  # of the process: it lacks a compiler for all graphs

    def __init__(self):
        self.told = self.repeated = self.dense = False

    def repeat(self, why: str) -> None:
        """Warns of the first call that can't run as compiled."""
        level, self.repeated = (logging.INFO if self.repeated else logging.WARNING), True
        log.log(level, "PyTorch runs a call of a compiled graph: %s", why)

    def warn(self, error: BaseException, graph: torch.fx.Graph, what: str, node=None) -> None:
        """Warns of the first failure of a graph: at the node, or where the error was raised."""
        level, self.told = (logging.INFO if self.told else logging.WARNING), True
        log.log(level, "%s can't be compiled, and PyTorch runs it: %s", what,
                _description(error, graph, node))
        log.info("the failure", exc_info=error)

    def warn_of_tool(self, error: errors.NereidError) -> None:
        """Warns of a machine's first failure to run a C compiler or an assembler."""
        level, Warnings.tool_told = (logging.INFO if Warnings.tool_told else logging.WARNING), True
        log.log(level, "PyTorch runs what can't be compiled: %s", error)

    def warn_of_dense(self, node, reason: str, size: int) -> None:
        """Warns of the first attention whose scores are all in memory; `size` is their number."""
        level, self.dense = (logging.INFO if self.dense else logging.WARNING), True
        log.log(level, "PyTorch runs %s, which has all %s scores of a call in memory and skips no "
                "block: %s (%s)", node.target, format(size, ","), reason, line_of(node))
