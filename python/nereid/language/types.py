"""The values of the kernel language that exist on the host: dtypes and other types, tuples, loops,
aggregates, and the error of functions that only a kernel can call.

Names and attributes are Triton's, so that host code that asks a dtype for its width, or builds a
`constexpr`, works unchanged.  Importing this module costs little: it imports nothing heavy.
"""

from __future__ import annotations

import builtins

from nereid.language.constant import (
    base_type,
    base_value,
    constexpr,
    constexpr_type,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

TRITON_BUILTIN = "__triton_builtin__"
TRITON_MAX_TENSOR_NUMEL = 1048576


def outside_kernel(name: str) -> ValueError:
    """The error of a function of the language that was called outside of a kernel."""
    return ValueError(
        f"nereid.language.{name} works inside a kernel only. Did you forget to add @triton.jit "
        "(@nereid.jit) to the function that calls it?"
    )


def must_use_result(x, s=True):
    """Marks a function whose result a kernel must not drop."""
    if isinstance(x, str):
        return lambda fn: must_use_result(fn, x)
    x._must_use_result = s
    return x


def builtin(fn):
    """Marks a function as a builtin of the language: it takes `_semantic`, which kernels have."""

    def wrapper(*args, **kwargs):
        if kwargs.get("_semantic") is None:
            raise outside_kernel(fn.__name__)
        return fn(*args, **kwargs)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(wrapper, name, getattr(fn, name, None))
    setattr(wrapper, "__wrapped__", fn)
    setattr(wrapper, TRITON_BUILTIN, True)
    return wrapper


def is_builtin(fn) -> bool:
    """Whether a value is a builtin of the language."""
    return getattr(fn, TRITON_BUILTIN, False)


class const:
    """The annotation of a pointer that a kernel only reads."""


# ---- constants ----


def _unwrap_if_constexpr(o):
    """A constant's value, also inside of lists and tuples; anything else as it is."""
    if isinstance(o, constexpr):
        return o.value
    if isinstance(o, list):
        return [_unwrap_if_constexpr(x) for x in o]
    if isinstance(o, (builtins.tuple, tuple)):
        items = [_unwrap_if_constexpr(x) for x in o]
        if hasattr(o, "_fields"):
            return type(o)(*items)
        return type(o)(items)
    return o


def _unwrap_shape(shape):
    return [_unwrap_if_constexpr(extent) for extent in _unwrap_if_constexpr(shape)]


def _normalize_tuple(t):
    t = _unwrap_if_constexpr(t)
    return tuple(t) if isinstance(t, (list, builtins.tuple)) else t


class constexpr_function:
    """A function of the host that a kernel calls while it is compiled, with the values of
    constants; on the host it is an ordinary function.

    >>> @constexpr_function
    ... def log2(n):
    ...     return n.bit_length() - 1
    >>> log2(8), log2(constexpr(16))
    (3, 4)
    """

    def __init__(self, fn):
        self.fn = fn
        self.__wrapped__ = fn
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(fn, name, None))

    def __call__(self, *args, _semantic=None, **kwargs):
        values = [_unwrap_if_constexpr(x) for x in args]
        named = {name: _unwrap_if_constexpr(x) for name, x in kwargs.items()}
        result = self.fn(*values, **named)
        return result if _semantic is None else constexpr(result)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return lambda *args, **kwargs: self(instance, *args, **kwargs)

    def __repr__(self):
        return f"constexpr_function({self.__module__}:{getattr(self, '__qualname__')})"


# ---- dtypes ----


class _Member:
    """A member of an enumeration: a name and a number."""

    def __init__(self, group, name, value):
        self._group, self.name, self.value = group, name, value

    def __repr__(self):
        return f"{self._group}.{self.name}"

    def __reduce__(self):
        return _member, (self._group, self.name)

    def __eq__(self, other):
        return isinstance(other, _Member) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))


_members: dict = {}


def _member(group, name):
    return _members[group, name]


def _enumeration(group, names):
    members = {name: _Member(group, name, i) for i, name in enumerate(names)}
    _members.update({(group, name): m for name, m in members.items()})
    return type(group, (), {**members, "__doc__": f"One of {', '.join(names)}."})


PropagateNan = _enumeration("PropagateNan", ["NONE", "ALL"])
PropagateNan.ALL.value = 0xFFFF

# The bits of a dtype; of a float also those of the mantissa, and the exponent's bias.
_WIDTHS = {
    "void": (0,),
    "int1": (1,),
    "int8": (8,),
    "int16": (16,),
    "int32": (32,),
    "int64": (64,),
    "uint8": (8,),
    "uint16": (16,),
    "uint32": (32,),
    "uint64": (64,),
    "fp8e4b15": (8, 3, 15),
    "fp8e4nv": (8, 3, 7),
    "fp8e4b8": (8, 3, 8),
    "fp8e5": (8, 2, 15),
    "fp8e5b16": (8, 2, 16),
    "fp16": (16, 10, 15),
    "bf16": (16, 7, 127),
    "fp32": (32, 23, 127),
    "fp64": (64, 52, 1023),
}


def get_primitive_bitwidth(dtype: str) -> int:
    """The bits of the dtype of that name."""
    return _WIDTHS[dtype][0]


class dtype(base_type):
    """The type of an element: an integer, a float, or `void`.

    >>> float16.primitive_bitwidth, float16.itemsize, float16.is_floating()
    (16, 2, True)
    >>> float16 == dtype("fp16"), str(float16), float16
    (True, 'fp16', triton.language.float16)
    """

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = [
        "fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64",
    ]  # fmt: skip
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]
    SIGNEDNESS = _enumeration("SIGNEDNESS", ["SIGNED", "UNSIGNED"])
    KIND = _enumeration("KIND", ["BOOLEAN", "INTEGRAL", "FLOATING"])

    name: str
    primitive_bitwidth: int
    itemsize: int

    def __init__(self, name):
        name = _unwrap_if_constexpr(name)
        widths = _WIDTHS.get(name)
        if widths is None:
            raise ValueError(f"{name!r} is no dtype; dtypes are {', '.join(_WIDTHS)}")
        self.name = name
        self.primitive_bitwidth = widths[0]
        self.itemsize = widths[0] // 8
        if len(widths) == 3:
            self.fp_mantissa_width, self.exponent_bias = widths[1:]
        elif name != "void":
            signed = name in dtype.SINT_TYPES
            self.int_signedness = getattr(dtype.SIGNEDNESS, "SIGNED" if signed else "UNSIGNED")
            self.int_bitwidth = widths[0]

    def is_fp8(self):
        return "fp8" in self.name

    def is_fp8e4nv(self):
        return self.name == "fp8e4nv"

    def is_fp8e4b8(self):
        return self.name == "fp8e4b8"

    def is_fp8e4b15(self):
        return self.name == "fp8e4b15"

    def is_fp8e5(self):
        return self.name == "fp8e5"

    def is_fp8e5b16(self):
        return self.name == "fp8e5b16"

    def is_fp16(self):
        return self.name == "fp16"

    def is_bf16(self):
        return self.name == "bf16"

    def is_fp32(self):
        return self.name == "fp32"

    def is_fp64(self):
        return self.name == "fp64"

    def is_int1(self):
        return self.name == "int1"

    def is_int8(self):
        return self.name == "int8"

    def is_int16(self):
        return self.name == "int16"

    def is_int32(self):
        return self.name == "int32"

    def is_int64(self):
        return self.name == "int64"

    def is_uint8(self):
        return self.name == "uint8"

    def is_uint16(self):
        return self.name == "uint16"

    def is_uint32(self):
        return self.name == "uint32"

    def is_uint64(self):
        return self.name == "uint64"

    def is_floating(self):
        return self.name in dtype.FP_TYPES

    def is_standard_floating(self):
        return self.name in dtype.STANDARD_FP_TYPES

    def is_int_signed(self):
        return self.name in dtype.SINT_TYPES

    def is_int_unsigned(self):
        return self.name in dtype.UINT_TYPES

    def is_int(self):
        return self.is_int_signed() or self.is_int_unsigned()

    def is_bool(self):
        return self.is_int1()

    def is_void(self):
        return self.name == "void"

    def is_block(self):
        return False

    def is_ptr(self):
        return False

    def is_const(self):
        return False

    @staticmethod
    def is_dtype(type_str):
        """Whether a text is the name of a dtype."""
        return type_str in _WIDTHS

    def kind(self):
        """The kind that promotion goes by: of two dtypes that of the higher one wins."""
        if self.is_bool():
            return dtype.KIND.BOOLEAN
        return dtype.KIND.INTEGRAL if self.is_int() else dtype.KIND.FLOATING

    def get_int_max_value(self):
        """The largest integer of the dtype."""
        if not self.is_int():
            raise TypeError(f"{self} is no integer dtype")
        return 2 ** (self.int_bitwidth - self.is_int_signed()) - 1

    def get_int_min_value(self):
        """The smallest integer of the dtype."""
        if not self.is_int():
            raise TypeError(f"{self} is no integer dtype")
        return -(2 ** (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    def __eq__(self, other) -> bool:
        other = _unwrap_if_constexpr(other)
        return isinstance(other, dtype) and self.name == other.name

    def __hash__(self):
        return hash((self.name,))

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{self.codegen_name()}"

    def __call__(self, value):
        """In a kernel, a number of this dtype."""
        raise outside_kernel(self.codegen_name())

    def codegen_name(self):
        """The name in the language: `float16` of `fp16`."""
        if self.name.startswith("fp"):
            return "float" + self.name[2:]
        return "bfloat16" if self.name == "bf16" else self.name

    @property
    def cache_key_part(self) -> str:
        return self.name

    @property
    def scalar(self):
        """The dtype of the elements."""
        return self

    def with_element_ty(self, element_ty: dtype):
        return element_ty

    def mangle(self) -> str:
        if self.is_int():
            return ("i" if self.is_int_signed() else "u") + str(self.int_bitwidth)
        return "V" if self.is_void() else self.name


_DtypeClass = dtype


class pointer_type(dtype):
    """The type of a pointer to elements of a dtype."""

    def __init__(self, element_ty: dtype, address_space: int = 1, const: bool = False):
        element_ty = _unwrap_if_constexpr(element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError(f"element_ty has type `{type(element_ty).__name__}`; expected `dtype`.")
        self.element_ty = element_ty
        self.address_space = address_space
        self.const = const
        self.name = f"{'const_' if const else ''}pointer<{element_ty}>"
        self.primitive_bitwidth = 64
        self.itemsize = 8

    def is_ptr(self):
        return True

    def is_const(self):
        return self.const

    def __eq__(self, other) -> bool:
        other = _unwrap_if_constexpr(other)
        return (
            isinstance(other, pointer_type)
            and self.element_ty == other.element_ty
            and self.address_space == other.address_space
            and self.const == other.const
        )

    def __hash__(self):
        return hash((self.name, self.address_space))

    def __repr__(self):
        return self.name

    def codegen_name(self):
        const = ", const=True" if self.const else ""
        return f"pointer_type({self.element_ty!r}{const})"

    def mangle(self) -> str:
        return f"P{self.element_ty.mangle()}"


def validate_block_shape(shape) -> int:
    """The elements of a block of that shape, which are at most 1,048,576."""
    numel = 1
    for i, extent in enumerate(shape):
        if not isinstance(extent, int):
            raise TypeError(f"extent {i} of a shape is an int, not a {type(extent).__name__}")
        numel *= extent
    if numel > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({numel}) exceeds the maximum ({TRITON_MAX_TENSOR_NUMEL})")
    return numel


class block_type(dtype):
    """The type of a tensor of a static shape."""

    def __init__(self, element_ty: dtype, shape):
        self.element_ty = element_ty
        self.shape = builtins.tuple(_unwrap_shape(shape))
        if not self.shape:
            raise TypeError("0d block_type is forbidden")
        self.numel = validate_block_shape(self.shape)
        self.name = f"<{list(self.shape)}, {element_ty}>"

    def is_block(self):
        return True

    def get_block_shapes(self):
        return self.shape

    def with_element_ty(self, element_ty: dtype):
        return block_type(element_ty, self.shape)

    def __eq__(self, other) -> bool:
        return (
            isinstance(other, block_type)
            and self.element_ty == other.element_ty
            and self.shape == other.shape
        )

    def __hash__(self):
        return hash((self.name,))

    def __repr__(self):
        return self.name

    @property
    def scalar(self):
        return self.element_ty

    @property
    def nbytes(self):
        return self.numel * (self.element_ty.primitive_bitwidth // 8)

    def mangle(self) -> str:
        return f"{self.scalar.mangle()}S{'_'.join(map(str, self.shape))}S"


class tuple_type(base_type):
    """The type of a tuple: those of its items, and their names if they have some."""

    def __init__(self, types, fields=None):
        self.types = types
        self.fields = fields or [""] * len(types)
        self.name = "[" + ",".join(f"{k}:{v}" for k, v in zip(self.fields, types)) + "]"

    def __iter__(self):
        return iter(self.types)

    def __getitem__(self, index):
        return self.types[index]

    def __eq__(self, other):
        same = type(self) is type(other)
        return same and self.types == other.types and self.fields == other.fields

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def mangle(self):
        return "T" + "_".join(t.mangle() for t in self.types) + "T"


class function_type(base_type):
    """The type of a function: those of its results and parameters."""

    def __init__(self, ret_types, param_types):
        self.ret_types = ret_types
        self.param_types = param_types

    def __eq__(self, other):
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        return f"fn ({self.param_types}) -> {self.ret_types}"


class slice_type(dtype):
    """The type of a slice."""

    def __init__(self):
        self.name = "slice_type"


class slice:
    """A slice of a tensor's axis."""

    def __init__(self, start, stop, step):
        self.start, self.stop, self.step = start, stop, step
        self.type = slice_type()


void = dtype("void")
int1 = dtype("int1")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float8e5 = dtype("fp8e5")
float8e5b16 = dtype("fp8e5b16")
float8e4nv = dtype("fp8e4nv")
float8e4b8 = dtype("fp8e4b8")
float8e4b15 = dtype("fp8e4b15")
float16 = dtype("fp16")
bfloat16 = dtype("bf16")
float32 = dtype("fp32")
float64 = dtype("fp64")
pi32_t = pointer_type(int32)


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer dtype of a width."""
    if bitwidth == 1:
        return int1
    name = f"{'' if signed else 'u'}int{_unwrap_if_constexpr(bitwidth)}"
    if not dtype.is_dtype(name):
        raise ValueError(f"Unsupported bitwidth {bitwidth} and signedness {signed}")
    return dtype(name)


# ---- tuples ----


class tuple(base_value):
    """A tuple as kernels have them; fields of a named tuple are attributes."""

    type: tuple_type

    def __init__(self, args=(), type=None):
        self.values = list(args)
        if type is None:
            type = [x.type if isinstance(x, base_value) else constexpr_type(x) for x in args]
        self.type = type if isinstance(type, tuple_type) else tuple_type(type)

    def __getitem__(self, index):
        if isinstance(index, (slice, builtins.slice)):
            return tuple(self.values[index.start : index.stop : index.step])
        return self.values[index]

    def __getattr__(self, name):
        if name in ("type", "values") or name not in self.type.fields:
            raise AttributeError(f"a tuple has no field {name!r}")
        return self.values[self.type.fields.index(name)]

    def __add__(self, other):
        return tuple(self.values + list(_normalize_tuple(other)))

    def __mul__(self, other):
        return tuple(self.values * _unwrap_if_constexpr(other))

    def __eq__(self, other):
        return constexpr(self.values == list(_normalize_tuple(other)))

    def __hash__(self):
        return hash(builtins.tuple(self.values))

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __repr__(self):
        return f"({', '.join(repr(x) for x in self.values)})"


# ---- loops ----


class range(base_value):
    """`for i in tl.range(...)`: a loop of a kernel with attributes for the compiler.

    `num_stages` is the depth of its software pipeline, `loop_unroll_factor` the copies of its body.
    """

    def __init__(
        self,
        arg1,
        arg2=None,
        step=None,
        num_stages=None,
        loop_unroll_factor=None,
        disallow_acc_multi_buffer=False,
        flatten=False,
        warp_specialize=False,
        disable_licm=False,
        _semantic=None,
    ):
        self.start = constexpr(0) if arg2 is None else arg1
        self.end = arg1 if arg2 is None else arg2
        self.step = constexpr(1) if step is None else step
        self.num_stages = num_stages
        self.loop_unroll_factor = loop_unroll_factor
        self.disallow_acc_multi_buffer = disallow_acc_multi_buffer
        self.flatten = flatten
        self.warp_specialize = warp_specialize
        self.disable_licm = disable_licm

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("tl.range can only be used in @triton.jit'd functions")

    def __next__(self) -> Any:
        raise RuntimeError("tl.range can only be used in @triton.jit'd functions")


class static_range(base_value):
    """`for i in tl.static_range(...)`: a loop of a kernel that is unrolled while it is compiled."""

    def __init__(self, arg1, arg2=None, step=None, _semantic=None):
        self.start = constexpr(0) if arg2 is None else arg1
        self.end = arg1 if arg2 is None else arg2
        self.step = constexpr(1) if step is None else step

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("tl.static_range can only be used in @triton.jit'd functions")

    def __next__(self) -> Any:
        raise RuntimeError("tl.static_range can only be used in @triton.jit'd functions")


class condition(base_value):
    """`while tl.condition(...)`: a loop of a kernel with attributes for the compiler."""

    def __init__(self, arg1, disable_licm=False, _semantic=None):
        self.condition = arg1
        self.disable_licm = disable_licm


# ---- aggregates ----


def _aggregate(cls):
    """Makes the objects of a class values of kernels: its annotations are the fields."""
    fields = {}
    for base in reversed(cls.__mro__):
        fields.update(vars(base).get("__annotations__", {}))
    if cls.__init__ is object.__init__:

        def __init__(self, *args, **kwargs):
            given = {**dict(zip(fields, args)), **kwargs}
            if len(args) > len(fields) or given.keys() != fields.keys():
                raise TypeError(f"{cls.__name__} takes the fields {', '.join(fields)}")
            for name, value in given.items():
                setattr(self, name, value)

        cls.__init__ = __init__
    cls.__triton_builtin__ = True
    cls.__triton_aggregate__ = True
    return cls


aggregate = _aggregate


def aggregate_replace(instance, **changes):
    """A copy of an aggregate with other values of some fields."""
    copy = object.__new__(type(instance))
    copy.__dict__.update(instance.__dict__)
    for name, value in changes.items():
        if name not in copy.__dict__:
            raise TypeError(f"{type(instance).__name__} has no field {name!r}")
        setattr(copy, name, value)
    return copy


# ---- types from text ----


def str_to_ty(name, c=None):
    """The type that a signature writes: `*fp32`, `i32`, `tensordesc<fp16[64,64]>`, `constexpr`."""
    from nereid.language import core

    if isinstance(name, builtins.tuple):
        return tuple_type([str_to_ty(x, c) for x in name], getattr(type(name), "_fields", None))
    if name[0] == "*":
        const = name[1] == "k"
        return pointer_type(str_to_ty(name[1 + const :], c), const=const)
    if name.startswith("tensordesc"):
        element, extents = name.split("<")[1].rstrip(">").split("[", 1)
        shape = [int(extent) for extent in extents.split("]")[0].split(",")]
        axes = len(shape)
        return core.tensor_descriptor_type(
            block_type(str_to_ty(element), shape), tuple_type([int32] * axes),
            tuple_type([int64] * axes),
        )  # fmt: skip
    if name.startswith("constexpr"):
        return constexpr_type(c)
    if name[0] in "iu" and name[1:].isdigit() and name != "u1":
        name = ("int" if name[0] == "i" else "uint") + name[1:]
    return dtype("int1" if name in ("u1", "B") else name)
