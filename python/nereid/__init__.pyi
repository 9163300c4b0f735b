# The names of the package, which __init__.py looks up when they are used.
from typing import Any, Callable, Iterable, overload

from nereid import compiler as compiler
from nereid import errors as errors
from nereid import inductor as inductor
from nereid import interpret as interpret
from nereid import knobs as knobs
from nereid import language as language
from nereid import models as models
from nereid import runtime as runtime
from nereid import testing as testing
from nereid import tools as tools
from nereid.compiler import CompiledKernel as CompiledKernel
from nereid.compiler.source import compile as compile
from nereid.drop_in import install_as_triton as install_as_triton
from nereid.errors import CompilationError as CompilationError
from nereid.errors import DataError as DataError
from nereid.errors import IndexOutOfRange as IndexOutOfRange
from nereid.errors import InternalError as InternalError
from nereid.errors import InterpreterError as InterpreterError
from nereid.errors import NereidError as NereidError
from nereid.errors import OutOfResources as OutOfResources
from nereid.errors import TritonError as TritonError
from nereid.interpret import check as check
from nereid.language import constexpr_function as constexpr_function
from nereid.language import must_use_result as must_use_result
from nereid.models import build as build
from nereid.models import load as load
from nereid.runtime.autotuner import Autotuner as Autotuner
from nereid.runtime.autotuner import Config as Config
from nereid.runtime.autotuner import Heuristics as Heuristics
from nereid.runtime.autotuner import autotune as autotune
from nereid.runtime.autotuner import heuristics as heuristics
from nereid.runtime.driver import set_allocator as set_allocator
from nereid.runtime.jit import JITFunction as JITFunction
from nereid.runtime.jit import KernelInterface as KernelInterface
from nereid.runtime.jit import MockTensor as MockTensor
from nereid.runtime.jit import TensorWrapper as TensorWrapper
from nereid.runtime.jit import reinterpret as reinterpret
from nereid.runtime.numbers import cdiv as cdiv
from nereid.runtime.numbers import next_power_of_2 as next_power_of_2
from nereid.torch_backend.explain import explain as explain
from nereid.torch_backend.standalone import CompiledArtifact as CompiledArtifact
from nereid.torch_backend.standalone import standalone_compile as standalone_compile

__version__: str

# As an overload says better than nereid.runtime.jit can.
@overload
def jit(
    fn: Callable[..., Any],
    *,
    version: Any = None,
    repr: Callable[..., str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
    interpret: bool | None = None,
) -> JITFunction: ...
@overload
def jit(
    *,
    version: Any = None,
    repr: Callable[..., str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
    interpret: bool | None = None,
) -> Callable[[Callable[..., Any]], JITFunction]: ...
