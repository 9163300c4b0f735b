"""What `triton.runtime` has."""

from nereid.errors import InterpreterError, OutOfResources
from nereid.runtime.autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from nereid.runtime.jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret
from triton.runtime.driver import driver

__all__ = [
    "autotune", "Autotuner", "Config", "driver", "Heuristics", "heuristics", "InterpreterError",
    "JITFunction", "KernelInterface", "MockTensor", "OutOfResources", "reinterpret",
    "TensorWrapper",
]  # fmt: skip
