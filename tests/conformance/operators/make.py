#!/usr/bin/env python3
"""The type and the operation of every operator on every pair of dtypes, as Triton has them:
rewrites table_3.6.txt or table_3.9.txt beside this file.

    python3 make.py      needs Triton 3.6 or 3.9, no GPU; the rest of the tests need neither

Triton's own front end evaluates each form while it compiles a kernel for a pair of dtypes.  A cell
is the last operation that it emits and the dtype that this operation computes in, `shrsi.u16`; `-`
if the form is an error.  operators.py computes the values from that.
"""
import re

import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.errors import CompilationError
from triton.compiler.compiler import ASTSource, make_backend
from triton.language.semantic import IncompatibleTypeErrorImpl

from table import COMPARISONS, NUMBERS, table_path

DTYPES = {"i1": tl.int1, "i8": tl.int8, "i16": tl.int16, "i32": tl.int32, "i64": tl.int64,
          "u8": tl.uint8, "u16": tl.uint16, "u32": tl.uint32, "u64": tl.uint64,
          "f16": tl.float16, "bf16": tl.bfloat16, "f32": tl.float32, "f64": tl.float64,
          "f8e5": tl.float8e5, "f8e4nv": tl.float8e4nv}
POINTEES = {"bf16": "bf16", "f16": "fp16", "f32": "fp32", "f64": "fp64", "f8e5": "fp8e5",
            "f8e4nv": "fp8e4nv"}  # names in signatures, where they are not ours
SHORT = {str(t): name for name, t in DTYPES.items()}
BINARY = {"+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__",
          "//": "__floordiv__", "%": "__mod__", "&": "__and__", "|": "__or__", "^": "__xor__",
          "<<": "__lshift__", ">>": "__rshift__", "<": "__lt__", "<=": "__le__", ">": "__gt__",
          ">=": "__ge__", "==": "__eq__", "!=": "__ne__"}
FUNCTIONS = {
    "minimum": lambda s, x, y: tl.minimum(x, y, _semantic=s),
    "maximum": lambda s, x, y: tl.maximum(x, y, _semantic=s),
    "minimum_nan": lambda s, x, y: tl.minimum(x, y, tl.PropagateNan.ALL, _semantic=s),
    "maximum_nan": lambda s, x, y: tl.maximum(x, y, tl.PropagateNan.ALL, _semantic=s),
    "where": lambda s, x, y: tl.where(x.__gt__(x, _semantic=s) if isinstance(x, tl.tensor) else
                                      y.__gt__(y, _semantic=s), x, y, _semantic=s)}
CASTS = {"to": lambda s, x, y: x.to(y.dtype, _semantic=s)}
UNARY = {"-": "__neg__", "~": "__invert__", "not": "__not__"}


class Recorder:
    """A builder that remembers the last operation that was made, and its operands' type."""
    def __init__(self, builder):
        self.builder, self.last, self.type = builder, None, None

    def __getattr__(self, name):
        found = getattr(self.builder, name)
        if not name.startswith("create_"):
            return found

        def create(*args, **named):
            if name not in ("create_splat", "create_broadcast"):
                values = [a for a in args if isinstance(a, ir.value)]
                self.last = name.removeprefix("create_")
                self.type = str(values[-1].get_type()) if values else ""
            return found(*args, **named)
        return create


REFLECTED = {"__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__",
             "__eq__": "__eq__", "__ne__": "__ne__"}
MIRRORED = {"GT": "LT", "LT": "GT", "GE": "LE", "LE": "GE"}
VERSION = ".".join(triton.__version__.split(".")[:2])


def apply(generator, method, x, y):
    """x OPERATOR y.  Triton 3.9 wants the method of the right operand and a symbol, too."""
    if VERSION == "3.6":
        return generator._apply_binary_method(None, method, x, y)
    right = REFLECTED.get(method, method.replace("__", "__r", 1))
    return generator._apply_binary_method(None, (method, right, method), x, y)


def element(text):
    """`tensor<8xf8E5M2>` -> f8e5."""
    text = re.sub(r"tensor<(\d+x)*([^>]*)>", r"\2", text)
    return {"f8E5M2": "f8e5", "f8E4M3FN": "f8e4nv"}.get(text, text)


def cell(recorder, generator, op, x, y):
    semantic = generator.semantic
    recorder.last = None
    try:
        if op in FUNCTIONS or op in CASTS:
            result = {**FUNCTIONS, **CASTS}[op](semantic, x, y)
        elif y is None:
            result = getattr(x, UNARY[op])(_semantic=semantic)
        else:
            result = apply(generator, BINARY[op], x, y)
    except (AssertionError, AttributeError, CompilationError, TypeError, ValueError,
            IncompatibleTypeErrorImpl):
        return "-"
    dtype = SHORT[str(result.dtype)]
    if op in COMPARISONS:
        assert dtype == "i1"
        dtype = element(recorder.type)
    elif op != "to":
        assert re.sub("^u", "i", dtype) == element(recorder.type), (op, dtype, recorder.type)
    name = recorder.last or "same"
    if VERSION != "3.6" and op in COMPARISONS and isinstance(x, tl.constexpr):  # n < x was x > n
        name = re.sub("[GL][TE]$", lambda found: MIRRORED[found[0]], name)
    return f"{name}.{dtype}"


cells = {}


@tl.core.builtin
def forms(left, right, x, y, xs, ys, _semantic=None, _generator=None):
    """Notes the cells of this pair of dtypes; those of scalars and of tiles are the same."""
    left, right = left.value, right.value
    recorder = Recorder(_semantic.builder)
    _semantic.builder = recorder

    def note(op, a, b, *pairs):
        found = {cell(recorder, _generator, op.removeprefix("unary "), p, q) for p, q in pairs}
        assert len(found) == 1, (op, a, b, found)
        cells[op, a, b] = found.pop()

    for op in [*BINARY, *FUNCTIONS, *CASTS]:
        note(op, left, right, (x, y), (x, ys), (xs, y), (xs, ys))
        for text in NUMBERS:
            n = tl.constexpr(eval(text))
            if left == right and op != "to":
                plain = n.value if op in FUNCTIONS else n
                note(op, left, text, (x, plain), (xs, plain))
                note(op, text, left, (plain, x), (plain, xs))
    for op in UNARY:
        note("unary " + op, left, "", (x, None), (xs, None))
    _semantic.builder = recorder.builder


@triton.jit
def kernel(x_ptr, y_ptr, LEFT: tl.constexpr, RIGHT: tl.constexpr):
    i = tl.arange(0, 8)
    forms(LEFT, RIGHT, tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(x_ptr), tl.load(y_ptr))


def compile_pair(left, right):
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    pointers = {name: f"*{POINTEES.get(t, t)}" for name, t in (("x_ptr", left), ("y_ptr", right))}
    source = ASTSource(kernel, {**pointers, "LEFT": "constexpr", "RIGHT": "constexpr"},
                       {(2,): left, (3,): right})
    source.make_ir(target, options, backend.get_codegen_implementation(options),
                   backend.get_module_map(), context)


def block(title, columns, rows):
    """A block of the table: a title, a line of columns, and a line for each row."""
    lines = [[title, *columns], *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "".join("  ".join(word.ljust(w) for word, w in zip(line, widths)).rstrip() + "\n"
                   for line in lines) + "\n"


def table():
    names = [*DTYPES]
    ops = [*BINARY, *FUNCTIONS, *CASTS]
    text = "".join(block(f"x {op} y", names, [[a, *(cells[op, a, b] for b in names)]
                                              for a in names]) for op in ops)
    ops = [op for op in ops if op != "to"]
    text += "".join(block(f"x {op} n", NUMBERS, [[a, *(cells[op, a, n] for n in NUMBERS)]
                                                 for a in names]) for op in ops)
    text += "".join(block(f"n {op} x", NUMBERS, [[a, *(cells[op, n, a] for n in NUMBERS)]
                                                 for a in names]) for op in ops)
    return text + block("op x", names, [[op, *(cells["unary " + op, a, ""] for a in names)]
                                        for op in UNARY])


def main():
    for left in DTYPES:
        for right in DTYPES:
            compile_pair(left, right)
    head = f"# Made by make.py from Triton {triton.__version__}.\n\n"
    table_path(VERSION).write_text(head + table())


if __name__ == "__main__":
    main()
