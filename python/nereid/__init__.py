"""Nereid: kernels in Triton's language, compiled without LLVM, launched on tensors.

    import nereid
    import nereid.language as tl

    @nereid.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    add[(nereid.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)

Importing this package needs no compiler, GPU or driver, and neither NumPy nor PyTorch.
"""

from nereid import registration as _registration
from nereid._version import __version__

# What is looked up when it is used, so that importing the package stays cheap: name to module.
_LAZY = {
    "jit": "nereid.runtime.jit",
    "JITFunction": "nereid.runtime.jit",
    "KernelInterface": "nereid.runtime.jit",
    "MockTensor": "nereid.runtime.jit",
    "TensorWrapper": "nereid.runtime.jit",
    "reinterpret": "nereid.runtime.jit",
    "constexpr_function": "nereid.language",
    "must_use_result": "nereid.language",
    "autotune": "nereid.runtime.autotuner",
    "heuristics": "nereid.runtime.autotuner",
    "Config": "nereid.runtime.autotuner",
    "Autotuner": "nereid.runtime.autotuner",
    "Heuristics": "nereid.runtime.autotuner",
    "cdiv": "nereid.runtime.numbers",
    "next_power_of_2": "nereid.runtime.numbers",
    "set_allocator": "nereid.runtime.driver",
    "compile": "nereid.compiler.source",
    "CompiledKernel": "nereid.compiler",
    "CompilationError": "nereid.errors",
    "OutOfResources": "nereid.errors",
    "NereidError": "nereid.errors",
    "TritonError": "nereid.errors",
    "IndexOutOfRange": "nereid.errors",
    "DataError": "nereid.errors",
    "InternalError": "nereid.errors",
    "InterpreterError": "nereid.errors",
    "load": "nereid.models",
    "build": "nereid.models",
    "check": "nereid.interpret",
    "explain": "nereid.torch_backend.explain",
    "standalone_compile": "nereid.torch_backend.standalone",
    "CompiledArtifact": "nereid.torch_backend.standalone",
    "install_as_triton": "nereid.drop_in",
}
_MODULES = ("compiler", "errors", "inductor", "interpret", "knobs", "language", "models", "runtime",
            "testing", "tools")

__all__ = ["__version__", *_LAZY, *_MODULES]


_registration.register()


def __getattr__(name):
    import importlib

    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
    elif name in _MODULES:
        value = importlib.import_module("nereid." + name)
    else:
        raise AttributeError(f"module 'nereid' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
