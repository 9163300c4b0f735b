"""Exceptions of compiling, by Triton's module for them."""

from nereid.errors import (CompilationError, CompileTimeAssertionFailure,
                           UnsupportedLanguageConstruct)

__all__ = ["CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct"]
