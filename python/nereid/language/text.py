"""The kernel language's text of a value of the host, for names that a kernel takes from Python."""

from __future__ import annotations

import builtins

from nereid.language import types

_PACKAGE = "nereid.language"
_GLUON = "nereid.experimental.gluon"
_RAGGED = "nereid.tools.ragged_tma"
_INSIDE = (f"{_PACKAGE}.types", f"{_PACKAGE}.constant")
_HOST = ("nereid", f"{_PACKAGE}.target_info")  # modules whose constexpr functions are known


def expression(value) -> str | None:
    """The expression that means `value` in a kernel, over literals and the language's full names
    ("triton.language.float16", "(1, None)"); None if it is no value of the language.

    >>> expression((types.float16, types.constexpr(4), float("-inf")))
    "(triton.language.float16, triton.language.constexpr(4), float('-inf'))"
    """
    kind = type(value)
    if value is None or kind is bool:
        return repr(value)
    for plain in (int, str, float):
        if isinstance(value, plain):  # also of an enumeration
            text = plain.__repr__(value)
            return f"float({text!r})" if text in ("inf", "-inf", "nan") else text
    if isinstance(value, types.constexpr):
        inner = expression(value.value)
        return inner and f"triton.language.constexpr({inner})"
    if isinstance(value, (types.block_type, types.slice_type)):
        return None
    if isinstance(value, types.dtype):
        return f"triton.language.{value.codegen_name()}"
    if callable(getattr(kind, "kernel_text", None)):  # a layout of Gluon's
        return value.kernel_text()
    if kind is types._Member:
        return f"triton.language.{value!r}" if value._group == "PropagateNan" else None
    if value is types.PropagateNan:
        return "triton.language.PropagateNan"
    if kind in (builtins.tuple, list) or isinstance(value, types.tuple):
        items = [expression(x) for x in value]
        if None in items:
            return None
        if kind is list:
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return _name(value)


def _name(value) -> str | None:
    """The full name of a module, class or function of the language."""
    if isinstance(value, type(types)):
        path = value.__name__
        if path == "math":
            return path
        name = _PACKAGE if path in _INSIDE else path
    else:
        path = getattr(value, "__module__", None) or ""
        name = getattr(value, "__qualname__", None)
        if not name or isinstance(value, types.constexpr_function) and path not in _HOST:
            return None
        home = f"{_PACKAGE}.core" if path in _INSIDE else path
        name = f"{home}.{name}"
    known = path in ("nereid", _PACKAGE, _GLUON, _RAGGED)
    known = known or path.startswith((f"{_PACKAGE}.", f"{_GLUON}."))
    if known:
        return "triton" + name[len("nereid") :]
    return None
