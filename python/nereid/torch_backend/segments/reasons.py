"""Why PyTorch runs a node: its operator, operands or dtypes are beyond Nereid."""

from __future__ import annotations

import functools

import torch
from torch.utils._dtype_abbrs import dtype_abbrs

from nereid import _nereid
from nereid.torch_backend.base.draws import draws
from nereid.torch_backend.base.layout import is_known, memory_order, size_hint
from nereid.torch_backend.base.nodes import (device_of, is_host, is_tensor, is_view, name_of,
                                             places_reason, values_of)
from nereid.torch_backend.segments.numbers import computed_numbers
from nereid.torch_backend.segments.regions import is_region, region_reason

aten = torch.ops.aten
# Data decides the first size of the results of these, which a segment reads as it runs.
_COUNTED = {aten.nonzero.default, aten.argwhere.default, aten.masked_select.default,
            aten.index.Tensor}  # not bincount: there is no bound for its size


def is_counted(node) -> bool:
    """Does data decide a size that a segment can read?"""
    if not node.meta.get("unbacked_bindings") or node.target not in _COUNTED:
        return False
    values = [operand.meta.get("val") for operand in node.all_input_nodes]
    return all(value.dim() > 0 for value in values if is_tensor(value))


def read_reason(node) -> str | None:
    """What the host reads of the data by a node that computes no element; None: it is no such."""
    if node.target is aten._local_scalar_dense.default:
        return "the host reads a number"
    if node.meta.get("unbacked_bindings") and is_view(node):
        return "the host makes a view at places that data decides"
    return None


def _tensor_reason(value) -> str | None:
    if value.layout is not torch.strided:
        return f"a tensor of layout {value.layout}"
    if value.dtype not in dtype_abbrs or value.is_quantized or value.dtype is torch.complex32:
        return f"elements of {value.dtype}"
    if value.device.type not in ("cuda", "cpu"):
        return f"a tensor on {value.device.type}"
    return None


_INDEXING = {aten.index.Tensor, aten.index_put.default, aten._unsafe_index.Tensor,
             aten._unsafe_index_put.default}


def _host_indices(node) -> tuple:
    """Operands that PyTorch takes from a CPU for a tensor on a GPU: the segment copies them."""
    return tuple(node.args[1]) if node.target in _INDEXING else ()


def _operand_reason(node, device) -> str | None:
    copied, computed = _host_indices(node), computed_numbers(node, device)
    for operand in node.all_input_nodes:
        if operand in computed:
            continue
        for value in values_of(operand.meta.get("val")):
            if isinstance(value, (torch.SymFloat, torch.SymBool)):
                return "a number as an operand that is neither an integer nor a constant"
            if not is_tensor(value):
                continue
            taken = value.device.type == "cpu" and (value.dim() == 0 or operand in copied)
            if value.device != device and not taken:
                return f"operands on {value.device} and {device}"
            reason = _tensor_reason(value)
            if reason:
                return reason
    return None


@functools.cache
def _has_operator(target) -> bool:
    return _nereid.has_operator(name_of(target))


def target_reason(node) -> str | None:
    """Why the operator is PyTorch's, whatever its operands are."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return "a higher-order operator"
    if draws(node):
        return "PyTorch's generator gives the numbers, or their seeds"
    if not _has_operator(target):
        return "there is no such operator"
    return None


def _update_reason(node) -> str | None:
    """Updates of inputs alone are left in a graph, at its end."""
    to = node.args[0]
    if to.op != "placeholder":
        return "a write to a tensor that is no input"
    value = to.meta["val"]
    if memory_order(value.shape, value.stride()) is None:
        return "a write to a tensor with gaps"
    if value.is_conj() or value.is_neg():
        return "a write to a tensor that is conjugate or negative by a bit of PyTorch's"
    return None


_SAMPLE_GRADIENTS = (aten.grid_sampler_2d_backward.default, aten.grid_sampler_3d_backward.default,
                     aten.cudnn_grid_sampler_backward.default)
_RESIZE_GRADIENTS = (
    aten.upsample_nearest1d_backward.default, aten.upsample_nearest2d_backward.default,
    aten.upsample_nearest3d_backward.default, aten._upsample_nearest_exact1d_backward.default,
    aten._upsample_nearest_exact2d_backward.default,
    aten._upsample_nearest_exact3d_backward.default, aten.upsample_linear1d_backward.default,
    aten.upsample_bilinear2d_backward.default, aten.upsample_trilinear3d_backward.default,
    aten.upsample_bicubic2d_backward.default)
_SORTS = (aten.sort.default, aten.sort.stable, aten.argsort.default, aten.argsort.stable)
# A row of so many elements is merged in 5 steps and more after its parts are sorted.  On an H200 a
# row of a million took 505 us where PyTorch's radix sort took 152, and 4 of 100,000 185, and 147.
_LONG_ROW = 1 << 16
# They sort rows, and rows of any length in parts of 2,048 elements, with merges up to the longest
# row: 40 rows of 50 take 77 ms on a CPU, and in eager mode 0.2.
_ORDERED = (*_SORTS, aten.topk.default, aten.kthvalue.default, aten.mode.default,
            aten.median.dim, aten.nanmedian.dim, aten.median.default, aten.nanmedian.default)
_POOLS = (aten.fractional_max_pool2d.default, aten.fractional_max_pool3d.default)


def _arguments(node) -> dict:
    """The arguments of an operator that are given, by name."""
    names = [argument.name for argument in node.target._schema.arguments if not argument.kwarg_only]
    return dict(zip(names, node.args)) | node.kwargs


def _sorts_long_rows(node) -> bool:
    """Are long rows sorted as a whole?  For the first few elements of 32 bits they are not."""
    if node.target not in (*_SORTS, aten.topk.default):
        return False
    given = _arguments(node)
    value = given["self"].meta["val"]
    size = value.shape[given.get("dim", -1)] if value.dim() else 1
    few = node.target is aten.topk.default and is_known(64 * given["k"] <= size)
    return not (few and value.dtype.itemsize < 8) and size_hint(size) >= _LONG_ROW


def _sorts_open_rows(node) -> bool:
    """Are rows sorted whose length the graph leaves open?"""
    if node.target not in _ORDERED:
        return False
    given = _arguments(node)
    shape = given["self"].meta["val"].shape
    whole = node.target in (aten.median.default, aten.nanmedian.default)
    sizes = shape if whole else [shape[given.get("dim", -1)]] if shape else []
    return not all(isinstance(size, int) for size in sizes)


def _slower_reason(node, device) -> str | None:
    """Operators whose kernel in PyTorch was measured to be faster (decision 182), or does less."""
    if node.target in _RESIZE_GRADIENTS:
        return "PyTorch's kernel is faster for large images on a CPU"
    if device.type != "cuda":
        packed = getattr(aten, "_weight_int4pack_mm_for_cpu", None)
        if packed is not None and node.target is packed.default:
            return "PyTorch's kernel unpacks weights in registers on a CPU"
        if _sorts_open_rows(node):
            return "PyTorch's kernel sorts rows of open length faster on a CPU"
        return None
    if node.target is aten.grid_sampler_2d.default and node.args[2] == 2:
        return "PyTorch's kernel for bicubic samples is faster"
    if node.target in _SAMPLE_GRADIENTS:
        return "PyTorch's kernel reads a point once, and not once a neighbour"
    if _sorts_long_rows(node):
        return "PyTorch's radix sort of long rows is faster"
    if node.target in _POOLS and node.args[0].meta["val"].dtype.itemsize < 4:
        return "places of windows that PyTorch rounds otherwise on a GPU"
    return None


def _has_signed(value) -> bool:
    """Has it an integer of data that may be negative?  PyTorch knows of a size that it is not."""
    from torch.utils._sympy.symbol import SymT, symbol_is_type

    if not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return False
    env = value.node.shape_env
    return any(symbol_is_type(symbol, SymT.UNBACKED_INT) and symbol not in env.size_like
               and env.var_to_range[symbol].lower < 0 for symbol in value.node.expr.free_symbols)


def _open_numbers(value) -> tuple:
    """The value, or of a tensor what may have symbols."""
    if not is_tensor(value):
        return (value,)
    if value.layout is not torch.strided or not value._has_symbolic_sizes_strides:
        return ()
    return (*value.shape, *value.stride(), value.storage_offset())


def signed_reason(node, device) -> str | None:
    """Nereid's symbols are sizes: its rules rely on that none is negative.  Numbers that a segment
    computes have no symbol."""
    computed = computed_numbers(node, device)
    values = [node.meta.get("val"), *(operand.meta.get("val") for operand in node.all_input_nodes
                                      if operand not in computed)]
    if any(_has_signed(number) for several in values for value in values_of(several)
           for number in _open_numbers(value)):
        return "a number that data decides may be negative"
    return None


def reason_against(node) -> str | None:
    """Why PyTorch runs the node; None: Nereid does."""
    device = device_of(node)
    if is_region(node) and device is not None:
        return (_operand_reason(node, device) or signed_reason(node, device)
                or region_reason(node, reason_against, is_host))
    if device is None:
        return "its value is no tensor"
    if node.target is torch.ops.prims.device_put.default:
        return f"a copy from {device_of(node.args[0])} to {device}"
    reason = target_reason(node) or _operand_reason(node, device) or signed_reason(
        node, device)
    if reason:
        return reason
    reason = _slower_reason(node, device)
    if reason:
        return reason
    if node.target is aten.copy_.default:
        return _update_reason(node)
    if node.meta.get("unbacked_bindings") and not is_counted(node):
        return "its data decides a size"
    if places_reason(node):
        return places_reason(node)
    for value in values_of(node.meta["val"]):
        if is_tensor(value) and _tensor_reason(value):
            return _tensor_reason(value)
    if node.target._schema.is_mutable:
        return "it writes to its operands"
    return None
