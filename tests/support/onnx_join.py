"""Many ONNX models as one, which takes one run of the compilers; and how files of protobuf are
read."""
from onnx_text import field


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field; bytes for what has a length."""
    return ((number, value) for number, value, _ in raw_fields(data))


def raw_fields(data):
    """With the bytes of each field."""
    at = 0
    while at < len(data):
        start = at
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = data[at:at + size], at + size
        yield key >> 3, value, data[start:at]


def find(data, *path):
    """All values of a field, by the numbers of the fields around it and its own."""
    found = [data]
    for number in path:
        found = [v for d in found for n, v in fields(d) if n == number]
    return found


# Fields with names of values and of sizes, in the messages of a GraphProto.
NAME = object()
TYPE = {1: {2: {1: {2: NAME}}}}
VALUE = {1: NAME, 2: TYPE}
NODE = {1: NAME, 2: NAME, 3: NAME}
GRAPH = {1: NODE, 5: {8: NAME}, 11: VALUE, 12: VALUE, 13: VALUE}
NODE[5] = {6: GRAPH, 11: GRAPH}


def renamed(data, rules, prefix):
    """A message whose names begin with `prefix`."""
    if rules is NAME:
        return prefix.encode() + data if data else data
    return b"".join(field(number, renamed(value, rules[number], prefix)) if number in rules else raw
                    for number, value, raw in raw_fields(data))


def joined(models):
    """The model of all, which must have one version and the same sets of operators; names of the
    model with number i begin with `c<i>_`."""
    graphs = [renamed(find(model, 7)[0], GRAPH, f"c{i}_") for i, model in enumerate(models)]
    head = b"".join(raw for number, _, raw in raw_fields(models[0]) if number in (1, 8))
    return head + field(7, b"".join(graphs))
