"""Let unsloth's kernels be imported without the library's own start.

The modules that they take from `unsloth_zoo` patch other libraries; the few names which the kernels
ask for are given here, where that distribution is not installed.
"""

import importlib.util
import logging
import os
import sys
import types

if os.environ.get("CONFORMANCE_DEVICE") == "cpu":
    os.environ["UNSLOTH_ALLOW_CPU"] = "1"  # unsloth's own switch for its tests


def give(name, **values):
    """Register a module of these values."""
    module = types.ModuleType(name)
    module.__path__ = []
    module.__spec__ = importlib.util.spec_from_loader(name, None, is_package=True)
    for key, value in values.items():
        setattr(module, key, value)
    sys.modules[name] = module
    return module


def unused(*args, **kwargs):
    raise NotImplementedError("a part of unsloth_zoo that no kernel needs")


if importlib.util.find_spec("unsloth_zoo") is None:
    from packaging.version import Version

    give("unsloth_zoo")
    give("unsloth_zoo.utils", Version=lambda v: Version(str(v).split("+")[0]))
    give("unsloth_zoo.log", logger=logging.getLogger("unsloth_zoo"))
    give(
        "unsloth_zoo.loss_utils", patch_loss_functions=unused, post_patch_loss_function=lambda m: m
    )
    give("unsloth_zoo.patching_utils", patch_layernorm=unused)
    give("unsloth_zoo.temporary_patches")
    give("unsloth_zoo.temporary_patches.common", torch_compile=lambda f: f)
