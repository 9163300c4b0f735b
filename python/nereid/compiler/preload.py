"""A kind of arguments as text: `specialization_data`, which knobs.runtime.jit_cache_hook gets and
preload() of a jit function takes, in this process or in a later one."""

from __future__ import annotations

import json

from nereid import language as tl
from nereid.compiler import Plan, load_plan

_PLAIN = (bool, int, float, str, type(None))


def _encoded(value):
    """A constant as JSON has it."""
    if type(value) in _PLAIN:
        return value
    if type(value) is tuple:
        return {"tuple": [_encoded(item) for item in value]}
    if type(value) is tl.constexpr:
        return {"constexpr": _encoded(value.value)}
    if type(value) is tl.dtype:
        return {"dtype": value.name}
    raise TypeError(f"a {type(value).__name__} has no text")


def _decoded(value):
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "tuple":
        return tuple(_decoded(item) for item in inner)
    return tl.constexpr(_decoded(inner)) if kind == "constexpr" else tl.dtype(inner)


def text_of(plan: Plan) -> str | None:
    """None: a constant, such as a function, means nothing in another process."""
    try:
        described = [(name, type_, _encoded(value)) for name, type_, value in plan.described]
        options = {name: _encoded(value) for name, value in plan.given.items()}
    except TypeError:
        return None
    fn = plan.fn
    return json.dumps({"name": f"{fn.__module__}.{fn.__qualname__}", "described": described,
                       "options": options, "device": [plan.device_type, plan.index]})


def preload(fn, text: str):
    """The kernel, compiled and loaded, as warmup() gives it.  A call of this kind then finds its
    code in the cache."""
    try:
        data = json.loads(text)
        name, (device_type, index) = data["name"], data["device"]
        described = [(n, type_, _decoded(value)) for n, type_, value in data["described"]]
        options = {n: _decoded(value) for n, value in data["options"].items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError("this is no specialization_data of jit_cache_hook, or of a kernel with "
                         f"constants that have no text: {str(text)[:200]!r}") from None
    own = f"{fn.__module__}.{fn.__qualname__}"
    if name != own:
        raise RuntimeError(f"Specialization data is for {name} but trying to preload for {own}")
    return load_plan(Plan(fn, device_type, index, described, options)).compiled
