"""Functions of the targets: `extra.libdevice` and `extra.cuda`, imported when asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nereid.language.extra import cuda as cuda
    from nereid.language.extra import libdevice as libdevice

_MODULES = ("cuda", "libdevice")


def __getattr__(name):
    if name in _MODULES:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_MODULES])
