"""`import nereid` makes `torch.compile(backend="nereid")` known.

The metadata of the distribution names the backend, too; a package that is only on the path has
none.  PyTorch's table of backends gets the name once PyTorch has the table.
"""

from __future__ import annotations

import sys

_TABLE = "torch._dynamo.backends.registry"


def _add(registry) -> None:
    from importlib.metadata import EntryPoint  # which is slow to import, and PyTorch has imported

    backends = getattr(registry, "_BACKENDS", None)  # which PyTorch has from 2.5 on
    if isinstance(backends, dict):
        backends.setdefault("nereid", EntryPoint("nereid", "nereid.torch_backend:backend",
                                                 "torch_dynamo_backends"))


def find_then(name: str, path, then):
    """The spec of a module as others find it; once it is loaded, `then` gets it."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            then(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
    return spec


class _Finder:
    """Adds the name after the module of the table was loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != _TABLE:
            return None
        sys.meta_path.remove(self)
        return find_then(name, path, _add)


def register() -> None:
    registry = sys.modules.get(_TABLE)
    if registry is not None:
        _add(registry)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
