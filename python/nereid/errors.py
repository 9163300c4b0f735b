"""What goes wrong, as exceptions: their names are Triton's where Triton has one."""

from __future__ import annotations

import sys
from collections import namedtuple

# nereid_code of runtime/nereid.h.
KERNEL, USAGE, MEMORY, DEVICE, LOST, TOOL = range(-1, -7, -1)
FILE, RESOURCES, FINDINGS, INDEX, CALLER, INTERNAL, DATA = range(-7, -14, -1)


SEVERITIES = ("error", "warning", "note", "hint")

# A part of a message: `line` and `column` count from 1 and are 0 where it is about no line;
# `source` is the line, `length` the number of characters that it is about, and `id` the message's
# (docs/messages.md), or "".
Diagnostic = namedtuple("Diagnostic", "severity file line column length message source id",
                        defaults=("",))


class NereidError(RuntimeError):
    """A failure of the library: `code` is one of the numbers above, `diagnostics` are the parts of
    the message, the first of which is the error, and `kernel` is the kernel's name or ""."""

    def __init__(self, message: str = "", code: int = 0, diagnostics=(), kernel: str = ""):
        super().__init__(message)
        self.code, self.diagnostics, self.kernel = code, list(diagnostics), kernel

    def __reduce__(self):
        return type(self), (*self.args, self.code, self.diagnostics, self.kernel)

    @property
    def id(self) -> str:
        """The id of the error, "E_SEMA_UNDEFINED" (docs/messages.md); "": it has none."""
        return self.diagnostics[0].id if self.diagnostics else ""

    @property
    def error_message(self) -> str:
        """The message alone."""
        return self.args[0]


TritonError = NereidError


class CompilationError(NereidError):
    """The kernel or its arguments are wrong; the message has the file, line and caret."""

    @property
    def error_message(self) -> str:
        """The error without its place."""
        return self.diagnostics[0].message if self.diagnostics else str(self)


class CompileTimeAssertionFailure(CompilationError):
    """A static_assert of the kernel does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """The kernel has Python that is not part of the language."""


class InvalidOption(NereidError, AssertionError):
    """An option of a compilation has no such value."""


class OutOfResources(NereidError):
    """A kernel needs more of `name` than the device has: `required` of `limit`."""

    def __init__(self, required=0, limit=0, name="", message: str = "", diagnostics=(),
                 kernel: str = ""):
        super().__init__(message, RESOURCES, diagnostics, kernel)
        self.required, self.limit, self.name = required, limit, name

    def __str__(self) -> str:
        """Triton's line, and the message with its place."""
        line = (f"out of resource: {self.name}, Required: {self.required}, Hardware limit: "
                f"{self.limit}. Reducing block sizes or `num_stages` may help.")
        message = self.args[0]
        return "\n".join(filter(None, (line if self.name else "", message))) or line

    def __reduce__(self):
        return type(self), (self.required, self.limit, self.name, *self.args, self.diagnostics,
                            self.kernel)


class PTXASError(NereidError):
    """An assembler refused the code."""

    def __str__(self) -> str:
        return f"PTXAS error: {self.args[0]}"


class AutotunerError(NereidError):
    """No configuration is left to choose from."""

    def __str__(self) -> str:
        return f"Autotuner error: {self.args[0]}"


class IndexOutOfRange(NereidError, IndexError):
    """A model was run with an index that is out of range."""


class DataError(NereidError, ValueError):
    """A model was run with data that one of its operators refuses, as eager PyTorch does."""


class InterpreterError(NereidError):
    """An interpreter ran the kernel and found it at fault."""


class InternalError(NereidError):
    """A fault of Nereid itself: nothing else is affected, and the program may go on.  The message
    is a report to send: the stage, the place in the sources, the version, and what repeats it."""


def _kind_of(code: int, message: str, diagnostics: list) -> type:
    if code == FINDINGS:
        return InterpreterError
    if code == INDEX:
        return IndexOutOfRange
    if code == DATA:
        return DataError
    if code == INTERNAL:
        return InternalError
    if code == TOOL and "ptx" in message.lower():
        return PTXASError
    if code != KERNEL:
        return NereidError
    text = diagnostics[0].message if diagnostics else message
    if diagnostics and diagnostics[0].id == "E_SEMA_STATIC_ASSERT":
        return CompileTimeAssertionFailure
    unsupported = "not supported" in text and "in this architecture" not in text
    return UnsupportedLanguageConstruct if unsupported else CompilationError


def from_failure(code: int, message: str, kernel: str = "", resource=("", 0, 0),
                 parts=()) -> Exception:
    """The exception for a failure of the C API: its message as text and in parts, the kernel, and
    of RESOURCES (name, required, limit)."""
    message = message.rstrip("\n")
    diagnostics = [Diagnostic(SEVERITIES[severity], *rest) for severity, *rest in parts]
    if code == MEMORY:
        return MemoryError(message)
    if code == RESOURCES:
        name, required, limit = resource
        return OutOfResources(required, limit, name, message, diagnostics, kernel)
    kind = _kind_of(code, message, diagnostics)
    drop_in = sys.modules.get("nereid.drop_in")
    if code == KERNEL and diagnostics and diagnostics[0].line and drop_in and drop_in.installed():
        from nereid.triton_errors import chain

        return chain(kind, code, diagnostics, kernel)
    return kind(message, code, diagnostics, kernel)
