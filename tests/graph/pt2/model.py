"""A small valid model as an exported program, which each case changes, and the cases."""
import json, struct

FLOAT, LONG = 7, 5
CASES = {}


# ---- zip files ----

class Entry:
    """One stored file; what differs from its data is said by keywords."""

    def __init__(self, name, data, **fields):
        self.name, self.data = name.encode(), data
        self.method = fields.get("method", 0)
        self.flags = fields.get("flags", 0)
        self.size = fields.get("size", len(data))
        self.packed = fields.get("packed", self.size)
        self.shift = fields.get("shift", 0)
        self.offset = fields.get("offset")


def zip_bytes(entries):
    """A zip file; the data of each entry lies at a multiple of 64 bytes, plus its shift."""
    out, directory = bytearray(), bytearray()
    for e in entries:
        at = len(out)
        start = at + 30 + len(e.name) + 4
        padding = -start % 64 + e.shift
        extra = struct.pack("<HH", 0x4246, padding) + bytes(padding)
        sizes = struct.pack("<IIIHH", 0, e.packed, e.size, len(e.name), len(extra))
        head = struct.pack("<HHHHH", 20, e.flags, e.method, 0, 0)
        out += b"PK\3\4" + head + sizes + e.name + extra + e.data
        local = at if e.offset is None else e.offset
        sizes = struct.pack("<IIIHH", 0, e.packed, e.size, len(e.name), 0)
        place = struct.pack("<HHHII", 0, 0, 0, 0, local)
        directory += b"PK\1\2\0\0" + head + sizes + place + e.name
    n = len(entries)
    end = struct.pack("<HHHHIIH", 0, 0, n, n, len(directory), len(out), 0)
    return bytes(out + directory + b"PK\5\6" + end)


# ---- a small model ----

def size(value):
    if isinstance(value, int):
        return {"as_int": value}
    return {"as_expr": {"expr_str": value, "hint": {"as_int": 4}}}


S0 = "Symbol('s0', positive=True, integer=True)"


def meta(shape, dtype=FLOAT):
    strides, step = [], 1
    for n in reversed(shape):
        strides.insert(0, step)
        step *= n if isinstance(n, int) else 1
    return {"dtype": dtype, "sizes": [size(n) for n in shape], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [size(n) for n in strides],
            "storage_offset": {"as_int": 0}, "layout": 7}


def tensor(name):
    return {"as_tensor": {"name": name}}


def arg(name, value, kind=1):
    return {"name": name, "arg": value, "kind": kind}


def node(name, op, inputs, outputs, **metadata):
    return {"target": "torch.ops.aten." + op, "inputs": inputs, "outputs": outputs,
            "metadata": metadata, "is_hop_single_tensor_return": None, "name": name}


TRACE = 'File "model.py", line 3, in forward\n    return relu(self.linear(x))\n'


class Model:
    """forward(x: f32[s0, 4]) of a linear layer, relu, and a buffer that counts calls."""

    def __init__(self):
        inputs = ["p_weight", "p_bias", "b_calls", "c_half", "x"]
        self.nodes = [
            node("linear", "linear.default",
                 [arg("input", tensor("x")), arg("weight", tensor("p_weight")),
                  arg("bias", tensor("p_bias"))], [tensor("linear")], stack_trace=TRACE),
            node("relu", "relu.default", [arg("self", tensor("linear"))], [tensor("relu")],
                 stack_trace=TRACE),
            node("add", "add.Tensor", [arg("self", tensor("b_calls")), arg("other", {"as_int": 1})],
                 [tensor("add")]),
        ]
        self.graph = {
            "inputs": [tensor(name) for name in inputs],
            "outputs": [tensor("add"), tensor("relu")],
            "nodes": self.nodes,
            "tensor_values": {"p_weight": meta([8, 4]), "p_bias": meta([8]),
                              "b_calls": meta([], LONG), "c_half": meta([1]), "x": meta([S0, 4]),
                              "linear": meta([S0, 8]), "relu": meta([S0, 8]),
                              "add": meta([], LONG)},
            "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {},
            "custom_obj_values": {}, "is_single_tensor_return": False}
        self.signature = {
            "input_specs": [
                {"parameter": {"arg": {"name": "p_weight"}, "parameter_name": "weight"}},
                {"parameter": {"arg": {"name": "p_bias"}, "parameter_name": "bias"}},
                {"buffer": {"arg": {"name": "b_calls"}, "buffer_name": "calls",
                            "persistent": True}},
                {"tensor_constant": {"arg": {"name": "c_half"}, "tensor_constant_name": "half"}},
                {"user_input": {"arg": tensor("x")}}],
            "output_specs": [
                {"buffer_mutation": {"arg": {"name": "add"}, "buffer_name": "calls"}},
                {"user_output": {"arg": tensor("relu")}}]}
        self.program = {
            "graph_module": {"graph": self.graph, "signature": self.signature,
                             "module_call_graph": [], "metadata": {}},
            "opset_version": {"aten": 10},
            "range_constraints": {"s0": {"min_val": 1, "max_val": 64}},
            "schema_version": {"major": 8, "minor": 17},
            "torch_version": "2.11.0"}
        self.weights = {"weight": payload("weight_0", [8, 4]), "bias": payload("weight_1", [8]),
                        "calls": payload("weight_2", [], LONG)}
        self.constants = {"half": payload("tensor_0", [1])}
        self.entries = {
            "archive_format": b"pt2", "byteorder": b"little",
            "data/weights/weight_0": bytes(128), "data/weights/weight_1": bytes(32),
            "data/weights/weight_2": bytes(8), "data/constants/tensor_0": bytes(4)}
        self.fields = {}  # of entries: what zip_bytes is told
        self.indent = None

    def add_node(self, n, before=None, **shapes):
        self.nodes.insert(len(self.nodes) if before is None else before, n)
        self.graph["tensor_values"].update({k: meta(v) for k, v in shapes.items()})

    def text(self):
        """What the fuzzer makes an archive of."""
        self.indent = 0
        self.pack()
        parts = []
        for name, data in self.entries.items():
            if data is not None and any(data):
                parts.append(f"@ {name}\n{data.decode()}\n")
            elif data is not None:
                parts.append(f"@ {name} {len(data)}\n")
        return "".join(parts)

    def pack(self):
        texts = {"models/model.json": self.program,
                 "data/weights/model_weights_config.json": {"config": self.weights},
                 "data/constants/model_constants_config.json": {"config": self.constants}}
        for name, value in texts.items():
            text = json.dumps(value, indent=self.indent, separators=(",", ":"))
            self.entries.setdefault(name, text.encode())
        entries = [Entry("model/" + name, data, **self.fields.get(name, {}))
                   for name, data in self.entries.items() if data is not None]
        return zip_bytes(entries)


def payload(path, shape, dtype=FLOAT):
    return {"path_name": path, "is_param": True, "use_pickle": False,
            "tensor_meta": meta(shape, dtype)}


def case(function):
    CASES[function.__name__] = function
    return function
