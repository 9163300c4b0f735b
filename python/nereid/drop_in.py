"""Nereid where programs look for Triton.

After `install_as_triton()` an `import triton` gives Nereid's modules: `triton.runtime.jit` is
`nereid.runtime.jit`, `triton.language` is `nereid.language`.  Modules that only Triton has are in
nereid/as_triton.  A name that is missing fails where it is used, and the message has the name.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types

from nereid.registration import find_then

# Modules that have another name here.  Others keep it: triton.testing is nereid.testing.
_RENAMED = {
    "triton.compiler.compiler": "nereid.compiler",
    "triton.compiler.errors": "nereid.errors",
    "triton.runtime.errors": "nereid.errors",
}
# The modules that keep their names, with all below them.
_SHARED = ("errors", "experimental", "knobs", "language", "runtime.autotuner", "runtime.jit",
           "testing", "tools")
# Names that Triton has in another module than Nereid.
_ELSEWHERE = {
    "triton.compiler.compiler": {
        "ASTSource": "nereid.compiler.source",
        "compile": "nereid.compiler.source",
        "make_backend": "triton.backends.nvidia.compiler",
        "triton_key": "triton.runtime.cache",
        "get_cache_key": "triton.runtime.cache",
    },
    "triton.testing": {"runtime": "triton", "language": "triton"},
    "triton.runtime.jit": {
        "ConstexprFunction": "nereid.language.types:constexpr_function",
        "constexpr_function": "nereid.language.types",
        "JITCallable": "nereid.runtime.jit:JITFunction",
        "get_cache_key": "triton.runtime.cache",
    },
    "triton.runtime.autotuner": {
        "OutOfResources": "nereid.errors",
        "PTXASError": "nereid.errors",
        "JITFunction": "nereid.runtime.jit",
        "KernelInterface": "nereid.runtime.jit",
        "driver": "nereid.runtime.active",
        "knobs": "nereid",
        "get_cache_manager": "triton.runtime.cache",
        "triton_key": "triton.runtime.cache",
    },
}
# Modules of PyTorch's that are changed once they are loaded, and the functions that do it.
_PATCHED = {
    "torch._higher_order_ops.triton_kernel_wrap": "nereid.torch_compile:patch",
    "torch._inductor.async_compile": "nereid.inductor:patch_async_compile",
    "torch._inductor.runtime.triton_heuristics": "nereid.inductor:patch_triton_heuristics",
}
# Modules of PyTorch's that look for Triton when they are imported, and hardly use it.
_SEARCHERS = ("torch._dynamo.utils", "torch._inductor.runtime.hints")
# Variables of Triton's that Nereid has under a name of its own.
VARIABLES = {"TRITON_CACHE_DIR": "NEREID_CACHE_DIR", "TRITON_INTERPRET": "NEREID_INTERPRET",
             "TRITON_DEBUG": "NEREID_DEBUG"}
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "as_triton")
_triton_names: dict = {}  # of modules of Nereid's that have got one


def _missing(name: str) -> str:
    return (
        f"Nereid, which is installed as triton, has no {name}; code that needs it has to run under "
        "Triton itself"
    )


class _Module(types.ModuleType):
    """A module under a name of Triton's: it imports submodules when they are asked for, and says
    which names are missing."""

    def __getattr__(self, name):
        own = self.__dict__.get("__name__", "")
        full = f"{_triton_names.get(own, own)}.{name}"
        if name[:2] == "__":
            raise AttributeError(f"module {own!r} has no attribute {name!r}")
        place = _ELSEWHERE.get(full.rpartition(".")[0], {}).get(name)
        if place:
            module, _, attribute = place.partition(":")
            return getattr(importlib.import_module(module), attribute or name)
        if _origin(full):
            return importlib.import_module(full)
        raise AttributeError(_missing(full))


class _Shared(importlib.abc.Loader):
    """Gives a module of Nereid's a name of Triton's, and leaves all else of it as it is."""

    def __init__(self, name):
        self.name = name
        self.spec = None

    def create_module(self, spec):
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        _triton_names.setdefault(self.name, spec.name)
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec
        module.__class__ = _Module


class _Own(importlib.machinery.SourceFileLoader):
    """Loads a file of nereid/as_triton as a module of Triton's."""

    def exec_module(self, module):
        module.__class__ = _Module
        super().exec_module(module)


def _origin(name: str):
    """The file of as_triton, or the name of Nereid's module, that serves for one of Triton's."""
    path = os.path.join(_FOLDER, *name.split(".")[1:])
    for file in (os.path.join(path, "__init__.py"), path + ".py"):
        if os.path.isfile(file):
            return file
    if name in _RENAMED:
        return _RENAMED[name]
    rest = name.partition(".")[2]
    if any(rest == shared or rest.startswith(shared + ".") for shared in _SHARED):
        parent, _, last = f"nereid.{rest}".rpartition(".")
        try:
            found = importlib.util.find_spec(f"{parent}.{last}")
        except ModuleNotFoundError:
            found = None
        return found and f"nereid.{rest}"
    return None


def _patch(module) -> None:
    place, _, function = _PATCHED[module.__name__].partition(":")
    getattr(importlib.import_module(place), function)(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `triton` and all below it, and lets nobody else look for them."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname in _PATCHED:
            return find_then(fullname, path, _patch)
        if fullname != "triton" and not fullname.startswith("triton."):
            return None
        origin = _origin(fullname)
        if origin is None:
            raise ModuleNotFoundError(_missing(f"module {fullname}"), name=fullname)
        if not os.path.isabs(origin):
            return importlib.machinery.ModuleSpec(fullname, _Shared(origin), origin=origin)
        inside = [os.path.dirname(origin)] if origin.endswith("__init__.py") else None
        return importlib.util.spec_from_file_location(
            fullname, origin, loader=_Own(fullname, origin), submodule_search_locations=inside
        )

    def find_distributions(self, context=None):
        """`importlib.metadata.version("triton")` is that of triton.__version__."""
        from importlib import metadata  # which is slow to import

        class Distribution(metadata.Distribution):
            def read_text(self, filename):
                version = importlib.import_module("triton").__version__
                return f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n" * (
                    filename == "METADATA"
                )

            def locate_file(self, path):
                return os.path.join(_FOLDER, path)

        return [Distribution()] if context is not None and context.name == "triton" else []


def copy_variables() -> None:
    """Gives Nereid's variables the values of Triton's, unless they have one."""
    for theirs, ours in VARIABLES.items():
        if os.environ.get(theirs) and not os.environ.get(ours):
            os.environ[ours] = os.environ[theirs]


def installed() -> bool:
    """Whether `import triton` gives Nereid."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def _install_in_children() -> None:
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    ours = os.path.join(_FOLDER, "children")
    if ours not in folders:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [ours, *folders]))


def _users_of_triton() -> list[str]:
    """The modules, outside of Triton, that have a module, function or class of Triton's."""

    modules = (types.ModuleType, _Module)

    def is_triton(value) -> bool:
        if type(value) in modules:
            name = value.__name__
        elif type(value) in (type, types.FunctionType):
            name = value.__module__
        else:
            return False
        return isinstance(name, str) and name.split(".")[0] == "triton"

    found = []
    for name, module in list(sys.modules.items()):
        if isinstance(module, types.ModuleType) and name.split(".")[0] != "triton":
            if any(is_triton(value) for value in list(vars(module).values())):
                found.append(name)
    return found


def _forget_triton() -> list[str]:
    """Unloads Triton itself, where only a search for it has imported it, as PyTorch's does; gives
    the modules of PyTorch's that have it from there."""
    theirs = sys.modules.get("triton")
    users = _users_of_triton() if theirs is not None else []
    searchers = [name for name in users if name in _SEARCHERS]
    users = [name for name in users if name not in _SEARCHERS]
    if users:
        where = getattr(theirs, "__file__", None) or "a module of another name"
        raise RuntimeError(
            f"triton is imported already, from {where}, by {', '.join(users[:3])}: call "
            "nereid.install_as_triton() before anything imports it, or run `python -m nereid "
            "--as-triton SCRIPT`"
        )
    for name in [n for n in sys.modules if n == "triton" or n.startswith("triton.")]:
        del sys.modules[name]
    return searchers


def _rebind(searcher: str) -> None:
    """Gives one of _SEARCHERS the modules of Nereid in place of Triton's."""
    module = sys.modules[searcher]
    module.triton = importlib.import_module("triton")
    if hasattr(module, "common_constant_types"):
        module.common_constant_types.add(importlib.import_module("triton.language").dtype)


def install_as_triton(children: bool = False) -> None:
    """Makes `import triton` give Nereid, in this process, also where Triton itself is installed;
    with `children` in the Python programs too that this one starts, by PYTHONPATH.

    A RuntimeError says so if something uses Triton itself already, or has found that there is none.
    """
    if children:
        _install_in_children()
    if installed():
        return
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.") and getattr(module, "HAS_TRITON", None) is False:
            raise RuntimeError(
                f"{name} is imported already and has found no triton: call "
                "nereid.install_as_triton() before torch's compiler is imported"
            )
    searchers = _forget_triton()
    sys.meta_path.insert(0, _Finder())
    for name in searchers:
        _rebind(name)
    for name in _PATCHED:
        if name in sys.modules:
            _patch(sys.modules[name])
    asked = sys.modules.get("torch.utils._triton")
    for value in list(vars(asked).values()) if asked else ():
        if hasattr(value, "cache_clear"):  # it has looked for triton, perhaps in vain
            value.cache_clear()
