"""What goes wrong, as exceptions: their names are Triton's where Triton has one."""

from nereid import _nereid

# nereid_code of runtime/nereid.h.
KERNEL, USAGE, MEMORY, DEVICE, LOST, TOOL = range(-1, -7, -1)
FILE, RESOURCES, FINDINGS, INDEX, CALLER = range(-7, -12, -1)


class NereidError(RuntimeError):
    """A failure of the library; `code` is one of the numbers above."""

    def __init__(self, message: str, code: int = 0):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return type(self), (str(self), self.code)


TritonError = NereidError


class CompilationError(NereidError):
    """The kernel or its arguments are wrong; the message has the file, line and caret."""


class OutOfResources(NereidError):
    """A kernel needs more of `name` than the device has: `required` of `limit`."""

    def __init__(self, required=0, limit=0, name="", message: str = ""):
        text = message or f"out of resource: {name}, Required: {required}, Hardware limit: {limit}."
        super().__init__(text, RESOURCES)
        self.required, self.limit, self.name = required, limit, name

    def __reduce__(self):
        return type(self), (self.required, self.limit, self.name, str(self))


class InterpreterError(NereidError):
    """An interpreter ran the kernel and found it at fault."""


def from_failure(code: int, message: str) -> Exception:
    """The exception for a failure of the C API, whose message ends without a newline."""
    message = message.rstrip("\n")
    if code == MEMORY:
        return MemoryError(message)
    if code == RESOURCES:
        return OutOfResources(message=message)
    kinds = {KERNEL: CompilationError, FINDINGS: InterpreterError}
    return kinds.get(code, NereidError)(message, code)
