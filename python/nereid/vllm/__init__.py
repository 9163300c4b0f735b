"""Nereid within vLLM: its compiler for the pieces of a model, and kernels of linear layers.

vLLM finds `platform` and `register` by the entry points of the package's metadata, and calls them
in each of its processes.  They do nothing unless the variable NEREID_VLLM is set: who installs
Nereid gets the vLLM that he had.
"""

from __future__ import annotations

import os

_OFF = ("", "0", "off", "none", "no", "false")


def is_asked() -> bool:
    return os.environ.get("NEREID_VLLM", "").strip().lower() not in _OFF


def platform() -> str | None:
    """The entry point of `vllm.platform_plugins`: the name of the class; None: vLLM's own.  It is
    vLLM's platform of the device but for the compiler, which vLLM asks its platform for."""
    if not is_asked():
        return None
    from nereid.vllm.platforms import base_name

    return "nereid.vllm.platforms.NereidPlatform" if base_name() else None


def register() -> None:
    """The entry point of `vllm.general_plugins`: kernels of linear layers, which vLLM tries before
    its own ones.  It may be called again."""
    if not is_asked():
        return
    from nereid.vllm.linear import register_kernels

    register_kernels()
