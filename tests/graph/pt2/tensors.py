"""Tensors that are wrong, and pickled ones."""
import struct

from model import S0, Entry, arg, case, meta, node, payload, size, tensor, zip_bytes
from regions import call


class Name(str):
    """A name in a pickle, "torch._utils _rebuild_tensor_v2"."""


class Call(tuple):
    """A record of a call: the name, its arguments."""


class Storage(tuple):
    """A reference to bytes."""


def pickled_bytes(value):
    """The opcodes of a value."""
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, Name):
        return b"c" + value.replace(" ", "\n").encode() + b"\n"
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value)) + value.encode()
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, Call):
        return b"".join(map(pickled_bytes, value)) + b"R"
    if isinstance(value, Storage):
        return pickled_bytes(tuple(value)) + b"Q"
    if isinstance(value, dict):
        items = b"".join(pickled_bytes(x) for item in value.items() for x in item)
        return b"}(" + items + b"u"
    return b"(" + b"".join(map(pickled_bytes, value)) + b"t"


TYPED, WRAPPED = Name("torch._tensor _rebuild_from_type_v2"), Name(
    "torch._utils _rebuild_wrapper_subclass")
INT8 = Name("torchao.quantization Int8Tensor")


def pickled_tensor(key, kind, shape, offset=0):
    n, strides = 1, []
    for size_ in reversed(shape):
        strides.insert(0, n)
        n *= size_
    storage = Storage(("storage", Name(f"torch {kind}Storage"), str(key), "cpu", n))
    hooks = Call((Name("collections OrderedDict"), ()))
    return Call((Name("torch._utils _rebuild_tensor_v2"),
                 (storage, offset, tuple(shape), tuple(strides), False, hooks)))


def subclass(function=WRAPPED, **attributes):
    return Call((TYPED, (function, INT8, (INT8, Name("torch float32")), attributes)))


QUANTIZED = {"qdata": pickled_tensor(0, "Char", [8, 4]),
             "scale": pickled_tensor(1, "Float", [8, 1]),
             "block_size": (1, 4), "target": Name("torch int4"), "zero": None}


def pickle_weight(m, value, name="weight", *more):
    data = value if isinstance(value, bytes) else b"\x80\x02" + pickled_bytes(value) + b"."
    m.weights[name]["use_pickle"] = True
    m.entries["data/weights/weight_0"] = zip_bytes([
        Entry("archive/data.pkl", data), Entry("archive/data/0", bytes(32)),
        Entry("archive/data/1", bytes(32)), *more])


def access(of, attribute, to):
    call_ = node(to, "", [arg("src_subclass_tensor", tensor(of)),
                          arg("attr", {"as_string": attribute})], [tensor(to)])
    return {**call_, "target": "torch.ops.export.access_subclass_inner_tensor.default"}


def take_parts(m, *parts):
    """The layer's weight is (qdata, as f32) * scale."""
    at = 0
    for of, attribute, to in parts:
        m.add_node(access(of, attribute, to), at, **{to: [8, 4]})
        at += 1
    m.add_node(node("wide", "to.dtype", [arg("self", tensor("q")), arg(
        "dtype", {"as_scalar_type": 7})], [tensor("wide")]), at, wide=[8, 4])
    m.add_node(call("scaled", "mul.Tensor", tensor("wide"), tensor("s")), at + 1, scaled=[8, 4])
    m.nodes[at + 2]["inputs"][1] = arg("weight", tensor("scaled"))


@case
def pickled_subclass(m):
    pickle_weight(m, subclass(**QUANTIZED))
    take_parts(m, ("p_weight", "qdata", "q"), ("p_weight", "scale", "s"))


@case
def pickled_nested(m):
    """In a parameter, and in another subclass; state with that of slots."""
    inner = subclass(**QUANTIZED)
    state = Call((TYPED, (WRAPPED, INT8, (), ({"tensor_impl": inner}, None))))
    pickle_weight(m, Call((Name("torch._utils _rebuild_parameter"), (state, False, None))))
    take_parts(m, ("p_weight", "tensor_impl", "impl"), ("impl", "qdata", "q"),
               ("impl", "scale", "s"))


@case
def pickled_plain(m):
    pickle_weight(m, pickled_tensor(0, "Float", [2, 4]), "calls")
    m.weights["calls"]["path_name"] = "weight_0"
    m.weights["weight"]["path_name"] = "weight_3"
    m.entries["data/weights/weight_3"] = bytes(128)
    m.graph["tensor_values"]["b_calls"] = meta([2, 4])
    m.graph["tensor_values"]["add"] = meta([2, 4])


@case
def pickled(m):
    m.weights["bias"]["use_pickle"] = True


@case
def pickled_code(m):
    pickle_weight(m, Call((Name("os system"), ("true",))))


@case
def pickled_opcode(m):
    pickle_weight(m, b"\x80\x02i")


@case
def pickled_broken(m):
    pickle_weight(m, b"\x80\x02" + pickled_bytes(subclass(**QUANTIZED))[:-9])


@case
def pickled_itself(m):
    """A parameter of itself: a list that its own record is added to."""
    pickle_weight(m, b"ctorch._utils\n_rebuild_parameter\n]q\x00Rq\x01h\x00h\x01ah\x01.")


@case
def pickled_malformed(m):
    pickle_weight(m, subclass(qdata=pickled_tensor(7, "Char", [8, 4])))


@case
def pickled_big_endian(m):
    pickle_weight(m, subclass(**QUANTIZED), "weight", Entry("archive/byteorder", b"big"))


@case
def pickled_outside(m):
    pickle_weight(m, subclass(qdata=pickled_tensor(0, "Char", [8, 4], 1)))


@case
def pickled_kind(m):
    pickle_weight(m, subclass(Name("torchao.dtypes rebuild"), **QUANTIZED))


@case
def pickled_whole(m):
    pickle_weight(m, subclass(**QUANTIZED))


@case
def pickled_part(m):
    pickle_weight(m, subclass(**QUANTIZED))
    take_parts(m, ("p_weight", "qdata", "q"), ("p_weight", "shift", "s"))


@case
def no_bytes(m):
    m.weights["bias"]["path_name"] = "../../../weight_1"


@case
def no_tensor(m):
    del m.weights["bias"]


@case
def no_config(m):
    m.entries["data/weights/model_weights_config.json"] = None


@case
def other_type(m):
    m.weights["bias"]["tensor_meta"] = meta([4, 2])


@case
def too_short(m):
    m.entries["data/weights/weight_0"] = bytes(127)


@case
def offset_past_the_end(m):
    m.weights["weight"]["tensor_meta"]["storage_offset"] = {"as_int": 1}


@case
def offset_overflows(m):
    m.weights["weight"]["tensor_meta"]["storage_offset"] = {"as_int": 9223372036854775807}


@case
def strides_overflow(m):
    m.weights["weight"]["tensor_meta"]["strides"] = [size(9223372036854775807), size(1)]


@case
def strides_short(m):
    m.weights["weight"]["tensor_meta"]["strides"] = [size(1)]


@case
def sizes_overflow(m):
    wild = [1 << 40, 1 << 40]
    m.weights["weight"]["tensor_meta"] = dict(meta(wild), strides=[size(0), size(0)])


@case
def sizes_symbolic(m):
    m.weights["weight"]["tensor_meta"]["sizes"] = [size(S0), size(4)]


@case
def unaligned(m):
    m.fields["data/weights/weight_0"] = {"shift": 2}


@case
def tensor_in_both(m):
    m.constants["bias"] = payload("tensor_0", [1])
