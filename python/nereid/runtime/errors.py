"""Exceptions of launching and tuning, by Triton's module for them."""

from nereid.errors import (AutotunerError, InterpreterError, OutOfResources, PTXASError,
                           TritonError)

__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError", "TritonError"]
