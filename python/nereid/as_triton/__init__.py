"""Triton's names for Nereid.  nereid.drop_in loads this file as `triton`."""

from nereid.drop_in import copy_variables

__version__ = "3.6.0"

# Where the names are, which are looked up when they are used.
_NAMES = {
    "jit": "nereid.runtime.jit",
    "JITFunction": "nereid.runtime.jit",
    "KernelInterface": "nereid.runtime.jit",
    "MockTensor": "nereid.runtime.jit",
    "TensorWrapper": "nereid.runtime.jit",
    "reinterpret": "nereid.runtime.jit",
    "autotune": "nereid.runtime.autotuner",
    "heuristics": "nereid.runtime.autotuner",
    "Config": "nereid.runtime.autotuner",
    "OutOfResources": "nereid.errors",
    "CompilationError": "nereid.errors",
    "InterpreterError": "nereid.errors",
    "TritonError": "nereid.errors",
    "cdiv": "nereid",
    "next_power_of_2": "nereid",
    "set_allocator": "nereid",
    "compile": "nereid.compiler.source",
    "constexpr_function": "nereid.language.types",
    "must_use_result": "nereid.language.types",
    "aggregate": "nereid.language.types",
}
_MODULES = ["compiler", "errors", "knobs", "language", "runtime", "testing", "tools", "backends"]

__all__ = [*_NAMES, *_MODULES]


def __getattr__(name):
    import importlib

    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(name)


def __dir__():
    return sorted([*globals(), *__all__])


copy_variables()
