"""Strings of ONNX models, whose tensors have numbers in their place.

A string is its place in a list: the model's strings, then those that a run brings.  Models.py asks
for the numbers of inputs, gives the tables that functions of strings need (a row for each string of
the list), and gets strings, and the maps of ZipMap, for numbers.
"""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Sequence

_BEGIN, _END = "\x02", "\x03"  # the marks of Tokenizer
# RE2's spaces are these alone, and its classes are ASCII's.
_FLAGS = re.ASCII
_PAIRS_MAX = 1 << 24  # strings that one StringConcat may make


class Run:
    """The list of one run."""

    def __init__(self, strings: "Strings"):
        self._base, self._numbers = strings.numbers, {}
        self._strings, self.new = strings.list, []

    def __len__(self) -> int:
        return len(self._strings) + len(self.new)

    def number(self, text: str) -> int:
        found = self._base.get(text)
        if found is None:
            found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self)
            self.new.append(text)
        return found

    def text(self, number: int) -> str:
        known = len(self._strings)
        return self._strings[number] if number < known else self.new[number - known]

    def array(self, name: str, value: Any):
        import numpy

        given = numpy.asarray(value)
        if given.dtype.kind not in "OUS":
            raise TypeError(f"{name!r} takes strings, not {given.dtype} elements")
        numbers = numpy.empty(given.shape, numpy.int64)
        flat = numbers.reshape(-1)
        for i, text in enumerate(given.reshape(-1).tolist()):
            if isinstance(text, bytes):
                text = text.decode()
            if not isinstance(text, str):
                raise TypeError(f"{name!r} takes strings, and has a {type(text).__name__}")
            flat[i] = self.number(text)
        return numbers

    def texts(self, numbers):
        import numpy

        out = numpy.empty(numbers.shape, object)
        out.reshape(-1)[:] = [self.text(n) for n in numbers.reshape(-1).tolist()]
        return out


# ---- functions of strings ----


def _one_to_one(change: Callable[[str], str]) -> Callable[[str], str]:
    """Characters whose other case is no single one stay as they are."""
    return lambda text: "".join(c if len(change(c)) != 1 else change(c) for c in text)


def _pieces(text: str, separator: re.Pattern, least: int) -> list[str]:
    pieces, begin = [], 0
    for match in separator.finditer(text):
        if match.end() > match.start():
            pieces.append(text[begin:match.start()])
            begin = match.end()
    return [piece for piece in [*pieces, text[begin:]] if len(piece) >= least]


def _tokenizer(table: dict) -> Callable[[str], list[str]]:
    least = table["least"]
    if "pattern" in table:
        pattern = re.compile(table["pattern"], _FLAGS)
        return lambda text: [m.group() for m in pattern.finditer(text) if len(m.group()) >= least]
    separators = [re.compile(s, _FLAGS) for s in table.get("separators", ())]
    if not separators:
        return list

    def split(text: str) -> list[str]:
        parts = [text]
        for separator in separators:
            parts = [piece for part in parts for piece in _pieces(part, separator, least)]
        return parts

    return split


def _stops(table: dict) -> Callable[[str], bool]:
    fold = (lambda text: text) if table["exact"] else _one_to_one(str.lower)
    words = {fold(word) for word in table["words"]}
    return lambda text: fold(text) in words


def _splitter(table: dict) -> Callable[[str], list[str]]:
    return lambda text: text.split(table["by"] or None, table["most"])


def _matcher(table: dict) -> Callable[[str], bool]:
    pattern = re.compile(table["pattern"], _FLAGS)
    return lambda text: pattern.fullmatch(text) is not None


def _digits(text: str) -> str:
    """The text of a number: Python's own would take `1_0`, and digits of all languages."""
    if "_" in text or not text.isascii():
        raise ValueError(f"the string {text!r} is no number")
    return text


def _integer(text: str) -> int:
    value = int(_digits(text))
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"the string {text!r} is no integer of 64 bits")
    return value


def _float(text: str) -> float:
    return float(_digits(text))


_NUMBERS: dict[str, Callable[[str], Any]] = {"integers": _integer, "floats": _float}
_DTYPES = {"matches": "bool", "stops": "bool", "floats": "float64"}


class _Table:
    """An input with a row for each string of a run; rows of strings that no value has are 0."""

    def __init__(self, table: dict):
        self.name, self.of, self.of_file = table["name"], table["of"], table["file"]
        self.function = table["function"]
        if self.function == "case":
            self._apply = _one_to_one(str.upper if table["upper"] else str.lower)
        elif self.function == "matches":
            self._apply = _matcher(table)
        elif self.function == "stops":
            self._apply = _stops(table)
        elif self.function in _NUMBERS:
            self._apply = _NUMBERS[self.function]
        elif self.function in ("split", "split_counts"):
            self._apply = _splitter(table)
            self._pad, self._mark = table["pad"], False
        elif self.function == "tokens":
            self._apply = _tokenizer(table)
            self._pad, self._mark = table["pad"], table["mark"]

    def fill(self, run: Run, live: list[int]):
        """What the rows of these strings are, and the strings that they have."""
        if self.function == "places":
            return list(range(len(live))), set()
        found = [self._apply(run.text(n)) for n in live]
        if self.function in ("matches", "stops", *_NUMBERS):
            return found, set()
        if self.function == "split_counts":
            return [len(parts) for parts in found], set()
        if self.function == "case":
            numbers = [run.number(text) for text in found]
            return numbers, set(numbers)
        width = max(map(len, found), default=0)
        rows = []
        for tokens in found:
            tokens = [_BEGIN, *tokens, _END] if self._mark and width else tokens
            row = [run.number(token) for token in tokens]
            rows.append(row + [self._pad] * (width + 2 * bool(self._mark and width) - len(row)))
        return rows, {n for row in rows for n in row}

    def array(self, run: Run, live: list[int], rows: list):
        import numpy

        dtype = _DTYPES.get(self.function, "int64")
        made = numpy.asarray(rows, dtype)
        if self.function in ("tokens", "split") and not rows:
            made = made.reshape(0, 0)
        out = numpy.zeros((max(1, len(run)), *made.shape[1:]), dtype)
        out[live] = made
        return out


class _Pairs:
    """An input with each string of a table joined to each one of another: of their places."""

    def __init__(self, table: dict):
        self.name, self.left, self.right = table["name"], table["left"], table["right"]

    def array(self, run: Run, left: list[int], right: list[int]):
        import numpy

        if len(left) * len(right) > _PAIRS_MAX:
            raise ValueError(f"StringConcat of {len(left)} and {len(right)} different strings has "
                             f"{len(left) * len(right)} pairs, more than {_PAIRS_MAX}")
        out = numpy.zeros((max(1, len(left)), max(1, len(right))), numpy.int64)
        ends = [run.text(n) for n in right]
        for i, n in enumerate(left):
            begin = run.text(n)
            out[i, :len(ends)] = [run.number(begin + end) for end in ends]
        return out


class Strings:
    """What a model has of strings; None of one that has none."""

    @staticmethod
    def read(text: str) -> "Strings | None":
        found = json.loads(text)
        return Strings(found) if found else None

    def __init__(self, found: dict):
        self.list: list[str] = found["strings"]
        self.numbers = {text: i for i, text in enumerate(self.list)}
        self.inputs = set(found["inputs"])
        self.outputs = {o["place"]: o for o in found["outputs"]}
        self.tables = [_Pairs(table) if table["function"] == "pairs" else _Table(table)
                       for table in found["tables"]]
        self.hidden = {table.name for table in self.tables}

    def given(self, names: Sequence[str], values: list) -> tuple[list, Run]:
        """The values with numbers for strings, and with the tables."""
        run, live, arrays, pairs = Run(self), {}, {}, {}
        values = [*values, *[0] * (len(names) - len(values))]
        for i, name in enumerate(names):
            if name in self.inputs:
                values[i] = run.array(name, values[i])
                live[name] = set(values[i].reshape(-1).tolist())
        for table in self.tables:
            if isinstance(table, _Pairs):
                left, right = (arrays[t][1] for t in (table.left, table.right))
                made = table.array(run, left, right)
                live[table.name] = set(made[:len(left), :len(right)].reshape(-1).tolist())
                pairs[table.name] = made
                continue
            of = set(range(len(self.list))) if table.of_file else set()
            of = sorted(of.union(*(live[name] for name in table.of)))
            rows, live[table.name] = table.fill(run, of)
            arrays[table.name] = table, of, rows
        for name, (table, of, rows) in arrays.items():
            if name in names:
                values[names.index(name)] = table.array(run, of, rows)
        for name, made in pairs.items():
            if name in names:
                values[names.index(name)] = made
        return values, run

    def taken(self, places: list, run: Run) -> list:
        """Results with strings, and maps, for numbers."""
        return [self._value(value, self.outputs.get(i), run) for i, value in enumerate(places)]

    def _value(self, value: Any, output: dict | None, run: Run) -> Any:
        if output is None or value is None:
            return value
        keys = output.get("keys") or [self.list[n] for n in output.get("named", ())]
        if keys:
            rows = value.reshape(-1, len(keys)).tolist()
            return [dict(zip(keys, row)) for row in rows]
        return run.texts(value)
