"""The forms of operators that the tables list: how a kernel writes them, and what they give."""
import collections, math

import numpy as np

from kernelgen.model import FLOATS, FP8, INTS, bits, decode, encode, is_float

from . import values
from .table import COMPARISONS, read_table

DTYPES = ["i1", *INTS, *FLOATS, *FP8]
FUNCTIONS = {"minimum": "tl.minimum({}, {})", "maximum": "tl.maximum({}, {})",
             "minimum_nan": "tl.minimum({}, {}, propagate_nan=tl.PropagateNan.ALL)",
             "maximum_nan": "tl.maximum({}, {}, propagate_nan=tl.PropagateNan.ALL)",
             "where": "tl.where({c}, {}, {})", "to": "{}.to({}.dtype)"}
# These take in 3.6 a number's own type; others take that of the other operand.
TYPED = (*COMPARISONS, "minimum", "maximum", "minimum_nan", "maximum_nan")

SIDE = 8  # edge values of a dtype; a tile has all pairs of two dtypes' values
TILE = SIDE * SIDE
X_INDEX, Y_INDEX = [i // SIDE for i in range(TILE)], [i % SIDE for i in range(TILE)]
X_SCALAR, Y_SCALAR = 2, 3  # the edge values that scalars have
CONDITION = [i % 3 != 0 for i in range(TILE)]


def edges(dtype, divisor=False):
    """SIDE values of a dtype; of divisors none is 0 or -1."""
    if is_float(dtype):
        top = {"f64": 3e300, "f16": 60000.0, "f8e5": 57344.0, "f8e4nv": 448.0}.get(dtype, 3e30)
        last = 0.75 if dtype in FP8 else math.inf
        numbers = [0.0, -0.0, 1.5, -2.25, 0.1, top, last, 0.5 if dtype in FP8 else math.nan]
        return decode(encode(np.array(numbers), dtype), dtype).tolist()
    if dtype == "i1":
        return [1] * SIDE if divisor else [0, 1, 1, 0, 1, 0, 0, 1]
    top = 2 ** (bits(dtype) - 1)
    numbers = [5, 1, -7, 3] if divisor else [0, 1, -1, 3]
    return [values.wrapped(v, dtype) for v in [*numbers, bits(dtype) - 1, top, top - 1, -100]]


class Operand(collections.namedtuple("Operand", "text dtype numbers")):
    """How it is written, and its value for each element of the result, or one for all."""


class Form(collections.namedtuple("Form", "op left right cell language")):
    """A row and a column of the table: operands are dtypes or texts of numbers; right is None of
    an operator of one operand."""
    @property
    def x(self):
        """The dtype of x, which is the left operand unless that is a number."""
        return self.left if self.left in DTYPES else self.right

    @property
    def computed(self):
        """The operation, and the dtype that it computes in."""
        return self.cell.split(".")

    @property
    def dtype(self):
        """That of the result."""
        op, dtype = self.computed
        return "i1" if op[:4] in ("icmp", "fcmp") else dtype

    def shapes(self):
        """Which operands are tiles (True) or scalars."""
        if self.left in DTYPES and self.right in DTYPES:
            return [(True, True), (True, False), (False, True), (False, False)]
        return [(True,), (False,)]

    def operands(self, tiles):
        """Those of one shape."""
        tiles = list(tiles)
        found = []
        for word in (self.left, self.right)[:1 if self.right is None else 2]:
            if word in DTYPES:
                name = "y" if found and found[0].dtype and self.left in DTYPES else "x"
                divisor = bool(found) and self.op in ("//", "%")
                found.append(variable(name, word, tiles.pop(0), divisor))
            else:
                found.append(number(word, self.op in TYPED and self.language == "3.6"))
        return found

    def text(self, tiles):
        operands = [operand.text for operand in self.operands(tiles)]
        if self.right is None:
            return f"{self.op} {operands[0]}"
        condition = "c" if any(tiles) else "cs"
        return FUNCTIONS.get(self.op, f"{{}} {self.op} {{}}").format(*operands, c=condition)

    def results(self, tiles):
        """The elements of the result."""
        op, dtype = self.computed
        a, *rest = self.operands(tiles)
        if not rest:
            return [values.unary(self.op, dtype, v) for v in a.numbers]
        b, = rest
        n = TILE if any(tiles) else 1
        pairs = zip(*(o.numbers * (n // len(o.numbers)) for o in (a, b)))
        if self.op == "to":
            return [values.cast(v, a.dtype, dtype) for v, _ in pairs]
        if self.op == "where":
            return [values.cast(*((v, a.dtype) if c else (w, b.dtype)), dtype)
                    for (v, w), c in zip(pairs, CONDITION if n > 1 else [True])]
        known = {}  # elements repeat; 0.0 and -0.0 are equal, their texts are not
        for v, w in (pairs := list(pairs)):
            key = f"{v} {w}"
            if key not in known:
                known[key] = values.binary(op, dtype, v, a.dtype, w, b.dtype)
        return [known[f"{v} {w}"] for v, w in pairs]


def variable(name, dtype, tile, divisor):
    text = name + ("" if tile else "s") + ("z" if divisor else "") + \
        (f"_{dtype}" if name == "y" else "")
    numbers = edges(dtype, divisor)
    if not tile:
        return Operand(text, dtype, [numbers[X_SCALAR if name == "x" else Y_SCALAR]])
    return Operand(text, dtype, [numbers[i] for i in (X_INDEX if name == "x" else Y_INDEX)])


def number(text, typed):
    value = eval(text)
    dtype = "f64" if isinstance(value, float) else "i64"
    if typed and abs(value) < 1e38:  # else it has f64 by itself
        value = values.cast(value, dtype, "f32") if dtype == "f64" else value
    return Operand(f"({text})" if text[0] == "-" else text, dtype, [value])


def variable_lines(x, others):
    """Lines that load the operands of forms with that dtype of x, and of others for y."""
    lines = [f"i = tl.arange(0, {TILE})", "c = i % 3 != 0", "cs = tl.load(x_i1 + 1)"]
    for name, dtypes, index, scalar in (("x", [x], f"i // {SIDE}", X_SCALAR),
                                        ("y", others, f"i % {SIDE}", Y_SCALAR)):
        for dtype in dtypes:
            for tile in (True, False):
                for divisor in (False, True):
                    text = variable(name, dtype, tile, divisor).text
                    array = f"{'z' if divisor else 'x'}_{dtype}"
                    lines.append(f"{text} = tl.load({array} + {index if tile else scalar})")
    return lines


# ---- all of them ----

def extended(form):
    """The form with its cell where Triton refuses it and we do not (docs/language.md)."""
    numbers = [word for word in (form.left, form.right) if word and word not in DTYPES]
    cell = form.cell
    if form.op == "not":
        cell = "not.i1"
    elif form.op == "/" and numbers and form.x[0] in "iu" and form.x != "i1":
        cell = "fdiv.f32"
    elif form.op == "to":
        cell = f"to.{form.right}"
    elif form.x in FP8 and numbers and form.op in EIGHT_BITS:
        cell = f"{EIGHT_BITS[form.op]}.{form.x}"
    return form._replace(cell=cell) if form.cell == "-" else form


EIGHT_BITS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv", "%": "frem", "where": "select"}


def forms(language):
    for row in read_table(language):
        yield extended(Form(*row, language))
