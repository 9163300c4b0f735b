"""The modules of signatures of nereid.language, made from the table of builtins and from lang/std.

    language.py FOLDER      writes them into it (`make python`)
"""
import ast, pathlib, re, sys, textwrap

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from header_rows import ROOT, rows

PACKAGE = ROOT / "python" / "nereid" / "language"
MEANINGS = ROOT / "python" / "meanings.txt"
# Rows of the table that are classes or functions of nereid.language.types, or of nereid itself.
WRITTEN = """constexpr constexpr_type tuple_type pointer_type block_type dtype get_int_dtype const
_aggregate aggregate aggregate_replace tuple range static_range condition jit constexpr_function
_get_int_dtype must_use_result autotune heuristics Config next_power_of_2 is_cuda
is_hip cuda_capability_geq""".split()
CLASSES = ["tensor", "tensor_descriptor", "tensor_descriptor_base"]
# Triton has these in triton.language.standard.
STANDARD = """argmax argmin cumprod cumsum interleave max min ravel reduce_or sum xor_sum zeros
zeros_like _log2 _is_power_of_two""".split()
MATH = ["abs", "fdiv", "fma", "umulhi"]
BINARY = "add sub mul truediv floordiv mod and or xor lshift rshift".split()
COMPARE = "lt le gt ge eq ne".split()
ROUNDED = {"n": "to nearest even", "z": "towards zero", "d": "down", "u": "up"}
FORMULAS = {"add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / y", "rcp": "1 / x",
            "sqrt": "The square root", "fma": "x * y + z"}
SHORT = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64", "float": "float32",
         "double": "float64"}
NOTE = '"""{}\n\nMade by `make python` from {}.\n"""\n\nfrom __future__ import annotations\n\n'
SOURCES = "the compiler's table of builtins and lang/std"


def read_meanings():
    """{section: {name: (type of the result, sentence)}}"""
    found, section = {"": {}}, ""
    for line in MEANINGS.read_text().splitlines():
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section = heading[1]
            found[section] = {}
        elif entry := re.fullmatch(r"(\w+)(?: -> (.+?))?: ?(.*)", line):
            found[section][entry[1]] = (entry[2] or "tensor", entry[3])
    return found


MEANING = read_meanings()
problems = []


class Function:
    """A function of the language: its parameters as text, its result, and a sentence about it."""

    def __init__(self, name, params, doc=None, section=""):
        self.name, self.params = name, params
        meaning = MEANING[section].get(name, ("tensor", ""))
        self.result = meaning[0]
        self.doc = meaning[1] or doc or family(name)
        if not self.doc:
            problems.append(f"{MEANINGS.relative_to(ROOT)} lacks {section} {name}")

    def text(self, method=False, semantic=True, prefix="", name=None):
        """Its definition, which raises an error: only a kernel calls it."""
        params = self.params
        if method:
            first, _, rest = params.partition(", ")
            params = ", ".join(["self", rest] if rest else ["self"])
        if semantic:
            params += (", " if params else "") + "_semantic=None"
        name = name or self.name
        pad = "    " if method else ""
        head = f"{pad}def {name}({params}) -> {self.result}:"
        if len(head) > 100:
            parts = "".join(f"{pad}    {p},\n" for p in split_parameters(params))
            head = f"{pad}def {name}(\n{parts}{pad}) -> {self.result}:"
        doc = textwrap.fill(f'"""{self.doc}"""', 100, initial_indent=pad + " " * 4,
                            subsequent_indent=pad + " " * 4)
        return (f'{head}\n{doc}\n'
                f'{pad}    raise outside_kernel("{prefix}{self.name}")\n')


def split_parameters(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def family(name):
    """The sentence about a function whose name says what it does: `add_rn`, `float2int_rz`."""
    if found := re.fullmatch(r"(\w+?)2(\w+)_r([nzdu])", name):
        return f"The {SHORT[found[1]]} x as {SHORT[found[2]]}, rounded {ROUNDED[found[3]]}."
    if (found := re.fullmatch(r"(\w+)_r([nzdu])", name)) and found[1] in FORMULAS:
        return f"{FORMULAS[found[1]]}, rounded {ROUNDED[found[2]]}."
    return None


def builtins():
    """The rows of the table: name, where, parameters."""
    for _, row in rows("sema/value/builtins.h", "BUILTINS"):
        yield row[0], row[1], row[2].replace("'", '"')


def library(name, section=""):
    """The public functions of a file of lang/std."""
    for node in ast.parse((ROOT / "lang/std" / f"{name}.py").read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_":
            params = ast.unparse(node.args).replace(": tl.constexpr", "").replace("tl.", "")
            doc = ast.get_docstring(node)
            if doc:
                doc = re.match(r"(.*?)(?:\.\s|\.?$)", " ".join(doc.split()))[1] + "."
            yield Function(node.name, params, doc and doc[0].upper() + doc[1:], section)


def exported(names):
    """The line __all__ = [...]."""
    lines, line = [], "   "
    for name in names:
        if len(line) + len(name) + 4 > 100:
            lines.append(line)
            line = "   "
        line += f' "{name}",'
    return "__all__ = [\n" + "\n".join([*lines, line]) + "\n]\n"


def methods(functions, prefix="tensor."):
    return [f.text(method=True, prefix=prefix) for f in functions]


def operators():
    """The operators of tensors, which a type checker needs."""
    for name in BINARY:
        for reflected in "", "r":
            ignored = "  # type: ignore[misc]" if reflected else ""
            yield (f"    def __{reflected}{name}__(self, other) -> tensor:{ignored}\n"
                   f'        raise outside_kernel("tensor")\n')
    for name in COMPARE:
        ignored = "  # type: ignore[override]" if name in ("eq", "ne") else ""
        yield (f"    def __{name}__(self, other) -> tensor:{ignored}\n"
               f'        raise outside_kernel("tensor")\n')
    for name in "neg", "pos", "invert":
        yield (f'    def __{name}__(self) -> tensor:\n        raise outside_kernel("tensor")\n')


TENSOR = '''class tensor(base_value):
    """A tensor of a kernel: values or pointers in a static shape; the type of its expressions."""

    shape: Any
    numel: Any
    type: Any
    dtype: Any

    def __init__(self, handle, type):
        self.handle = handle
        extents = type.shape if type.is_block() else ()
        self.shape = tuple([constexpr(extent) for extent in extents])
        numel = 1
        for extent in extents:
            numel *= extent
        self.numel = constexpr(numel)
        self.type = type
        self.dtype = type.scalar

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(str(extent) for extent in self.shape)}]"

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise outside_kernel("tensor")

    def __getitem__(self, index) -> tensor:
        raise outside_kernel("tensor")

    @property
    def T(self) -> tensor:
        """The tensor with its last two axes exchanged."""
        raise outside_kernel("tensor.T")

'''

DESCRIPTORS = '''class tensor_descriptor_base_type(base_type):
    """The type of a descriptor: that of its blocks."""

    def __init__(self, block_type):
        self.block_type = block_type

    def __eq__(self, other) -> bool:
        return type(other) is type(self) and self.block_type == other.block_type

    def __hash__(self):
        return hash(self.block_type)

    def __str__(self) -> str:
        return f"tensor_descriptor<{{self.block_type}}>"

    def mangle(self) -> str:
        return f"TD{{self.block_type.mangle()}}"


class tensor_descriptor_type(tensor_descriptor_base_type):
    """The type of a descriptor with its shape and strides."""

    def __init__(self, block_type, shape_type, strides_type):
        self.block_type = block_type
        self.shape_type = shape_type
        self.strides_type = strides_type

    def __eq__(self, other) -> bool:
        return (
            super().__eq__(other)
            and self.shape_type == other.shape_type
            and self.strides_type == other.strides_type
        )

    __hash__ = tensor_descriptor_base_type.__hash__


class tensor_descriptor_base(base_value):
    """A descriptor of an array in memory, of which blocks are loaded and stored."""

    type: Any

    def __init__(self, handle, block_type):
        self.handle = handle
        self.type = tensor_descriptor_base_type(block_type)

    @property
    def block_type(self) -> Any:
        return self.type.block_type

    @property
    def block_shape(self) -> Any:
        return self.type.block_type.shape

    @property
    def dtype(self) -> Any:
        return self.type.block_type.element_ty

    def __str__(self) -> str:
        return str(self.type)

{}

class tensor_descriptor(tensor_descriptor_base):
    """A descriptor with its shape and strides."""

    shape: Any
    strides: Any

    def __init__(self, handle, shape, strides, block_type):
        super().__init__(handle, block_type)
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.type = tensor_descriptor_type(block_type, self.shape.type, self.strides.type)
'''


def modules():
    """(path in nereid/language, text) of each module."""
    table = list(builtins())
    by_name = {name: Function(name, params) for name, where, params in table
               if set(where) & set("LMC") and name not in [*WRITTEN, *CLASSES]}
    language = [by_name[name] for name, where, _ in table if "L" in where and name in by_name]
    members = [by_name[name] for name, where, _ in table if "M" in where]
    cuda = [by_name[name] for name, where, _ in table if "C" in where]
    standard, math, random = (list(library(name)) for name in ("standard", "math", "random"))
    language += library("scaled")
    members += [f for f in [*standard, *math] if f.name not in ("swizzle2d", "div_rn")]
    libdevice = {}
    for name in "libdevice", "integer", "convert":
        for f in library(name, "libdevice"):
            libdevice.setdefault(f.name, f)
    descriptor = [Function("load", "self, offsets", None, "descriptor"),
                  Function("store", "self, offsets, value", None, "descriptor")]
    descriptor += library("descriptor", "descriptor")

    tensor_type = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Any\n\n"
    head = NOTE.format("Functions of `nereid.language` that the compiler itself has.", SOURCES)
    head += "from nereid.language import types\nfrom nereid.language.constant import CONSTEXPR_0\n"
    head += "from nereid.language.types import *\n"
    head += ("from nereid.language.types import (\n    TRITON_BUILTIN,\n"
             "    _aggregate,\n    _DtypeClass,\n    _normalize_tuple,\n    _unwrap_if_constexpr,\n"
             "    _unwrap_shape,\n)\n\n")
    head += tensor_type.replace("    from", "    import builtins\n    from")
    head += "_get_int_dtype = types.get_int_dtype\n\n\n"
    special = methods(members) + list(operators())
    body = [TENSOR + "\n".join(special)]
    body.append(DESCRIPTORS.format("\n".join(methods(descriptor, "tensor_descriptor."))))
    body += [f.text() for f in language]
    mark = ("for _value in list(globals().values()):\n"
            "    if type(_value) is type(program_id) and _value.__module__ == __name__:\n"
            "        setattr(_value, TRITON_BUILTIN, True)\n")
    names = [f.name for f in language]
    yield "core.py", head + "\n\n".join([*body, mark])

    part = ("from nereid.language.core import tensor\n"
            "from nereid.language.types import outside_kernel\n\n")
    head = NOTE.format("Functions of `nereid.language` that are written in the language.", SOURCES)
    common = [name for name in STANDARD if name in by_name]
    head += "from nereid.language.core import (\n    _get_int_dtype,\n"
    head += "".join(f"    {name},\n" for name in sorted(common, key=str.lower)) + ")\n"
    head += part + tensor_type + exported([*(f.name for f in standard), *common]) + "\n\n"
    texts = [CDIV if f.name == "cdiv" else f.text(semantic=False) for f in standard]
    yield "standard.py", head + "\n\n".join(texts)

    head = NOTE.format("Elementary functions of `nereid.language`.", SOURCES)
    head += f"from nereid.language.core import {', '.join(MATH)}, maximum, minimum, tensor\n"
    head += "from nereid.language.types import outside_kernel\n\n"
    head += exported([*(f.name for f in math), *MATH]) + "\n\n"
    yield "math.py", head + "\n\n".join([*(f.text() for f in math), MATH_REST])

    head = NOTE.format("Random numbers of `nereid.language`: Philox, as Triton's.", SOURCES)
    head += part + tensor_type + exported([f.name for f in random]) + "\n\n"
    yield "random.py", head + "\n\n".join(f.text(semantic=False) for f in random)

    head = NOTE.format("The functions of libdevice, whose `f` and `rn` are CUDA's.", SOURCES)
    head += part + exported(libdevice) + "\n\n"
    yield "extra/libdevice.py", head + "\n\n".join(
        f.text(prefix="extra.libdevice.") for f in libdevice.values())

    head = NOTE.format("Functions of an NVIDIA GPU.", SOURCES)
    head += part + exported([f.name for f in cuda]) + "\n\n"
    yield "extra/cuda/__init__.py", head + "\n\n".join(
        [*(f.text(prefix="extra.cuda.") for f in cuda), CUDA_REST])

    both = [*names, *(f.name for f in standard), *(f.name for f in math), *(f.name for f in random)]
    checks(table, both)


CDIV = '''def cdiv(x, div) -> Any:
    """x / div rounded up, of non-negative integers; on the host, of numbers.

    >>> cdiv(10, 4)
    3
    """
    if isinstance(x, tensor) or isinstance(div, tensor):
        raise outside_kernel("cdiv")
    return (x + (div - 1)) // div
'''

MATH_REST = '''def __getattr__(name):
    """Other names are libdevice's; `max` and `min` are elementwise here."""
    if name in ("max", "min"):
        return maximum if name == "max" else minimum
    from nereid.language.extra import libdevice

    if name in libdevice.__all__:
        return getattr(libdevice, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
'''

CUDA_REST = '''def __getattr__(name):
    """libdevice is imported when it is asked for."""
    if name == "libdevice":
        from nereid.language.extra import libdevice

        return libdevice
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
'''


def checks(table, generated):
    """What is written by hand must not lack a row of the table."""
    text = "".join((PACKAGE / f"{f}.py").read_text() for f in ("types", "constant", "target_info"))
    names = set(re.findall(r"(?m)^(?:def |class )?(\w+)", text))
    elsewhere = "jit autotune heuristics Config next_power_of_2".split()
    for name, where, _ in table:
        if set(where) - {"P", "M", "N", "G"} and name not in [*generated, *elsewhere, *CLASSES]:
            if "C" not in where and name not in [*names, "_get_int_dtype"]:
                problems.append(f"nereid.language lacks {name}")
    dtypes = [row[4] for _, row in rows("lang/base/dtype.h", "DTYPES")]
    problems.extend(f"nereid.language.types lacks {d}" for d in dtypes if d not in names)


def main():
    made = list(modules())
    for problem in problems:
        print(f"python/generate/language.py: {problem}", file=sys.stderr)
    for name, text in made if not problems else []:
        path = pathlib.Path(sys.argv[1], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # it may be a link
        path.write_text(text)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
