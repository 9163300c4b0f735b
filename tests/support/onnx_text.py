"""ONNX models made from Python: what tests write instead of binary files.

    model([node("Add", "x y", "z")], inputs={"x": f32(2, "n"), "y": f32(2, "n")}, outputs="z")
"""
import struct

FLOAT, INT, STRING, TENSOR, GRAPH, FLOATS, INTS, STRINGS = range(1, 9)
SPARSE_TENSOR = 11
CODES = {"f4": 1, "u1": 2, "i1": 3, "u2": 4, "i2": 5, "i4": 6, "i8": 7, "?": 9, "f2": 10, "f8": 11,
         "u4": 12, "u8": 13}


def varint(value):
    value %= 1 << 64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """A field of a message: an integer, a float, or bytes and text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(number, values):
    return b"".join(field(number, v) for v in values)


def words(text):
    """"x y" is two names; "-" stands for one that is left out."""
    names = text.split() if isinstance(text, str) else text
    return ["" if name == "-" else name for name in names]


class Tensor(bytes):
    """A TensorProto."""


class Graph(bytes):
    """A GraphProto."""


def tensor(name, dtype, dims, raw=b"", more=b""):
    """`dtype` is NumPy's short name, or ONNX's number."""
    code = CODES.get(dtype, dtype)
    return Tensor(fields(1, dims) + field(2, code) + field(8, name) + field(9, raw) + more)


def external(name, dtype, dims, **entries):
    pairs = b"".join(field(13, field(1, k) + field(2, str(v))) for k, v in entries.items())
    code = CODES.get(dtype, dtype)
    return Tensor(fields(1, dims) + field(2, code) + field(8, name) + pairs + field(14, 1))


def ints(name, *values):
    return tensor(name, "i8", [len(values)], struct.pack(f"<{len(values)}q", *values))


def floats(name, *values):
    return tensor(name, "f4", [len(values)], struct.pack(f"<{len(values)}f", *values))


class Sparse(bytes):
    """A SparseTensorProto."""


def sparse(values, indices, dims):
    return Sparse(field(1, bytes(values)) + field(2, bytes(indices)) + fields(3, dims))


def attribute(name, value):
    first = field(1, name)
    if isinstance(value, Tensor):
        return first + field(5, bytes(value)) + field(20, TENSOR)
    if isinstance(value, Sparse):
        return first + field(22, bytes(value)) + field(20, SPARSE_TENSOR)
    if isinstance(value, Graph):
        return first + field(6, bytes(value)) + field(20, GRAPH)
    if isinstance(value, (int, float)):
        kind = INT if isinstance(value, int) else FLOAT
        return first + field(2 if kind == FLOAT else 3, value) + field(20, kind)
    if isinstance(value, str):
        return first + field(4, value) + field(20, STRING)
    if value and isinstance(value[0], str):
        return first + fields(9, value) + field(20, STRINGS)
    kind = FLOATS if value and isinstance(value[0], float) else INTS
    return first + fields(7 if kind == FLOATS else 8, value) + field(20, kind)


def ref(name, to, kind):
    """An attribute of a function's body that is one of the call's."""
    return field(1, name) + field(21, to) + field(20, kind)


def node(op, inputs="", outputs="", name="", domain="", refs=(), **attributes):
    data = fields(1, words(inputs)) + fields(2, words(outputs)) + field(3, name) + field(4, op)
    data += b"".join(field(5, attribute(k, v)) for k, v in attributes.items())
    data += fields(5, refs)
    return data + (field(7, domain) if domain else b"")


def type_of(code, dims):
    sizes = b"".join(field(1, field(2 if isinstance(d, str) else 1, d) if d != "" else b"")
                     for d in dims)
    return field(1, field(1, code) + field(2, sizes))


def sequence(kind):
    return field(4, field(1, kind))


def optional(kind):
    return field(9, field(1, kind))


def f32(*dims):
    return type_of(1, dims)


def i64(*dims):
    return type_of(7, dims)


def boolean(*dims):
    return type_of(9, dims)


def value(name, kind):
    return field(1, name) + field(2, kind)


def graph(nodes, inputs=None, outputs="", initializers=(), more=b""):
    """`outputs` are names, or names with their types."""
    data = fields(1, nodes) + field(2, "g") + fields(5, map(bytes, initializers))
    data += b"".join(field(11, value(n, t)) for n, t in (inputs or {}).items())
    if isinstance(outputs, dict):
        return Graph(data + b"".join(field(12, value(n, t)) for n, t in outputs.items()) + more)
    return Graph(data + b"".join(field(12, field(1, n)) for n in words(outputs)) + more)


def function(name, inputs, outputs, nodes, attributes="", domain="local", opset=17):
    imports = field(9, field(1, "") + field(2, opset))
    return (field(1, name) + fields(4, words(inputs)) + fields(5, words(outputs)) +
            fields(6, words(attributes)) + fields(7, nodes) + imports + field(10, domain))


def model(nodes, inputs=None, outputs="", initializers=(), opset=17, functions=(), imports=(),
          more=b""):
    body = graph(nodes, inputs, outputs, initializers, more)
    versions = (d.split(":") if ":" in d else (d, 1) for d in imports)  # "ai.onnx.ml:3"
    opsets = [field(1, d) + field(2, int(v)) for d, v in [("", opset), *versions]]
    return field(1, 8) + fields(8, opsets) + field(7, bytes(body)) + fields(25, functions)
