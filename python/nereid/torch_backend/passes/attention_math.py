"""Attention that a model spells out, as calls of scaled_dot_product_attention.

In a graph of TorchDynamo, before AOTAutograd derives the gradient of each operator:

    dropout(softmax(query @ key.mT * scale + mask, -1)) @ value

with a division as the scale, keys hidden by `masked_fill` or `where`, and changes of dtype on the
way.  Every value on the way is used once, so that nothing else is left to compute.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import torch

F = torch.nn.functional
_PRODUCTS = (torch.matmul, torch.bmm, operator.matmul, "matmul", "bmm")
_SOFTMAX = (F.softmax, torch.softmax, "softmax")
_SUMS = (operator.add, operator.iadd, torch.add, "add", "add_")
_FACTORS = (operator.mul, operator.imul, torch.mul, "mul", "mul_")
_DIVISIONS = (operator.truediv, operator.itruediv, torch.div, "div", "div_")
_FILLS = (torch.masked_fill, "masked_fill", "masked_fill_")
_CASTS = ("to", "type_as", "float", "half", "bfloat16", "type")
_HIDDEN = -1e9  # a number that leaves nothing of a share


@dataclass
class Form:
    """What a match has found: nodes, and numbers."""

    query: object = None
    transposed: object = None  # the key
    value: object = None
    scale: float = 1.0
    dropout: float = 0.0
    added: object = None
    condition: object = None  # where it holds, scores are `hidden`; else, if `seen`
    hidden: float = 0.0
    seen: bool = False


def _value(node):
    return node.meta.get("example_value") if isinstance(node, torch.fx.Node) else None


def _is_call(node, targets) -> bool:
    return (isinstance(node, torch.fx.Node) and node.op in ("call_function", "call_method")
            and any(node.target is target or node.target == target for target in targets))


def _argument(node, place: int, name: str, default=None):
    return node.args[place] if len(node.args) > place else node.kwargs.get(name, default)


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _through_casts(node, path: list):
    """What a chain of changes of dtype starts from."""
    while _is_call(node, _CASTS) and len(node.users) == 1:
        value = _value(node)
        if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
            break
        if value.device != _value(node.args[0]).device:
            break
        path.append(node)
        node = node.args[0]
    return node


def _take(node, path: list) -> bool:
    """Is the node's value used once?  Then it is of the match."""
    path.append(node)
    return isinstance(node, torch.fx.Node) and len(node.users) == 1


def _match_dropout(node, form: Form, path: list):
    if not _is_call(node, (F.dropout,)) or not _take(node, path):
        return node
    share, training = _argument(node, 1, "p", 0.5), _argument(node, 2, "training", True)
    if not _is_number(share) or not isinstance(training, bool):
        return None
    form.dropout = float(share) if training else 0.0
    return _argument(node, 0, "input")


def _match_mask(node, form: Form, path: list):
    """Scores before a mask; the node itself if there is none."""
    if _is_call(node, _SUMS) and not node.kwargs:
        scores, mask = node.args
        if not all(isinstance(_value(x), torch.Tensor) for x in (scores, mask)):
            return node
        if _scaled(scores) is None:
            scores, mask = mask, scores
        form.added = mask
    elif _is_call(node, _FILLS) and _is_number(_argument(node, 2, "value")):
        scores, form.condition = node.args[0], _argument(node, 1, "mask")
        form.hidden = float(_argument(node, 2, "value"))
    elif _is_call(node, (torch.where,)) and len(node.args) == 3:
        form.condition, scores, hidden = node.args
        if not _is_number(hidden):
            return node
        form.hidden, form.seen = float(hidden), True
    else:
        return node
    if form.condition is not None and form.hidden > _HIDDEN:
        return None
    return scores if _take(node, path) else None


def _scaled(node):
    """The product that a node scales, the factor, and the nodes of it; None: it is another."""
    path: list = []
    node, scale = _through_casts(node, path), 1.0
    if _is_call(node, (*_FACTORS, *_DIVISIONS)) and not node.kwargs:
        of, number = node.args
        divides = _is_call(node, _DIVISIONS)
        if _is_number(of) and not divides:
            of, number = number, of
        if not _is_number(number) or number == 0 or not _take(node, path):
            return None
        scale = 1 / number if divides else float(number)
        node = _through_casts(of, path)
    if not _is_call(node, _PRODUCTS) or not _take(node, path):
        return None
    return node, scale, path


def _fits(form: Form, out) -> bool:
    query, key, value = (_value(node) for node in (form.query, form.transposed, form.value))
    tensors = (query, key, value, _value(out))
    if not all(isinstance(x, torch.Tensor) for x in tensors) or query.dim() not in (3, 4):
        return False
    if any(x.dim() != query.dim() or x.device != query.device for x in tensors):
        return False
    if any(x.shape[:-2] != query.shape[:-2] for x in (key, value)):
        return False
    if not query.dtype == key.dtype == value.dtype:
        return False
    for mask in (form.added, form.condition):
        if mask is not None:
            wanted = torch.bool if mask is form.condition else torch.float32
            x = _value(mask)
            if not isinstance(x, torch.Tensor) or x.dim() > query.dim():
                return False
            if x.dtype not in (wanted, *(() if mask is form.condition else (query.dtype,))):
                return False
    return query.dtype in (torch.float32, torch.float16, torch.bfloat16)


def _match(out) -> tuple[Form, list] | None:
    """The form, and the nodes on the way from the last."""
    if not _is_call(out, _PRODUCTS) or len(out.args) != 2:
        return None
    form, path = Form(value=out.args[1]), []
    node = _through_casts(out.args[0], path)
    node = _match_dropout(node, form, path)
    node = _through_casts(node, path)
    if not _is_call(node, _SOFTMAX) or not _take(node, path):
        return None
    rank, axis = _value(node).dim(), _argument(node, 1, "dim")
    if axis not in (-1, rank - 1):
        return None
    node = _through_casts(node.args[0] if node.args else node.kwargs["input"], path)
    node = _match_mask(node, form, path)
    scaled = _scaled(node) if node is not None else None
    if scaled is None or len(scaled[0].args) != 2:
        return None
    product, form.scale, more = scaled
    form.query, form.transposed = product.args
    return (form, [out, *path, *more]) if _fits(form, out) else None


def _mask(graph, form: Form):
    if form.condition is None:
        return form.added
    # A number that is not infinite hides nothing in a row in which it is all there is.
    numbers = (0.0, form.hidden) if form.seen else (form.hidden, 0.0)
    return graph.call_function(torch.where, (form.condition, *numbers))


def attention_calls(graph: torch.fx.Graph, attend, random: bool) -> None:
    """Replaces what is spelled out by calls of the operator `attend`, with dropout only if `random`
    says that its numbers may be others than eager PyTorch's."""
    for out in list(graph.nodes):
        found = _match(out)
        if found is None or (found[0].dropout > 0 and not random) or found[0].dropout >= 1:
            continue
        form, path = found
        with graph.inserting_before(out):
            key = graph.call_method("transpose", (form.transposed, -2, -1))
            key.meta["example_value"] = _value(form.transposed).transpose(-2, -1)
            call = graph.call_function(
                attend,
                (form.query, key, form.value, _mask(graph, form), form.dropout, False),
                {"scale": form.scale})
        call.meta = dict(out.meta)
        out.replace_all_uses_with(call)
        for node in path:
            graph.erase_node(node)
