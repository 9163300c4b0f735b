"""Keys of PyTorch's cache of AOTAutograd without what only TorchInductor's kernels depend on.

To import TorchInductor's backends and to hash the sources of PyTorch and Triton takes longer than
all the rest of a look-up.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import os
import pathlib
import threading

import torch


def _is_newer(folder: str, than: float) -> bool:
    """Has a source below the folder been written since?"""
    for at, inside, names in os.walk(folder):
        inside[:] = [name for name in inside if name not in ("include", "lib", "share", "test")]
        for name in names:
            if name.endswith(".py") and os.stat(os.path.join(at, name)).st_mtime > than:
                return True
    return False


@functools.cache
def _torch_key() -> bytes | None:
    """A hash of PyTorch's sources as its distribution has them, the same on all machines; None:
    the sources are not those of a distribution, or newer, so that they may have been edited."""
    folder = os.path.dirname(torch.__file__)
    try:
        found = importlib.metadata.distribution("torch")
        record = found.locate_file(f"torch-{found.version}.dist-info/RECORD")
        if (not os.path.samefile(folder, found.locate_file("torch"))
                or _is_newer(folder, os.stat(record).st_mtime)):
            return None
        lines = pathlib.Path(record).read_text().splitlines()
    except (importlib.metadata.PackageNotFoundError, OSError):
        return None
    hashes = [line for line in lines if line.startswith("torch/") and ".py," in line]
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).digest()


class _Hidden:
    """A dict that is empty for one thread."""

    def __init__(self, found: dict, is_hidden):
        self._found, self._is_hidden = found, is_hidden

    def __getattr__(self, name: str):
        return getattr({} if self._is_hidden() else self._found, name)


class _Replaced:
    """Attributes of PyTorch's modules that differ for this thread until the end: another one may
    compile by TorchInductor.  What a version of PyTorch lacks is passed over."""

    def __init__(self):
        self._thread, self._kept = threading.get_ident(), []

    def _is_here(self) -> bool:
        return threading.get_ident() == self._thread

    def _replace(self, owner, name: str, wrap) -> None:
        theirs = getattr(owner, name, None)
        if theirs is not None:
            self._kept.append((owner, name, vars(owner).get(name)))
            setattr(owner, name, wrap(theirs))

    def call(self, owner, name: str, ours, kind=lambda function: function) -> None:
        self._replace(owner, name, lambda theirs: kind(
            lambda *args: (ours if self._is_here() else theirs)(*args)))

    def hide(self, owner, name: str) -> None:
        self._replace(owner, name, lambda theirs: _Hidden(theirs, self._is_here))

    def end(self) -> None:
        for owner, name, value in self._kept:
            if value is None:  # it is a class's base that has it
                delattr(owner, name)
            else:
                setattr(owner, name, value)


@contextlib.contextmanager
def without_inductor():
    """Keys that are made by this thread are without TorchInductor."""
    from torch._functorch._aot_autograd.autograd_cache import AOTAutogradCachePickler
    from torch._inductor import codecache

    replaced, key = _Replaced(), _torch_key()
    system = {"hash": f"{torch.version.cuda} {torch.version.hip}"}
    replaced.call(codecache, "init_backend_registration", lambda: None)
    replaced.call(codecache.CacheBase, "get_system", lambda: system, staticmethod)
    replaced.call(AOTAutogradCachePickler, "debug_lines", lambda pickler, details: [])
    if key is not None:
        replaced.call(codecache, "torch_key", lambda: key)
    replaced.hide(codecache, "custom_backend_passes")
    replaced.hide(codecache, "custom_backend_codegen_configs")
    try:
        yield
    finally:
        replaced.end()
