"""What eager PyTorch refuses when an operator runs, and its fake tensors let pass.

Of arguments: a graph's operator is tried, by PyTorch itself, on a small tensor of the same dtype,
whose axes have no element, one or two as the tensor's have none, one or more, which raises what
eager mode raises.  Of data: operators that
are decomposed before a segment is compiled get an assertion, `_assert_async`, which PyTorch runs
after the segment that computes its condition: an error on a CPU, an assertion on a GPU.  Others are
checked by the compiler, as indices are (pass check_data).  Data is checked where the option
`check_indices` says so.
"""

from __future__ import annotations

import functools

import torch

from nereid.torch_backend.base.layout import is_known

aten = torch.ops.aten

# Operators whose numbers PyTorch checks as it computes.
_TRIED = (
    "add", "addcdiv", "addcmul", "celu", "clamp", "clamp_max", "clamp_min", "div", "elu",
    "fill", "floor_divide", "fmod", "full_like", "gelu", "hardshrink", "hardtanh", "leaky_relu",
    "lerp", "logit", "masked_fill", "mvlgamma", "nansum", "new_full", "normal", "polygamma",
    "pow", "remainder", "rsub", "soft_margin_loss", "softplus", "softshrink", "sub",
    "threshold", "where", "index_add", "index_fill", "scatter", "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d", "adaptive_max_pool2d", "adaptive_max_pool3d", "bernoulli",
    "normal_functional", "scalar_tensor", "uniform", "exponential", "geometric", "cauchy",
    "log_normal")
_CHOICES = ("index", "indices")  # of the first element
# Operators that stay whole where data decides a number of theirs: the compiler checks it as the
# table of operators says, and PyTorch's forms would ask for its value.
_WHOLE_WITH_NUMBERS = (
    aten.addcdiv.default, aten.addcmul.default, aten.addmm.default, aten.addmv.default,
    aten.baddbmm.default, aten.celu.default, aten.constant_pad_nd.default, aten.elu.default,
    aten.hardshrink.default, aten.hardtanh.default, aten.index_add.default,
    aten.leaky_relu.default, aten.linspace.default, aten.masked_fill.Scalar,
    aten.nan_to_num.default, aten.pow.Tensor_Scalar, aten.softplus.default)


# ---- arguments ----


def _one_or_more(size) -> int:
    """PyTorch fills one element without its check of 16-bit floats."""
    return 1 if all(is_known(n == 1) for n in size) else 2


def _described(value, name: str):
    """What can be compared and hashed; None: something that a trial can't have."""
    if isinstance(value, torch.Tensor):
        sizes = tuple(0 if is_known(size == 0) else 1 if is_known(size == 1) else 2
                      for size in value.shape)
        return "tensor", value.dtype, sizes, name in _CHOICES
    if value is None or isinstance(value, (bool, int, float, complex, str, torch.dtype)):
        return "number", type(value), value
    if isinstance(value, (list, tuple)) and all(type(item) is int for item in value):
        return "numbers", (_one_or_more(value),) if name == "size" else tuple(value)
    return None


def _made(description):
    kind, *rest = description
    if kind == "tensor":
        dtype, sizes, first = rest
        return torch.full(sizes, 0.0 if first else 1.0).to(dtype)
    return list(rest[0]) if kind == "numbers" else rest[1]


@functools.lru_cache(4096)
def _try(target, args: tuple, kwargs: tuple, lenient: bool) -> None:
    """Raises what the operator raises; not that a CPU lacks it, if a GPU may have it."""
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        given = [_made(arg) for arg in args]
        named = {name: _made(value) for name, value in kwargs}
        if any(parameter.name == "generator" for parameter in target._schema.arguments):
            named["generator"] = torch.Generator()
        try:
            target(*given, **named)
        except NotImplementedError:
            if not lenient:
                raise


def _check_arguments(target, args, kwargs) -> None:
    names = [parameter.name for parameter in target._schema.arguments]
    placed = tuple(_described(arg, name) for arg, name in zip(args, names))
    kept = {name: value for name, value in kwargs.items()
            if name not in ("device", "layout", "pin_memory", "memory_format", "generator")}
    named = tuple((name, _described(value, name)) for name, value in sorted(kept.items()))
    if None in placed or any(value is None for _, value in named):
        return
    tensors = [arg for arg in (*args, *kwargs.values()) if isinstance(arg, torch.Tensor)]
    _try(target, placed, named, any(tensor.device.type != "cpu" for tensor in tensors))


def _check_filled(value, dtype, elements: int) -> None:
    if isinstance(value, (int, float)) and dtype is not None:
        _try(aten.fill.Scalar,
             (("tensor", dtype, (elements,), False), ("number", type(value), value)), (), False)


def _check_full(size, fill_value, *, dtype=None, **_):
    default = torch.get_default_dtype() if isinstance(fill_value, float) else None
    _check_filled(fill_value, dtype or default, _one_or_more(size))


def _check_linspace(start, end, steps, *, dtype=None, **_):
    for value in (start, end):
        _check_filled(value, dtype, 2)


def _check_pad(self, pad, value=0):
    if self.dim() and isinstance(value, (int, float)):
        _try(aten.constant_pad_nd.default, (("tensor", self.dtype, (1,) * self.dim(), False),
                                            ("numbers", (1, 1)), ("number", type(value), value)),
             (), self.device.type != "cpu")


def _check_randint(low, high, dtype) -> None:
    if type(low) is int and type(high) is int and dtype is not None:
        with torch.utils._python_dispatch._disable_current_modes():
            torch.empty(0, dtype=dtype).random_(low, high, generator=torch.Generator())


def _check_randint_to(high, size, *, dtype=torch.int64, **_):
    _check_randint(0, high, dtype)


def _check_randint_between(low, high, size, *, dtype=torch.int64, **_):
    _check_randint(low, high, dtype)


def _check_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding,
                       groups):
    if not transposed or any(type(n) is not int for n in (*stride, *dilation, *output_padding)):
        return
    if any(more >= max(step, apart)
           for more, step, apart in zip(output_padding, stride, dilation)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"output_padding: {list(output_padding)} stride: {list(stride)} "
            f"dilation: {list(dilation)}")


def _check_pool(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
                divisor_override=None):
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")


def _check_index_add(self, dim, index, source, *, alpha=1):
    rest = [[n for axis, n in enumerate(x.shape) if axis != dim % max(1, x.dim())]
            for x in (self, source)]
    if self.dim() and source.dim() and all(
            type(n) is int for n in (*rest[0], *rest[1])) and rest[0] != rest[1]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(self.shape)} source.shape = {list(source.shape)}")


def _check_multinomial(self, *_, **__):
    if not self.is_floating_point():
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: "
                           f"{self.dtype}")


_OTHERS = {aten.multinomial.default: _check_multinomial,
           aten.avg_pool2d.default: _check_pool, aten.avg_pool3d.default: _check_pool,
           aten.index_add.default: _check_index_add, aten.full.default: _check_full,
           aten.linspace.default: _check_linspace,
           aten.constant_pad_nd.default: _check_pad, aten.randint.default: _check_randint_to,
           aten.randint.low: _check_randint_between, aten.convolution.default: _check_convolution}


# ---- data ----


def _demand(condition, message: str) -> None:
    aten._assert_async.msg(condition.all(), message)


def _check_probabilities(self, *, generator=None) -> None:
    _demand((self >= 0) & (self <= 1),
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.")


def _check_unit_interval(self, *_, **__) -> None:
    _demand((self >= 0) & (self <= 1), "all elements of input should be between 0 and 1")


def _check_rates(self, num_samples, replacement=False, *, generator=None) -> None:
    if not self.is_floating_point():
        return
    searched = replacement and num_samples != 1
    _demand((self >= 0) & self.isfinite(),
            "invalid multinomial distribution (encountering probability entry < 0)" if searched
            else "probability tensor contains either `inf`, `nan` or element < 0")
    _demand(self.sum(-1) > 0, "invalid multinomial distribution (sum of probabilities <= 0)")


def _check_put(self, indices, values, accumulate=False) -> None:
    """Values for a mask are as many as it has places; a kernel finds where there are too few."""
    masks = [(axis, x) for axis, x in enumerate(indices) if x is not None]
    if len(masks) != 1 or masks[0][1].dtype not in (torch.bool, torch.uint8):
        return
    (before, mask), = masks
    axis = values.dim() - 1 - (self.dim() - before - mask.dim())
    if axis < 0 or not mask.dim():
        return
    size = values.shape[axis]
    if isinstance(size, int) and size == 1 or _is_count_of(mask, size):
        return
    count = (mask != 0).sum()
    one = isinstance(size, torch.SymInt) and aten.scalar_tensor.default(
        size, dtype=torch.int64, device=mask.device) == 1
    _demand((count == size) | one, "shape mismatch: the values can't be broadcast to the places "
            "where a mask holds")


def _is_count_of(mask, size) -> bool:
    """Is it the size that `nonzero` of that mask has?"""
    known = getattr(mask, "nonzero_memo", None)
    return known is not None and isinstance(size, torch.SymInt) and is_known(known == size)


def _check_zero_points(self, scale, zero_point, axis, quant_min, quant_max) -> None:
    if not zero_point.is_floating_point():
        _demand((zero_point >= quant_min) & (zero_point <= quant_max),
                "`zero_point` must be between `quant_min` and `quant_max`.")


_DATA = {
    aten.fake_quantize_per_channel_affine_cachemask.default: _check_zero_points,
    aten.index_put.default: _check_put, aten.bernoulli.default: _check_probabilities,
    aten.binary_cross_entropy.default: _check_unit_interval, aten.multinomial.default: _check_rates,
}


def _is_of_data(value) -> bool:
    """May data decide the number?  A float's symbol does not tell that from a float of sizes."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    return isinstance(value, torch.SymFloat) or (
        isinstance(value, (torch.SymInt, torch.SymBool)) and bool(free_unbacked_symbols(value)))


def _whole_with_numbers(form):
    def decompose(*args, **kwargs):
        whole = any(map(_is_of_data, (*args, *kwargs.values())))
        return NotImplemented if whole else form(*args, **kwargs)

    return decompose


# ---- all ----


def _tried_operators():
    for name in _TRIED:
        packet = getattr(aten, name)
        for overload in packet.overloads():
            target = getattr(packet, overload)
            schema = target._schema
            if not schema.is_mutable and "_out" not in overload and overload != "out":
                yield target


def _of_arguments(rule):
    """The rule, whose errors are eager mode's, and no failure of ours."""
    def check(*args, **kwargs):
        try:
            rule(*args, **kwargs)
        except Exception as error:
            error.raised_by_eager_mode = True
            raise

    return check


def _checked(target, form, rules):
    def check(*args, **kwargs):
        for rule in rules:
            rule(*args, **kwargs)
        return NotImplemented if form is None else form(*args, **kwargs)

    return check


def with_checks(table: dict, of_data: bool) -> dict:
    """The table of decompositions, in which operators check what they are given first."""
    table = {**table, **{target: _whole_with_numbers(table[target])
                         for target in _WHOLE_WITH_NUMBERS if target in table}}
    rules: dict = {}
    for target in _tried_operators():
        rules.setdefault(target, []).append(_of_arguments(
            lambda *args, _target=target, **kwargs: _check_arguments(_target, args, kwargs)))
    for target, rule in _OTHERS.items():
        rules.setdefault(target, []).append(_of_arguments(rule))
    for target, rule in _DATA.items() if of_data else ():
        rules.setdefault(target, []).append(rule)
    return {**table, **{target: _checked(target, table.get(target), made)
                        for target, made in rules.items()}}
