"""Constants of the kernel language.

To type checkers `constexpr` is Any (constant.pyi): `BLOCK: tl.constexpr = 128` and
`tl.constexpr(128)` are both right, and a constant is a number, a string, a dtype or a tuple.
"""

from __future__ import annotations

import operator

from nereid import _nereid


class base_value:
    """The base of the values that a kernel computes with."""

    type: base_type


class base_type:
    """The base of the types of these values."""

    def __eq__(self, other) -> bool:
        raise NotImplementedError("Types must implement __eq__")

    def __ne__(self, other) -> bool:
        return not self == other

    def mangle(self) -> str:
        """The type as part of a symbol's name."""
        raise NotImplementedError(f"{type(self).__name__} has no mangled name")


class constexpr_type(base_type):
    """The type of a constant: its value."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"

    def mangle(self) -> str:
        return repr(self)


class constexpr(base_value):
    """A value that is known when a kernel is compiled; as an annotation, a parameter of this kind.

    Operators give constants again.

    >>> constexpr(3) * 2 + 1
    constexpr[7]
    >>> list(range(constexpr(3)))
    [0, 1, 2]
    """

    def __init__(self, value):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value
        self.type = constexpr_type(value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self):
        return hash((self.value, self.type))

    def __index__(self):
        return operator.index(self.value)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __bool__(self):
        return bool(self.value)

    def __not__(self):
        return constexpr(not self.value)

    def __iter__(self):
        return iter(self.value)

    def __len__(self):
        return len(self.value)

    def __call__(self, *args, **kwds):
        return self.value(*args, **kwds)

    def __getitem__(self, index):
        return self.value[_value(index)]

    def logical_and(self, other):
        """`self and other`, as a constant."""
        return constexpr(self.value and _value(other))

    def logical_or(self, other):
        """`self or other`, as a constant."""
        return constexpr(self.value or _value(other))


def _value(x):
    """A constant's value; anything else as it is."""
    return x.value if isinstance(x, constexpr) else x


def _add_operators():
    """Gives `constexpr` Python's operators, which compute on the values."""

    def binary(function):
        return lambda self, other: constexpr(function(self.value, _value(other)))

    def reflected(function):
        return lambda self, other: constexpr(function(_value(other), self.value))

    def unary(function):
        return lambda self: constexpr(function(self.value))

    both = "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
    for name in both + "lt le gt ge eq ne".split():
        function = getattr(operator, f"__{name}__")
        setattr(constexpr, f"__{name}__", binary(function))
        if name in both:
            setattr(constexpr, f"__r{name}__", reflected(function))
    for name in "neg pos invert".split():
        setattr(constexpr, f"__{name}__", unary(getattr(operator, f"__{name}__")))


_add_operators()
CONSTEXPR_0 = constexpr(0)

# Arguments of kernels are told by it.
_nereid.register("constexpr", constexpr)
