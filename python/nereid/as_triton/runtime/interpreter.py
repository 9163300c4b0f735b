"""What `triton.runtime.interpreter` has that others ask for: the class of interpreted functions.

Nereid's interpreters run what the compiler makes of a kernel, not its Python; there is no function
of this class.
"""

from nereid.errors import InterpreterError


class InterpretedFunction:
    """No function is one: a jit function is a JITFunction whether it is interpreted or not."""
