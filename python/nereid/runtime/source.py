"""The text of a Python function, and the meaning of the names in it that are not its own."""

from __future__ import annotations

import re
import textwrap
import types

# nereid_name_kind of runtime/nereid.h.
NONE, VALUE, SCOPE, JIT, HOST, CLASS, OTHER = range(7)

# Names of dtypes that the language calls otherwise than types of arguments do.
_DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
           "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp8e4b8": "float8e4b8",
           "fp8e4b15": "float8e4b15", "fp8e5b16": "float8e5b16"}

_DEF = re.compile(r"^[ \t]*(def|class)\b", re.MULTILINE)


def source_of(fn) -> tuple[str, str, int, int]:
    """(path, text, line, column) of a function or class: the text begins at its `def`, has lost
    `column` columns on the left, and its first line is number `line` of the file."""
    import inspect

    fn = inspect.unwrap(getattr(fn, "fn", fn))
    try:
        lines, first = inspect.getsourcelines(fn)
    except (OSError, TypeError) as e:
        raise OSError(f"the source of `{fn.__qualname__}` can't be found: a function that was made "
                      "by exec needs its text in linecache.cache, under the file's name it was "
                      "compiled with") from e
    text = "".join(lines)
    start = _DEF.search(text)
    before = text[: start.start()].count("\n") if start else 0
    text = "".join(lines[before:])
    cut = textwrap.dedent(text)
    column = len(text.split("\n", 1)[0]) - len(cut.split("\n", 1)[0])
    return inspect.getsourcefile(fn) or fn.__code__.co_filename, cut, first + before, column


class Names:
    """The names of one compilation: what they mean where the text of functions leaves it open.

    `used` collects (dict, name, value) for each global that was read, which the compiled code
    depends on."""

    def __init__(self, fn):
        self.fn = fn
        self.own: dict = {}
        self.used: list = []

    def bind(self, name: str, value) -> str:
        """Makes a value known to the compilation alone; gives its text as an argument."""
        self.own["$" + name] = value
        return "name:$" + name

    def lookup(self, scope, name: str):
        """What `name` means in `scope`, as a lookup of _nereid.compile() gives it."""
        if name in self.own:
            return self._classify(self.own[name])
        found, value = self._find(scope if scope is not None else self.fn, name)
        return self._classify(value) if found else None

    def _find(self, scope, name: str):
        if isinstance(scope, (types.ModuleType, type)):
            return hasattr(scope, name), getattr(scope, name, None)
        fn = getattr(scope, "fn", scope)
        closure = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
        if name in closure:
            return True, closure[name].cell_contents
        if name not in fn.__globals__:
            return False, None
        value = fn.__globals__[name]
        if not isinstance(value, types.ModuleType):
            self.used.append((fn.__globals__, name, value))
        return True, value

    def _classify(self, value):
        text = literal(value)
        if text is not None:
            return VALUE, text, None
        if isinstance(value, types.ModuleType):
            return SCOPE, value.__name__, ("", "", 0, 0, value)
        from nereid.runtime.jit import JITFunction

        if isinstance(value, JITFunction):
            path, source, line, column = source_of(value)
            return JIT, value.__name__, (path, source, line, column, value)
        return OTHER, f"a {type(value).__module__}.{type(value).__qualname__}", None


def literal(value) -> str | None:
    """A value as an expression of literals and names of the language; None if it is none."""
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        text = repr(value)
        return f"float('{text}')" if text in ("inf", "-inf", "nan") else text
    if isinstance(value, tuple):
        items = [literal(v) for v in value]
        if None in items:
            return None
        return "(" + "".join(i + "," for i in items) + ")"
    if type(value).__name__ == "constexpr" and hasattr(value, "value"):
        inner = literal(value.value)
        return inner and f"triton.language.constexpr({inner})"
    if isinstance(value, types.ModuleType):
        name = value.__name__.replace("nereid.language", "triton.language")
        return name if name == "math" or name.startswith("triton.language") else None
    if type(value).__name__ == "dtype" and type(value).__module__.endswith("language.types"):
        return "triton.language." + _DTYPES.get(value.name, value.name)
    module = getattr(value, "__module__", "") or ""
    name = getattr(value, "__qualname__", None) or getattr(value, "name", None)
    if isinstance(name, str) and module.startswith(("nereid.language", "triton.language")):
        return "triton.language." + name
    return None
