"""Errors of kernels as Triton tells them, while `import triton` is Nereid: where in the function
("at 2:4:", lines from its `def` on, columns from 0), and as a chain of causes, a call each.

The text of each link has the place in the file too; its last line is the message.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re

_LINES = 12  # of an excerpt, at most
_CALL = "in the call of "  # how notes begin that tell of a call
# How errors of the standard library's functions begin.
_OWN = re.compile(r"^in \w+: static_assert failed: ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@functools.lru_cache(64)
def _parsed(text: str):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


class _Function:
    """The function around a line of a file: its text from `def` on, without its indentation."""

    def __init__(self, lines: list[str], line: int):
        first = line - 1
        here = _indent(lines[first])
        while first and not (lines[first].lstrip().startswith("def ")
                             and (_indent(lines[first]) < here or first == line - 1)):
            first -= 1
        cut = self.cut = _indent(lines[first])
        last = first + 1
        while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > cut):
            last += 1
        self.first = first + 1
        self.lines = [text[cut:].rstrip("\n") for text in lines[first:last]]
        self.name = self.lines[0][4:].partition("(")[0].strip()

    def place(self, diagnostic) -> tuple[int, int]:
        """The line and column that Triton tells: those of the expression that was evaluated, such
        as a call whose argument is wrong."""
        line, column = diagnostic.line - self.first + 1, diagnostic.column - 1 - self.cut
        tree = _parsed("\n".join(self.lines))
        span = (line, column), (line, column + diagnostic.length)
        around = [n for n in ast.walk(tree)
                  if isinstance(n, (ast.expr, ast.stmt)) and not isinstance(n, ast.FunctionDef)
                  and (n.lineno, n.col_offset) <= span[0]
                  and (n.end_lineno, n.end_col_offset) >= span[1]] if tree else []
        around.sort(key=lambda n: (-n.lineno, -n.col_offset, n.end_lineno, n.end_col_offset))
        if not around:
            return line, column
        node = around[0]
        if "is not defined" not in diagnostic.message:
            whole = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
            node = next((n for n in around if isinstance(n, whole)), node)
        return node.lineno, node.col_offset


def _excerpt(diagnostic) -> list[str]:
    """Where the diagnostic is, in the file and in its function."""
    place = f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}"
    lines = linecache.getlines(diagnostic.file)
    known = 0 < diagnostic.line <= len(lines)
    if not known or lines[diagnostic.line - 1].rstrip("\n") != diagnostic.source:
        return [f"{place}: at {diagnostic.line}:{diagnostic.column - 1}:", diagnostic.source,
                " " * (diagnostic.column - 1) + "^"]
    function = _Function(lines, diagnostic.line)
    line, column = function.place(diagnostic)
    return [f"{place}: in {function.name}, at {line}:{column}:",
            *function.lines[max(line - _LINES, 0):line], " " * column + "^"]


def chain(kind: type, code: int, diagnostics: list, kernel: str) -> Exception:
    """The exception of the kernel's own call, whose cause is that of the call in it ..., and last
    the error by itself."""
    error, *rest = diagnostics
    calls = [d for d in rest if d.severity == "note" and d.message.startswith(_CALL)]
    notes, first = [], True
    for d in rest:
        if d in calls:
            continue
        if d.line:
            notes += [*_excerpt(d), f"{d.severity}: {d.message}"]
        else:
            notes.append(f"{d.severity}: {d.message}")
    made: Exception | None = None
    if kind.__name__ == "CompilationError":
        made = ValueError(_OWN.sub("", error.message))
    for d in (error, *calls):
        head = [] if first else [f"{error.file}:{error.line}:{error.column}:"]
        text = [*_excerpt(d), *(notes if first else head), error.message]
        link = kind("\n".join(text), code, diagnostics, kernel)
        link.__cause__ = made
        made, first = link, False
    return made
