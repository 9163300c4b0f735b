"""The text of a Python function, and the meaning of the names in it that are not its own.

The compiler gets one function's text with its place in a file.  Names that the text leaves open
are looked up here, in the scope of the text that mentions them: closures, globals, then Python's
own.  An answer is an expression over literals and the language's names, a module or class whose
attributes are asked for next, or the text of another function or class (nereid_name in
runtime/nereid.h).  What was read is remembered, since the compiled code depends on it.
"""

from __future__ import annotations

import builtins
import os
import sys
import types

# `re` and `linecache` take longer to load than the rest: they wait for a compilation.

# nereid_name_kind of runtime/nereid.h.
NONE, VALUE, SCOPE, JIT, HOST, CLASS, OTHER = range(7)

# ---- texts ----

# Strings, comments, and what decides where a logical line ends.
_LEXEMES = (
    r'"""(?:\\.|[^\\])*?"""' r"|'''(?:\\.|[^\\])*?'''"
    r'|"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'"
    r"|\#[^\n]*|\\\n|[()\[\]{}\n]"
)
_DEFINITION = r"(?:async\s+)?(?:def|class)\b"


class SourceError(OSError):
    """The text of a function or class can't be found."""


def lines_of(fn) -> list[str]:
    """The lines of the file that the function `fn` was compiled from; [] if no one has them."""
    name = fn.__code__.co_filename
    lines = None if "linecache" in sys.modules else _lines_of_file(name)
    if lines is not None:
        return lines
    import linecache

    linecache.checkcache(name)
    return linecache.getlines(name, fn.__globals__)


_last_file: dict = {}  # "file": the name, time and size of the file that was read last; its lines


def _lines_of_file(name: str) -> list[str] | None:
    """What linecache, which has no text of its own before it is loaded, would give for a file in
    UTF-8; None: that is for linecache to tell."""
    try:
        stat = os.stat(name)
        known = name, stat.st_mtime_ns, stat.st_size
        last = _last_file.get("file", (None, []))
        if last[0] == known:
            return last[1]
        with open(name, "rb") as file:
            data = file.read()
        if data.startswith(b"\xef\xbb\xbf") or b"coding" in b"".join(data.split(b"\n", 2)[:2]):
            return None
        text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError):
        return None
    lines = [line + "\n" for line in text.removesuffix("\n").split("\n")] if text else []
    _last_file["file"] = known, lines
    return lines


def _logical_lines(text: str):
    """(start, end, statement) of each logical line: [start, end) without its line end."""
    import re

    start = depth = 0
    for lexeme in re.finditer(_LEXEMES, text, re.DOTALL):
        first = lexeme[0][0]
        if first in "([{":
            depth += 1
        elif first in ")]}":
            depth -= 1
        elif first == "\n" and depth <= 0:
            yield start, lexeme.start(), text[start : lexeme.start()].lstrip()
            start, depth = lexeme.end(), 0
    yield start, len(text), text[start:].lstrip()


def cut_definition(lines: list[str], first: int) -> tuple[str, int, int] | None:
    """(text, line, column) of the definition whose decorators or `def` are on line `first`: the
    text begins at `def` or `class`, and has lost `column` columns on the left.  None if there is
    none."""
    import re

    rest = "".join(lines[first - 1 :])
    begin, end, base = None, 0, 0
    for start, stop, statement in _logical_lines(rest):
        if not statement or statement[0] == "#":
            continue
        blanks = rest[start : stop - len(statement)]
        indentation = len(blanks.expandtabs())
        if begin is not None and indentation <= base:
            break
        if begin is None and statement[0] != "@":
            if not re.match(_DEFINITION, statement):
                return None
            begin, base, column = start, indentation, len(blanks)
        end = stop
    if begin is None:
        return None
    cut = [_without_margin(line, column) for line in rest[begin:end].split("\n")]
    return "\n".join(cut) + "\n", first + rest.count("\n", 0, begin), column


def _without_margin(line: str, column: int) -> str:
    return line[column:] if not line[:column].strip() else line.lstrip(" \t")


def function_of(value):
    """The Python function in jit functions, autotuners and other wrappers around it."""
    for _ in range(16):
        if isinstance(value, types.FunctionType):
            inner = getattr(value, "__wrapped__", None)
            if inner is None:
                return value
        else:
            inner = getattr(value, "fn", None) or getattr(value, "__wrapped__", None)
            if inner is None:
                return value
        value = inner
    return value


def source_of(value) -> tuple[str, str, int, int]:
    """(path, text, line, column) of a function or class: the text begins at its `def`, has lost
    `column` columns on the left, and its first line is number `line` of the file."""
    if isinstance(value, type):
        return _source_of_class(value)
    import re

    fn = function_of(value)
    lines = getattr(value, "_lines", None) or lines_of(fn)
    path, first = fn.__code__.co_filename, fn.__code__.co_firstlineno
    found = cut_definition(lines, first) if 0 < first <= len(lines) else None
    if found is None or not re.match(rf"(?:async\s+)?def\s+{fn.__code__.co_name}\b", found[0]):
        raise _no_source(fn.__name__, path, bool(lines))
    text, line, column = found
    return path, getattr(value, "_text", None) or text, line, column


def _no_source(name: str, path: str, has_lines: bool) -> SourceError:
    if has_lines:
        return SourceError(
            f"the source of `{name}` is not where Python says it is, in {path}: the file has "
            "changed since it was imported, or the function is a lambda. Import it again; write a "
            "lambda as a def"
        )
    return SourceError(
        f"the source of `{name}` can't be found: {path} is no file. Write the function into a file "
        "or a notebook, or, where exec() makes it, keep its text: linecache.cache[name] = "
        "(len(text), None, text.splitlines(True), name), with the name given to compile()"
    )


def _source_of_class(cls: type) -> tuple[str, str, int, int]:
    import inspect
    import linecache

    try:
        path = inspect.getsourcefile(cls) or ""
        _, first = inspect.getsourcelines(cls)
        found = cut_definition(linecache.getlines(path), max(first, 1))
    except (OSError, TypeError):
        path, found = _class_in_cells(cls)
    if found is None:
        raise _no_source(cls.__qualname__, path or cls.__module__, bool(path))
    return (path, *found)


def _class_in_cells(cls: type):
    """The class's text in a notebook's cells: the last one that defines the name."""
    import linecache
    import re

    heading = re.compile(rf"[ \t]*class\s+{cls.__name__}\b")
    if cls.__module__ != "__main__":
        return "", None
    for path in reversed(list(linecache.cache)):
        lines = linecache.getlines(path) if path.startswith("<") or "ipykernel" in path else []
        for i in reversed(range(len(lines))):
            if heading.match(lines[i]):
                return path, cut_definition(lines, i + 1)
    return "", None


# ---- names ----


class _Items:
    """A scope of given names: those in an expression that is more than literals."""

    def __init__(self, names: dict):
        self.names = names


class _HostScope:
    """The scope of the text of a constexpr function, which Python calls where it can."""

    def __init__(self, fn):
        self.fn = fn


class _ClassScope:
    """The scope of a class's text: closures of its methods, then the globals of its module."""

    def __init__(self, cls: type):
        self.cls = cls

    def functions(self):
        for member in vars(self.cls).values():
            fn = function_of(getattr(member, "fget", None) or getattr(member, "__func__", member))
            if isinstance(fn, types.FunctionType) and fn.__module__ == self.cls.__module__:
                yield fn


class Names:
    """The names of one compilation: what they mean where the text of functions leaves it open.

    `used` collects (container, key, value, name) of each value that was read, which the compiled
    code depends on: container[key] of a dict, else the attribute `key` of the container."""

    def __init__(self, fn):
        self.fn = fn
        self.own: dict = {}
        self.used: list = []
        self._seen: set = set()
        self._scopes: dict = {}  # of classes and constexpr functions
        self._answers: dict = {}  # by id, with the value

    def bind(self, name: str, value) -> str:
        """Makes a value known to the compilation alone; gives its text as an argument."""
        self.own["$" + name] = value
        return "name:$" + name

    def lookup(self, scope, name: str):
        """What `name` means in `scope`: None, or (kind, text, source) as _nereid.compile() takes
        it, where source is None or (path, text, line, column, scope)."""
        if name in self.own:
            return self.classify(self.own[name])
        for value in self._find(self.fn if scope is None else scope, name):
            return self.classify(value)
        return None

    # ---- finding ----

    def _find(self, scope, name: str):
        """The value in a tuple, which is empty if there is none."""
        if isinstance(scope, _Items):
            found = (scope.names[name],) if name in scope.names else ()
        elif isinstance(scope, _ClassScope):
            found = self._in_class_text(scope, name)
        elif isinstance(scope, _HostScope):
            found = self._in_constexpr_function(scope.fn, name)
        elif isinstance(scope, (types.ModuleType, type)):
            found = self._attribute(scope, name)
        else:
            found = self._in_function(function_of(scope), name)
        return found

    def _attribute(self, scope, name: str):
        if isinstance(scope, types.ModuleType) and name in vars(scope):
            return (self._read(vars(scope), name, vars(scope)[name], name),)
        missing = object()
        value = getattr(scope, name, missing)
        return () if value is missing else (self._read(scope, name, value, name),)

    def _in_function(self, fn, name: str):
        if name.endswith("="):
            return _default(fn, name[:-1])
        found = self._in_closure(fn, name)
        return found or self._in_globals(fn.__globals__, name)

    def _in_constexpr_function(self, fn, name: str):
        if not name.endswith(")"):
            return self._in_function(fn, name)
        self._read_all(fn, set())
        args, kwargs = eval("_" + name[name.index("(") :], _call_names())
        return (fn(*args, **kwargs),)

    def _read_all(self, fn, seen: set) -> None:
        """Remembers the names that `fn` may read when Python calls it, and functions that it
        calls."""
        seen.add(fn)
        for name in _names_in(fn.__code__):
            for value in self._in_closure(fn, name) or self._in_globals(fn.__globals__, name):
                inner = function_of(value)
                if isinstance(inner, types.FunctionType) and inner not in seen:
                    if not inner.__module__.startswith(("nereid", "triton")):
                        self._read_all(inner, seen)

    def _in_closure(self, fn, name: str):
        if name not in fn.__code__.co_freevars:
            return ()
        cell = fn.__closure__[fn.__code__.co_freevars.index(name)]
        try:
            value = cell.cell_contents
        except ValueError:  # it has no value yet
            return ()
        return (self._read(cell, "cell_contents", value, name),)

    def _in_globals(self, names: dict, name: str):
        if name in names:
            return (self._read(names, name, names[name], name),)
        value = getattr(builtins, name, None)
        return () if value is None else (value,)

    def _in_class_text(self, scope: _ClassScope, name: str):
        for fn in scope.functions():
            found = self._in_closure(fn, name)
            if found:
                return found
        for value in _annotations(scope.cls).values():
            local = "<locals>" in getattr(value, "__qualname__", "")
            if local and getattr(value, "__name__", None) == name:
                return (value,)
        module = sys.modules.get(scope.cls.__module__)
        return self._in_globals(vars(module) if module else {}, name)

    def _read(self, container, key: str, value, name: str):
        if _may_change(value) and (id(container), key) not in self._seen:
            self._seen.add((id(container), key))
            then = value
            if isinstance(value, (list, dict, set)):
                import copy

                try:
                    then = copy.deepcopy(value)
                except Exception:  # of things that can't be copied, and are no constants
                    pass
            self.used.append((container, key, then, name))
        return value

    # ---- what values are ----

    def classify(self, value):
        """(kind, text, source) of a value."""
        known = self._answers.get(id(value))
        if known is None:  # no other value has its id while it is kept here
            known = self._answers[id(value)] = (self._answer(value), value)
        return known[0]

    def _answer(self, value):
        value = _plain(value)
        text = _expression(value)
        if text is not None:
            return VALUE, text, None
        if isinstance(value, types.ModuleType):
            return SCOPE, value.__name__, _scope_alone(value)
        if isinstance(value, type):
            return self._class(value)
        kind = _function_kind(value)
        if kind:
            fn = scope = function_of(value)
            if kind == HOST and value is not fn and _is_constexpr_function(value):
                scope = self._scopes.setdefault(fn, _HostScope(fn))
            return self._definition(kind, value, fn, scope)
        if isinstance(value, (tuple, list, dict)) or _is_language_tuple(value):
            return _composed(value)
        return OTHER, _description(value), None

    def _definition(self, kind: int, value, fn, scope):
        name = fn.__code__.co_name
        if name == "<lambda>":
            return OTHER, "a lambda, which has no text of its own", None
        try:
            return kind, name, (*source_of(value), scope)
        except SourceError:
            return OTHER, f"the function {name}, whose source can't be found", None

    def _class(self, cls: type):
        named = issubclass(cls, tuple) and hasattr(cls, "_fields")
        if not named and not getattr(cls, "__triton_aggregate__", False):
            return SCOPE, cls.__name__, _scope_alone(cls)
        scope = self._scopes.setdefault(cls, _ClassScope(cls))
        try:
            return CLASS, cls.__name__, (*source_of(cls), scope)
        except SourceError:
            if named:
                return _made_class(cls)
            return OTHER, f"the class {cls.__name__}, whose source can't be found", None


def _annotations(cls: type) -> dict:
    try:
        return getattr(cls, "__annotations__", {})
    except NameError:  # Python 3.14 evaluates them here: one is not defined yet
        return {}


def _default(fn, parameter: str):
    """The default of a parameter, as it was when the function was defined."""
    if parameter in (fn.__kwdefaults__ or {}):
        return (fn.__kwdefaults__[parameter],)
    n = fn.__code__.co_argcount
    names, defaults = fn.__code__.co_varnames[:n], fn.__defaults__ or ()
    first = n - len(defaults)
    return (defaults[names.index(parameter) - first],) if parameter in names[first:] else ()


def _call_names() -> dict:
    """The names in calls that the compiler asks for: "_(8,base=triton.language.int32,)"."""
    from nereid import experimental, language
    from nereid.experimental import gluon  # noqa: F401

    triton = types.SimpleNamespace(language=language, experimental=experimental)
    names = {"float": float}
    return {"_": lambda *args, **kwargs: (args, kwargs), "triton": triton, "__builtins__": names}


def _names_in(code) -> set[str]:
    """The names of others that a function's code mentions, and functions in it."""
    names = {*code.co_names, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return names


def _scope_alone(scope):
    return "", "", 0, 0, scope


def _may_change(value) -> bool:
    """Is a name with this value one that users bind to something else?  Modules and functions of
    the language are not."""
    return not isinstance(value, types.ModuleType) and _language_name(value) is None


def _is_of(value, module: str, name: str) -> bool:
    return any(c.__name__ == name and c.__module__.split(".")[0] == module
               for c in type(value).__mro__)


def _is_constexpr(value) -> bool:
    return type(value).__name__ == "constexpr" and hasattr(value, "value")


def _is_language_tuple(value) -> bool:
    return _is_of(value, "nereid", "tuple") or _is_of(value, "triton", "tuple")


def _plain(value):
    """The value that a kernel sees: of NumPy's numbers, members of enumerations, subclasses of
    Python's numbers, and constants of what is no number."""
    for _ in range(16):
        if _is_constexpr(value) and _expression(value) is None:
            value = value.value
        elif _is_member(value):
            value = value.value
        elif _is_of(value, "numpy", "generic"):
            return value.item()
        else:
            break
    if type(value) in (bool, int, float, str):
        return value
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return float.__float__(value)
    return str.__str__(value) if isinstance(value, str) else value


def _is_member(value) -> bool:
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(value, enum.Enum)


# Modules of which the compiler knows names itself.
_KNOWN = ("math", "torch", "numpy")
_LANGUAGES = ("triton.language", "triton.experimental.gluon")
# Names of the package, outside of its language, that have a meaning in kernels.
_PACKAGE = frozenset(("jit", "cdiv", "next_power_of_2", "constexpr_function", "autotune",
                      "heuristics", "Config", "must_use_result"))


def _language_name(value) -> str | None:
    """The full name of a module, function or class that the compiler knows."""
    if isinstance(value, types.ModuleType):
        name = value.__name__
        known = name in _KNOWN or name == "triton" or name.startswith(_LANGUAGES)
        return name if known else _text_of(value)
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or "<locals>" in name:
        return None
    if module == "builtins":
        return name
    root = module.split(".")[0]
    if root in ("math", "typing", "collections", "numpy"):
        return f"{module}.{name}"
    if module.startswith(("nereid.language", "nereid.experimental", "nereid.tools")):
        return _text_of(value)
    if root == "nereid" or module.startswith("triton.runtime"):
        return "triton." + name if name in _PACKAGE else None
    if module == "triton" or module.startswith("triton.language"):
        return f"{module}.{name}"
    return None


def _text_of(value) -> str | None:
    from nereid.language.text import expression

    return expression(value)


def _expression(value) -> str | None:
    """A value as an expression over literals and names that the compiler knows; None if it is
    none."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return repr(value)
    if kind is float:
        return repr(value) if abs(value) < float("inf") else f"float({str(value)!r})"
    if kind in (tuple, list):
        items = [_expression(_plain(v)) for v in value]
        if None in items:
            return None
        inner = ", ".join(items) + ("," if len(items) == 1 else "")
        return f"[{inner}]" if kind is list else f"({inner})"
    if _is_constexpr(value):
        inner = _expression(value.value)
        return inner and f"triton.language.constexpr({inner})"
    if kind.__name__ == "dtype" and kind.__module__ == "torch":
        return str(value)
    if _is_of(value, "numpy", "dtype"):
        return f"numpy.{value.name}"
    if _is_of(value, "triton", "dtype") and not value.is_ptr() and not value.is_block():
        return f"triton.language.{value.codegen_name()}"
    if isinstance(value, (dict, tuple)):
        return None
    return _language_name(value) or _text_of(value)


def same_constant(x, y) -> bool:
    """Does a kernel see no difference between two values?  1, True and 1.0 differ, and so do 0.0
    and -0.0, although Python calls them equal."""
    if x is y:
        return True
    x, y = _plain(x), _plain(y)
    if type(x) is not type(y):
        return False
    text = _expression(x)
    if text is not None:
        return text == _expression(y)
    if isinstance(x, dict):
        x, y = list(x.items()), list(y.items())
    if isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(map(same_constant, x, y))
    return x is y


def _is_constexpr_function(value) -> bool:
    names = {c.__name__ for c in type(value).__mro__}
    return bool(names & {"ConstexprFunction", "constexpr_function"})


def _function_kind(value) -> int:
    """JIT, HOST, or 0 of what is no function with a text."""
    if isinstance(getattr(value, "__wrapped__", value), types.FunctionType) and not hasattr(
        value, "fn"
    ):
        return HOST
    for _ in range(16):
        if _is_constexpr_function(value):
            return HOST
        if {"JITFunction", "JITCallable"} & {c.__name__ for c in type(value).__mro__}:
            return JIT
        value = getattr(value, "fn", None)
    return 0


def _composed(value):
    """An expression of a container whose items have names in a scope of their own."""
    names: dict = {}

    def name(item) -> str:
        names[f"_{len(names)}"] = item
        return f"_{len(names) - 1}"

    if isinstance(value, dict):
        text = ", ".join(f"{name(k)}: {name(v)}" for k, v in value.items())
        return VALUE, "{" + text + "}", _scope_alone(_Items(names))
    named = isinstance(value, tuple) and hasattr(value, "_fields")
    head = name(type(value)) if named else ""
    items = "".join(name(item) + ", " for item in value)
    text = f"[{items}]" if isinstance(value, list) else f"{head}({items})"
    return VALUE, text, _scope_alone(_Items(names))


def _made_class(cls: type):
    """A named tuple that no `class` statement made."""
    import typing

    names = {"NamedTuple": typing.NamedTuple}
    text = f"class {cls.__name__}(NamedTuple):\n    pass\n"
    for field in cls._fields:
        text += f"    {field}: object"
        if field in cls._field_defaults:
            names["_" + field] = cls._field_defaults[field]
            text += f" = _{field}"
        text += "\n"
    return CLASS, cls.__name__, (f"<{cls.__qualname__}>", text, 1, 0, _Items(names))


def _description(value) -> str:
    if callable(value) and isinstance(getattr(value, "__name__", None), str):
        return f"the function {value.__name__}"
    cls = type(value)
    module = "" if cls.__module__ == "builtins" else cls.__module__ + "."
    name = module + cls.__qualname__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
