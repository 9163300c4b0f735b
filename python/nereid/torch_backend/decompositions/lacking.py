"""Dtypes for which eager mode's operator has no kernel on a CPU: an error there, and so here.

PyTorch's rules for fake tensors let such calls pass, and Nereid's kernels take all dtypes.  Each
operator that a program calls is tried, by PyTorch itself, on small tensors of the same dtypes; only
the error that says that a dtype is not implemented counts.  Calls by decompositions are not tried.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import warnings

import torch

aten = torch.ops.aten

_LARGE = 1 << 14  # elements of a tensor that is not tried as it is
# Operators that take some dtypes alone, and are safe to call: what they check of their operands is
# all that they rely on.  Others rely on what PyTorch gave them: pivots, sizes, lengths of samples.
_TRIED = """
_adaptive_avg_pool2d _adaptive_avg_pool3d _cdist_forward _log_softmax _log_softmax_backward_data
_native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training
_pdist_forward _prelu_kernel _safe_softmax _softmax _softmax_backward_data abs acos acosh
adaptive_avg_pool1d adaptive_max_pool2d adaptive_max_pool3d addbmm addcdiv addcmul addmm addmv
addr amax amin aminmax angle asin asinh atan atan2 atanh avg_pool2d avg_pool3d baddbmm
binary_cross_entropy binary_cross_entropy_with_logits bitwise_and bitwise_left_shift bitwise_not
bitwise_or bitwise_right_shift bitwise_xor bmm bucketize ceil celu channel_shuffle clamp clamp_max
clamp_min col2im convolution copysign cos cosh cross cummax cummin cumprod cumsum digamma div dot
elu erf erfc erfinv exp exp2 expm1 flip floor floor_divide fmax fmin fmod frac frexp gather gcd ge
gelu glu grid_sampler_2d grid_sampler_3d gt hardshrink hardsigmoid hardswish hardtanh huber_loss
hypot i0 igamma igammac im2col index_reduce isin kthvalue lcm ldexp le leaky_relu lerp lgamma
linalg_cross log log10 log1p log2 log_sigmoid_forward logaddexp logaddexp2 logcumsumexp
logical_and logical_not logical_or logical_xor logit logsumexp lt masked_scatter max
max_pool2d_with_indices max_pool3d_with_indices max_unpool2d max_unpool3d maximum mean median min
minimum mish mm mode mse_loss mv mvlgamma nan_to_num nanmedian native_batch_norm native_layer_norm
neg nextafter nll_loss_forward pixel_shuffle pixel_unshuffle polar polygamma pow prod put
reciprocal reflection_pad1d reflection_pad2d remainder replication_pad1d replication_pad2d round
rsqrt rsub scatter scatter_add scatter_reduce sigmoid signbit silu sin sinc sinh smooth_l1_loss
soft_margin_loss softplus softshrink special_airy_ai special_bessel_j0 special_bessel_j1
special_bessel_y0 special_bessel_y1 special_chebyshev_polynomial_t special_chebyshev_polynomial_u
special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_entr special_erfcx
special_hermite_polynomial_h special_hermite_polynomial_he special_i0e special_i1 special_i1e
special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr
special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
special_modified_bessel_k1 special_ndtr special_ndtri special_scaled_modified_bessel_k0
special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t
special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_xlog1py special_zeta
sqrt square sum take tan tanh threshold trace trunc vdot where xlogy
"""
_MADE = ("arange", "linspace", "logspace", "eye")
# Arguments for operators that take no tensors.
_NUMBERS = {aten.arange.default: (2,), aten.arange.start: (0, 2), aten.arange.start_step: (0, 2, 1),
            aten.linspace.default: (0, 1, 2), aten.logspace.default: (0, 1, 2),
            aten.eye.default: (2,), aten.eye.m: (2, 2)}
# Operators that PyTorch expands before a table of decompositions is asked.
_EXPANDED = ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
             "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d",
             "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d",
             "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
             "multi_margin_loss", "multilabel_margin_loss_forward")
_in_form = contextvars.ContextVar("a decomposition is running", default=False)


# ---- small calls ----


def _clipped(size):
    return size if type(size) is int and size < 2 else 2


def _described(value, name: str, exact: bool):
    """What a call is compared by: tensors by dtype and sizes, up to 2 unless `exact`."""
    if isinstance(value, torch.Tensor):
        return "tensor", value.dtype, tuple(value.shape if exact else map(_clipped, value.shape))
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return "number", float if isinstance(value, torch.SymFloat) else int, 1
    if isinstance(value, (list, tuple)):
        items = map(_clipped, value) if name == "size" else value
        return "list", tuple(_described(item, "", exact) for item in items)
    return "number", type(value), value


def _made(description):
    kind, *rest = description
    if kind == "tensor":
        dtype, sizes = rest
        return torch.zeros(sizes, dtype=dtype) if _is_whole(dtype) else torch.ones(
            sizes, dtype=dtype)
    return list(map(_made, rest[0])) if kind == "list" else rest[1]


def _is_whole(dtype) -> bool:
    """Integers may be indices, and the first element is always there."""
    return not (dtype.is_floating_point or dtype.is_complex or dtype is torch.bool)


@functools.lru_cache(4096)
def _try(target, args: tuple, kwargs: tuple) -> tuple:
    """Did it run or say that a dtype is not implemented, and how it said so."""
    with (torch.utils._python_dispatch._disable_current_modes(), torch.no_grad(),
          torch._C._DisableAutocast(), torch._C._DisablePythonDispatcher(),
          warnings.catch_warnings()):
        warnings.simplefilter("ignore")
        try:
            target(*map(_made, args), **{name: _made(value) for name, value in kwargs})
        except Exception as error:
            text = str(error)
            return "not implemented for" in text, text
    return True, ""


def _tensors(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _is_small(tensor) -> bool:
    return all(type(n) is int for n in tensor.shape) and tensor.numel() <= _LARGE


def _is_empty(tensor) -> bool:
    """As far as that is known: a comparison with an open size would be a guard."""
    return any(type(n) is int and n == 0 for n in tensor.shape)


def _settled(target, args: tuple, kwargs: tuple) -> bool:
    """Does the operator run, or lack a dtype?  No: something else is wrong with the small call."""
    settled, text = _try(target, args, kwargs)
    if settled and text:
        error = NotImplementedError(text)
        error.raised_by_eager_mode = True
        raise error
    return settled


def _check_filled(target, dtype=None, device=None) -> None:
    """Of operators without tensors the dtype alone counts."""
    if dtype is not None and torch.device(device or "cpu").type == "cpu":
        numbers = tuple(("number", int, n) for n in _NUMBERS[target])
        _settled(target, numbers, (("dtype", ("number", torch.dtype, dtype)),))


def _check(target, names: list, args, kwargs) -> None:
    if target in _NUMBERS:
        return _check_filled(target, kwargs.get("dtype"), kwargs.get("device"))
    tensors = list(_tensors((*args, *kwargs.values())))
    if not tensors or any(x.device.type != "cpu" or x.layout is not torch.strided
                          or len(tensors) > 1 and _is_empty(x) for x in tensors):
        return
    for exact in (False, True):
        given = tuple(_described(arg, name, exact) for arg, name in zip(args, names))
        named = tuple((name, _described(arg, name, exact)) for name, arg in kwargs.items())
        with contextlib.suppress(TypeError):  # of arguments that can't be compared
            if _settled(target, given, named) or not all(map(_is_small, tensors)):
                return


# ---- the table ----


def _checked(target, form):
    names = [parameter.name for parameter in target._schema.arguments]

    def check(*args, **kwargs):
        if form is None:
            if not _in_form.get():
                _check(target, names, args, kwargs)
            return NotImplemented
        if _in_form.get():
            return form(*args, **kwargs)
        _check(target, names, args, kwargs)
        token = _in_form.set(True)
        try:
            return form(*args, **kwargs)
        finally:
            _in_form.reset(token)

    return check


def _targets():
    tried = _TRIED.split()
    for name in (*tried, *(f"_foreach_{name}" for name in tried), *_MADE):
        packet = getattr(aten, name, None)
        for overload in packet.overloads() if packet else ():
            target = getattr(packet, overload)
            if not target._schema.is_mutable and "out" not in overload and (
                    name not in _MADE or target in _NUMBERS):
                yield target


def with_dtypes(table: dict) -> dict:
    """The table of decompositions, in which operators refuse dtypes that eager mode lacks."""
    return {**table, **{target: _checked(target, table.get(target)) for target in _targets()}}


def expanded_with_dtypes(forms: dict) -> dict:
    """{(operator, dispatch key): form} that refuse dtypes that eager mode lacks; `forms` are those
    that take the place of PyTorch's."""
    targets = [getattr(getattr(aten, name), overload) for name in _EXPANDED
               for overload in getattr(aten, name).overloads()]
    places = [(target, key) for target in targets for key in target.py_kernels
              if callable(target.py_kernels[key])]
    return {place: _checked(place[0], forms.get(place, place[0].py_kernels[place[1]]))
            for place in places}
