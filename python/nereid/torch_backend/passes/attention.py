"""Attention as one operator with a gradient of its own.

PyTorch chooses a form of scaled_dot_product_attention by device, dtype, alignment and strides, down
to products and a softmax in float32, which a graph then has in many operators.  Nereid's kernels
need no such choice: in a graph of TorchDynamo the call becomes `nereid::attend`, which gives
`nereid::scaled_dot_product_attention` where a kernel computes it, and PyTorch's own call elsewhere.
"""

from __future__ import annotations

import math
import operator
import types

import torch

from nereid.torch_backend.base.heads import widths_most
from nereid.torch_backend.base.layout import is_known
from nereid.torch_backend.base.settings import Settings
from nereid.torch_backend.passes.attention_math import attention_calls

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
_CALLS = (torch._C._nn.scaled_dot_product_attention,
          torch.ops.aten.scaled_dot_product_attention.default)

_library = torch.library.Library("nereid", "FRAGMENT")
_library.define("attend(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
                "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
                "bool enable_gqa=False, bool contiguous=False) -> Tensor")
# The second result is the logarithm of the sum of each row's exponentials, infinity for rows that
# see no key.  Heads of keys and values each serve several of the query, if they are fewer.
_library.define("scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
                "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, "
                "Tensor? seed=None, *, float? scale=None) -> (Tensor, Tensor)")
_library.define("scaled_dot_product_attention_backward(Tensor grad_out, Tensor query, Tensor key, "
                "Tensor value, Tensor? attn_bias, Tensor out, Tensor logsumexp, "
                "Tensor? philox_seed, float dropout_p, bool[4] grad_input_mask, "
                "bool is_causal=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor)")
_operator = torch.ops.nereid.scaled_dot_product_attention.default
_gradient = torch.ops.nereid.scaled_dot_product_attention_backward.default


# ---- by PyTorch: where a node is not Nereid's, and to compare with ----


def _each_head(x, query):
    return x.repeat_interleave(query.shape[1] // x.shape[1], 1)


def _no_dropout(seed) -> None:
    if seed is not None:
        raise RuntimeError("PyTorch has no attention with the dropout of a seed of Nereid's")


def _scores(query, key, mask, is_causal, scale):
    scores = query.float() @ _each_head(key, query).float().transpose(2, 3) * scale
    if is_causal:
        seen = torch.ones(scores.shape[2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~seen, -math.inf)
    if mask is None:
        return scores
    return scores.masked_fill(~mask, -math.inf) if mask.dtype is torch.bool else scores + mask


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, seed=None,
               *, scale=None):
    _no_dropout(seed)
    scores = _scores(query, key, attn_mask, is_causal, scale)
    sums = scores.logsumexp(-1)
    sums = sums.masked_fill(sums == -math.inf, math.inf)
    out = (scores - sums[..., None]).exp() @ _each_head(value, query).float()
    return _rows_first(out.to(query.dtype)), sums


def _attention_backward(grad_out, query, key, value, attn_bias, out, logsumexp, philox_seed,
                        dropout_p, grad_input_mask, is_causal=False, *, scale=None):
    _no_dropout(philox_seed)
    grad = grad_out.float()
    delta = (grad * out.float()).sum(-1, keepdim=True)
    scores = _scores(query, key, attn_bias, is_causal, scale)
    share = (scores - logsumexp[..., None]).exp()
    of_scores = share * (grad @ _each_head(value, query).float().transpose(2, 3) - delta)
    of_query = of_scores @ _each_head(key, query).float() * scale
    of_key = of_scores.transpose(2, 3) @ query.float() * scale
    of_value = share.transpose(2, 3) @ grad
    groups = (key.shape[0], key.shape[1], -1)
    of_key, of_value = (x.reshape(*groups, *x.shape[2:]).sum(2) for x in (of_key, of_value))
    found = [_rows_first(x.to(query.dtype)) for x in (of_query, of_key, of_value)]
    return *found, of_scores.to(attn_bias.dtype) if grad_input_mask[3] else None


def _rows_first(x):
    """[B, H, T, D] with heads after rows in memory, as kernels have it."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


# ---- without computing ----


def _fake_rows_first(like, *sizes):
    batch, heads, rows, width = sizes
    return like.new_empty((batch, rows, heads, width)).transpose(1, 2)


def _fake_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
                    seed=None, *, scale=None):
    out = _fake_rows_first(query, *query.shape[:3], value.shape[3])
    return out, query.new_empty(query.shape[:3], dtype=torch.float32)


def _fake_backward(grad_out, query, key, value, attn_bias, out, logsumexp, philox_seed, dropout_p,
                   grad_input_mask, is_causal=False, *, scale=None):
    of_mask = None
    if grad_input_mask[3]:
        of_mask = attn_bias.new_empty((*query.shape[:3], key.shape[2]))
    return *(_fake_rows_first(x, *x.shape) for x in (query, key, value)), of_mask


# ---- the gradient ----


def _save(ctx, inputs, keyword_only_inputs, output):
    query, key, value, mask, ctx.dropout, ctx.causal, seed = inputs
    out, sums = output
    ctx.scale = keyword_only_inputs["scale"]
    ctx.mark_non_differentiable(sums)
    ctx.save_for_backward(query, key, value, mask, out, sums, seed)


def _backward(ctx, grad, _):
    query, key, value, mask, out, sums, seed = ctx.saved_tensors
    wanted = [True, True, True, mask is not None and ctx.needs_input_grad[3]]
    grads = _gradient(grad, query, key, value, mask, out, sums, seed, ctx.dropout, wanted,
                      ctx.causal, scale=ctx.scale)
    return *grads[:3], grads[3] if wanted[3] else None, None, None, None


_library.impl("scaled_dot_product_attention", _attention, "CompositeExplicitAutograd")
_library.impl("scaled_dot_product_attention_backward", _attention_backward,
              "CompositeExplicitAutograd")
torch.library.register_fake(_operator, _fake_attention, lib=_library)
torch.library.register_fake(_gradient, _fake_backward, lib=_library)
torch.library.register_autograd(_operator, _backward, setup_context=_save, lib=_library)


# ---- the call ----


def _autocast(x):
    """The tensor in the dtype in which autocast computes attention."""
    kind = x.device.type if x is not None else ""
    if not kind or not x.is_floating_point() or x.dtype is torch.float64:
        return x
    return x.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else x


def _width_fits(query, key, value, dropout_p) -> bool:
    tensors = (query, key, value)
    widths = [int(x.shape[-1]) for x in tensors]
    wanted = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
    most = widths_most(query, wanted or dropout_p > 0)
    return widths[0] <= most[0] and widths[2] <= most[1]


def _fits(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa) -> bool:
    """Does a kernel compute the call?  It does for one width of heads: an open one gets a guard."""
    tensors = (query, key, value)
    if any(x.dtype is not query.dtype or x.dim() != query.dim() for x in tensors):
        return False
    if query.dtype not in _DTYPES or query.dim() < 2 or (mask is not None and is_causal):
        return False
    for x in tensors:
        if any(isinstance(size, int) and size == 0 for size in x.shape):
            return False
    if not _width_fits(query, key, value, dropout_p):
        return False
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        return False
    if mask is not None and (mask.dim() > query.dim() or mask.dim() < 1):
        return False
    if mask is not None and mask.dtype not in (torch.bool, torch.float32, query.dtype):
        return False
    if enable_gqa:
        heads = [int(x.shape[1]) for x in tensors] if query.dim() == 4 else [1, 2, 3]
        if heads[1] != heads[2] or heads[0] % heads[1]:
            return False
    return isinstance(scale, (float, int, type(None))) and 0 <= dropout_p < 1


def _leading(x, sizes):
    """[*sizes, rows, columns] with all leading axes but the last in one, and four axes in all."""
    if x.shape[:-2] != tuple(sizes):
        x = x.expand(*sizes, *x.shape[-2:])
    if len(sizes) == 2:
        return x
    heads = sizes[-1:] if len(sizes) > 1 else (1,)
    return x.reshape(-1, *heads, *x.shape[-2:])


def _mask_of(mask, query, key, sizes):
    """A mask that broadcasts to the scores [B, H, T, S]; all of them if it needs a gradient."""
    if mask is None:
        return None
    scores = (*sizes, query.shape[-2], key.shape[-2])
    if len(sizes) != 2:
        return _leading(mask.expand(scores), sizes)
    return mask.expand(scores) if mask.requires_grad else mask


def _attend(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
            enable_gqa=False, contiguous=False):
    query, key, value, attn_mask = map(_autocast, (query, key, value, attn_mask))
    if not _fits(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
        return torch.ops.aten.scaled_dot_product_attention.default(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    if enable_gqa:
        lead = torch.broadcast_shapes(*(x.shape[:1] for x in (query, key, value)))
        sizes = [(*lead, x.shape[1]) for x in (query, key, value)]
    else:
        lead = torch.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value)))
        sizes = [lead] * 3
    mask = _mask_of(attn_mask, query, key, sizes[0])
    q, k, v = (_leading(x, size) for x, size in zip((query, key, value), sizes))
    seed = None
    if dropout_p > 0:
        seed = torch.ops.aten.randint.low(0, 2**62, [], dtype=torch.int64, device=q.device)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    out, _ = _operator(q, k, v, mask, dropout_p, is_causal, seed, scale=scale)
    if len(sizes[0]) != 2:
        out = out.reshape(*sizes[0], query.shape[-2], value.shape[-1])
    return out.contiguous() if contiguous else out


_library.impl("attend", _attend, "CompositeImplicitAutograd")


# ---- in graphs of TorchDynamo ----


_NAME = "scaled_dot_product_attention"


def _with_own_calls(function):
    """A function of PyTorch's that a graph has as a whole, as multi_head_attention_forward, with
    Nereid's form inside."""
    if not isinstance(function, types.FunctionType) or _NAME not in function.__code__.co_names:
        return function
    if function.__globals__.get(_NAME) not in _CALLS:
        return function
    names = {**function.__globals__, _NAME: torch.ops.nereid.attend.default}
    own = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__,
                             function.__closure__)
    own.__kwdefaults__ = function.__kwdefaults__
    names[function.__name__] = own  # modes that see the call make it once more, by its name
    return own


def _is_plain(node) -> bool:
    from torch._subclasses.fake_tensor import FakeTensor

    return all(type(operand.meta.get("example_value")) is FakeTensor
               for operand in (*node.args[:3], *map(node.kwargs.get, ("query", "key", "value")))
               if isinstance(operand, torch.fx.Node))


def _swaps_heads(user) -> bool:
    """Is the node a view with heads and rows swapped, of which only a copy or its like is used?"""
    args = tuple(user.args[1:])
    swaps = user.op == "call_method" and (
        user.target == "transpose" and sorted(n % 4 for n in args if isinstance(n, int)) == [1, 2]
        or user.target == "permute" and (args == (0, 2, 1, 3) or args == ((0, 2, 1, 3),)))
    return swaps and all(next_.op == "call_method" and next_.target in
                         ("contiguous", "reshape", "flatten", "view") for next_ in user.users)


def _needs_heads_first(node) -> bool:
    """Would users see that rows are before heads in memory, where PyTorch has it otherwise?"""
    value = node.meta.get("example_value")
    if not isinstance(value, torch.Tensor) or value.dim() < 4 or not value.is_contiguous():
        return False
    if value.dim() == 4 and value.transpose(1, 2).is_contiguous():
        return False
    return value.dim() > 4 or not all(map(_swaps_heads, node.users))


def _drops(node) -> bool:
    given = node.args[4] if len(node.args) > 4 else 0.0
    return node.kwargs.get("dropout_p", given) != 0.0


def _is_leaf(node) -> bool:
    value = node.meta.get("example_value") if isinstance(node, torch.fx.Node) else None
    return isinstance(value, torch.Tensor) and value.requires_grad and value.is_leaf


def _is_ours(node, fallback_random: bool) -> bool:
    """Of a call: calls without axes for batches and heads PyTorch computes in float32 everywhere,
    and gradients with less rounding than flash attention has.  Where it does so with four axes, it
    keeps those whose gradients a user has, with strides that follow from it."""
    value = node.meta.get("example_value")
    if not isinstance(value, torch.Tensor) or value.dim() != 4:
        return False
    spelled_out = value.is_contiguous() and not value.transpose(1, 2).is_contiguous()
    if spelled_out and any(map(_is_leaf, node.args[:3])):
        return False
    return _is_plain(node) and not (fallback_random and _drops(node))


def _called(node, name: str):
    """The tensor of which the node calls the method."""
    if isinstance(node, torch.fx.Node) and node.op == "call_method" and node.target == name:
        return node.args[0]
    return None


def _is_new_axis(index) -> bool:
    """Is it [:, :, None], with slices of all behind?"""
    index = index if isinstance(index, tuple) else (index,)
    whole = all(part in (None, slice(None), Ellipsis) for part in index)
    return whole and index[2:3] == (None,) and index.count(None) == 1 and Ellipsis not in index[:2]


def _repeated_heads(node):
    """(x, count) of x[:, :, None].expand(.., count, ..).reshape(..): each head that many times."""
    while _called(node, "contiguous") is not None:
        node = node.args[0]
    of = _called(_called(node, "reshape"), "expand")
    if not isinstance(of, torch.fx.Node) or of.target is not operator.getitem:
        return None
    x = of.args[0]
    base, wide, merged = (_sizes_of(part) for part in (x, node.args[0], node))
    if len(base) != 4 or len(wide) != 5 or len(merged) != 4 or not _is_new_axis(of.args[1]):
        return None
    count = wide[2]
    same = zip((*base, *merged), (*wide[:2], *wide[3:], wide[0], wide[1] * count, *wide[3:]))
    known = isinstance(count, int) and all(is_known(a == b) for a, b in same)
    return (x, count) if known else None


def _sizes_of(node) -> tuple:
    value = node.meta.get("example_value")
    return tuple(value.shape) if isinstance(value, torch.Tensor) else ()


def _share_heads(node) -> None:
    """Keys and values whose heads a model repeats are those of fewer heads."""
    found = [_repeated_heads(part) for part in node.args[1:3]]
    if len(found) < 2 or None in found or node.kwargs.get("enable_gqa"):
        return
    (key, of_key), (value, of_value) = found
    if of_key != of_value or _sizes_of(key)[:2] != _sizes_of(value)[:2]:
        return
    left = node.args[1:3]
    node.args = (node.args[0], key, value, *node.args[3:])
    node.kwargs = {**node.kwargs, "enable_gqa": True}
    for view in left:
        while not view.users and view not in (key, value):
            of = view.args[0]
            node.graph.erase_node(view)
            view = of


def keep_attention(module: torch.fx.GraphModule, settings: Settings) -> None:
    """Gives calls of scaled_dot_product_attention Nereid's form; with the option fallback_random
    those without random numbers."""
    if any("attention" in name for name in settings.by_pytorch):
        return
    attend = torch.ops.nereid.attend.default
    for part in module.modules():
        if not isinstance(part, torch.fx.GraphModule):
            continue
        random = settings.fallback_random
        attention_calls(part.graph, attend, not random)
        for node in part.graph.nodes:
            if node.op != "call_function":
                continue
            if node.target in _CALLS and _is_ours(node, random):
                node.target = attend
            elif not random:
                node.target = _with_own_calls(node.target)
            if node.target is attend:
                _share_heads(node)
                node.kwargs = {**node.kwargs, "contiguous": _needs_heads_first(node)}
        part.recompile()


# ---- in a joint graph ----

# Operators on positions, sizes and conditions, by name without overload.
_CONDITIONS = {"iota", "arange", "full", "ge", "gt", "le", "lt", "eq", "ne", "bitwise_and",
               "bitwise_or", "bitwise_not", "logical_and", "logical_or", "logical_not", "add",
               "sub", "mul", "where", "scalar_tensor", "unsqueeze", "expand", "view", "permute",
               "slice", "select", "squeeze", "alias", "clone", "convert_element_type"}


def _is_condition(node) -> bool:
    """Is the node one of those from which a mask is made, and no number that is learned?"""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    value, name = node.meta.get("val"), node.target.name().split("::")[1].split(".")[0]
    made = name in ("where", "full", "scalar_tensor", "expand", "alias")
    return (name in _CONDITIONS and isinstance(value, torch.Tensor)
            and (made or not value.dtype.is_floating_point))


def _other_positions(node):
    """Positions from 0 by another operator, which AOTAutograd doesn't merge with the node."""
    more = dict(node.kwargs)
    if node.target is not torch.ops.prims.iota.default:
        return None
    if (more.pop("start", None), more.pop("step", None)) != (0, 1):
        return None
    more.pop("requires_grad", None)
    return torch.ops.aten.arange.start_step, (0, node.args[0], 1), more


def repeat_masks(module: torch.fx.GraphModule) -> None:
    """Gives gradients masks of their own that are computed again: a mask that is saved would hide
    which keys follow from their positions, and take memory."""
    graph, own = module.graph, {}

    def repeated(node):
        if node in own or not _is_condition(node):
            return own.get(node, node)
        target, *given = _other_positions(node) or (node.target, node.args, node.kwargs)
        own[node] = graph.call_function(target, *torch.fx.node.map_arg(given, repeated))
        own[node].meta = {"val": node.meta["val"]}
        return own[node]

    for node in list(graph.nodes):
        if node.target is _gradient and isinstance(node.args[4], torch.fx.Node):
            with graph.inserting_before(node):
                node.update_arg(4, repeated(node.args[4]))
    if own:
        module.recompile()
