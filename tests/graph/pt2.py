#!/usr/bin/env python3
"""Exported programs (.pt2) that are right, or wrong in one way each, through the importer.

    pt2.py [NAME...]            compare with pt2/NAME.out and NAME.err
    pt2.py --update [NAME...]   write them
    pt2.py --fuzz NAME...       write fuzz/pt2/NAME, as text (see fuzz/pt2.c)
    pt2.py --fuzz NAME.pt2...   or as it is

A case changes a small valid model: its program, its configurations, entries of the archive, or the
bytes of the file.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
IMPORTER = BUILD / "tests/graph/unit/pt2"
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


# ---- models that are right ----

@case
def valid(m):
    pass


@case
def kinds(m):
    """Each kind of argument."""
    values = {"as_int": -3, "as_ints": [1, 9223372036854775807], "as_float": 0.1,
              "as_floats": ["Infinity", "-Infinity", "NaN", 2.0], "as_string": "a'b\\\n",
              "as_strings": ["a"], "as_bool": True, "as_bools": [False], "as_none": True,
              "as_scalar_type": 13, "as_memory_format": 2, "as_layout": 7,
              "as_device": {"type": "cuda", "index": 1}, "as_tensors": [{"name": "x"}],
              "as_optional_tensors": [{"as_none": True}, tensor("x")],
              "as_optional_tensor": {"as_none": True},
              "as_sym_int": {"as_name": "sym"}, "as_sym_ints": [{"as_name": "sym"}, {"as_int": -1}],
              "as_sym_float": {"as_float": 0.5}, "as_sym_bool": {"as_bool": True},
              "as_graph": {"name": "body", "graph": {}}}
    m.nodes.append({"target": "torch.sym_max", "inputs": [arg("a", {"as_int": 4}), arg("b", {
        "as_int": 5})], "outputs": [{"as_sym_int": {"as_name": "sym"}}], "metadata": {},
        "name": "sym"})
    m.graph["sym_int_values"]["sym"] = size("Mul(Integer(2), %s)" % S0)
    for kind, value in values.items():
        m.add_node(node(kind, "no_such_op.default", [arg("value", {kind: value}, 2)], []))


@case
def lists(m):
    """Results that are lists, of which some items are not used."""
    m.add_node(node("chunk", "chunk.default", [arg("self", tensor("relu")), arg("chunks", {
        "as_int": 2}), arg("dim", {"as_int": -1})], [{"as_tensors": [
            {"name": "getitem"}, {"name": "chunk_unused_1"}]}]),
        getitem=[S0, 4], chunk_unused_1=[S0, 4])
    m.add_node(node("max_1", "max.dim", [arg("self", tensor("getitem")), arg("dim", {
        "as_int": 1})], [tensor("max_1_unused_0"), {"as_none": True}]), max_1_unused_0=[S0])
    m.add_node(node("sort", "no_such_op.default", [arg("self", tensor("getitem"))], [
        tensor("sort_unused_0"), {"as_tensors": [{"name": "part"}]}]),
        sort_unused_0=[S0, 4], part=[S0, 4])


@case
def python_names(m):
    """Names that are words of Python's."""
    text = json.dumps(m.program).replace('"x"', '"input"').replace('"linear"', '"lambda"')
    m.entries["models/model.json"] = text.encode()


@case
def constant_inputs(m):
    m.graph["inputs"] += [{"as_int": 3}, {"as_none": True}]
    m.signature["input_specs"] += [
        {"constant_input": {"name": "steps", "value": {"as_int": 3}}},
        {"user_input": {"arg": {"as_none": True}}}]


def higher_order(name, op, inputs, results):
    return {**node(name, "", [arg("", a) for a in inputs], results),
            "target": "torch.ops.higher_order." + op}


def as_graph(name, body):
    return {"as_graph": {"name": name + "_body", "graph": body}}


def grad_mode(name, body, operands, results):
    return higher_order(name, "wrap_with_set_grad_enabled", [
        {"as_bool": False}, as_graph(name, body), *operands], results)


def autocast(name, enabled, body, operands, results):
    return higher_order(name, "wrap_with_autocast", [
        {"as_string": "cuda"}, {"as_scalar_type": 13}, {"as_bool": enabled}, {"as_none": True},
        as_graph(name, body), *operands], results)


def body_of(inputs, nodes, outputs, **shapes):
    return {"inputs": [tensor(n) for n in inputs], "nodes": nodes,
            "outputs": [tensor(n) for n in outputs],
            "tensor_values": {k: meta(v) for k, v in shapes.items()}}


def exp_of(x):
    return node("exp", "exp.default", [arg("self", tensor(x))], [tensor("exp")])


@case
def regions(m):
    """Graphs under no_grad() and autocast(enabled=False), one in the other: their names are their
    own, and what goes in may come out as it is."""
    inner = body_of(["relu"], [exp_of("relu")], ["exp"], relu=[S0, 8], exp=[S0, 8])
    outer = body_of(["a", "linear"], [
        node("relu", "neg.default", [arg("self", tensor("a"))], [tensor("relu")]),
        autocast("cast", False, inner, [tensor("relu")], [tensor("x")])], ["x", "linear"],
        a=[S0, 8], linear=[S0, 8], relu=[S0, 8], x=[S0, 8])
    m.add_node(grad_mode("no_grad", outer, [tensor("relu"), tensor("linear")],
                         [tensor("exp"), tensor("same")]), exp=[S0, 8], same=[S0, 8])
    m.add_node(node("sum_1", "add.Tensor", [arg("self", tensor("exp")), arg(
        "other", tensor("same"))], [tensor("sum_1")]), sum_1=[S0, 8])


@case
def tokens(m):
    """Calls with effects, in the order of their tokens, which nobody passes or gets."""
    m.graph["inputs"].insert(0, tensor("token"))
    m.signature["input_specs"].insert(0, {"token": {"arg": {"name": "token"}}})
    m.add_node(higher_order("effect", "with_effects", [
        tensor("token"), {"as_operator": "torch.ops.aten._print.default"}, {"as_string": "here"}],
        [tensor("token_1"), {"as_none": True}]))
    m.add_node(higher_order("effect_1", "with_effects", [
        tensor("token_1"), {"as_operator": "torch.ops.aten.max.dim"}, tensor("x"), {"as_int": 1}],
        [tensor("token_2"), tensor("values"), tensor("indices")]), values=[S0], indices=[S0])
    m.graph["tensor_values"]["indices"] = meta([S0], LONG)
    for name in ("token", "token_1", "token_2"):
        m.graph["tensor_values"][name] = meta([0])
    m.graph["outputs"].insert(0, tensor("token_2"))
    m.signature["output_specs"].insert(0, {"token": {"arg": {"name": "token_2"}}})


@case
def region_that_casts(m):
    body = body_of(["x"], [exp_of("x")], ["exp"], x=[S0, 4], exp=[S0, 4])
    m.add_node(autocast("cast", True, body, [tensor("x")], [tensor("exp")]), exp=[S0, 4])


@case
def region_operands(m):
    m.add_node(grad_mode("no_grad", body_of([], [], []), [tensor("x")], []))


@case
def region_results(m):
    m.add_node(grad_mode("no_grad", body_of(["x"], [], ["x"], x=[S0, 4]), [tensor("x")], []))


@case
def region_of_a_number(m):
    m.add_node(grad_mode("no_grad", body_of(["x"], [], []), [{"as_int": 3}], []))


@case
def region_takes_more(m):
    """A region knows only what it is given."""
    m.add_node(grad_mode("no_grad", body_of([], [exp_of("x")], ["exp"], exp=[S0, 4]), [],
                         [tensor("exp")]), exp=[S0, 4])


@case
def symbolic_input(m):
    m.graph["inputs"].append({"as_sym_int": {"as_name": "n"}})
    m.graph["sym_int_values"]["n"] = size("Symbol('s1', integer=True)")
    m.signature["input_specs"].append({"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}})
    m.program["range_constraints"].update({"s1": {"min_val": None, "max_val": 9},
                                           "2*s1": {"min_val": 0, "max_val": 18}})


@case
def comparisons(m):
    relation = {"as_expr": {"expr_str": "GreaterThan(%s, Integer(2))" % S0}}
    other = {"as_expr": {"expr_str": "And(a, b)"}}
    m.graph["sym_bool_values"] = {"ge": relation, "both": other, "yes": {"as_bool": True}}
    for name in m.graph["sym_bool_values"]:
        m.nodes.append({"target": "_operator.ge", "inputs": [
            arg("a", {"as_int": 1}), arg("b", {"as_int": 2})], "outputs": [
                {"as_sym_bool": {"as_name": name}}], "metadata": {}, "name": name})


@case
def argument_order(m):
    """That of another version of the operator: the names count."""
    m.nodes[0]["inputs"][1:] = reversed(m.nodes[0]["inputs"][1:])


@case
def newer_minor(m):
    """Keys that are not known yet, and none that older files lack."""
    m.program["schema_version"]["minor"] = 99
    m.program["novelty"] = m.nodes[0]["novelty"] = {"deep": [1, {"er": None}]}
    for n in m.nodes:
        del n["name"]
        for i in n["inputs"]:
            i["kind"] = None


@case
def traces(m):
    m.nodes[0]["metadata"]["stack_trace"] = (
        'Traceback:\n  File "a b.py", line 12, in f\n    y = g(x)\n'
        '  File "lib.py", line 7, in g\n    return "\\x1b"  \x1b\r\n    ^^^^\n')
    m.nodes[1]["metadata"]["stack_trace"] = (
        'File "a.py", line x, in f\n  code\nFile "", line 3, in f')
    m.nodes[2]["metadata"]["stack_trace"] = 'File "a.py", line 9, in <module>\n\n'


@case
def traces_of_torch(m):
    own, torch = 'File "m.py", line 3, in forward\n  self.fc(x)\n', (
        'File "lib/torch/nn/modules/linear.py", line 134, in forward\n  F.linear(input)\n')
    m.nodes[0]["metadata"]["stack_trace"] = own + torch + torch
    m.nodes[1]["metadata"]["stack_trace"] = torch


@case
def unknown_operators(m):
    m.nodes[0]["target"] = "torch.ops.mylib.fused_linear.default"
    m.nodes[1]["target"] = "torch.ops.higher_order.cond"
    m.nodes[1]["inputs"].append(arg("", {"as_graph": {"name": "true_graph_0", "graph": {}}}))

def typed(shapes):
    """Types of values: a shape, or a shape and a dtype."""
    return {k: meta(*v) if isinstance(v, tuple) else meta(v) for k, v in shapes.items()}


def loop_body(inputs, nodes, outputs, **types):
    return {**body_of(inputs, nodes, outputs), "tensor_values": typed(types)}


def call(name, op, *operands):
    names = ["self", "other"] if op.split(".")[0] in ("add", "lt", "gt", "mul", "where") else []
    inputs = [arg(names[i] if i < len(names) else "index" if i else "self", o)
              for i, o in enumerate(operands)]
    return node(name, op, inputs, [tensor(name)])


BOOL = 12


def add_condition(m, condition, **types):
    yes = loop_body(["a", "i"], [node("at", "index_select.default", [
        arg("self", tensor("a")), arg("dim", {"as_int": 0}), arg("index", tensor("i"))],
        [tensor("at")])], ["at"], a=[8, 4], i=([2], LONG), at=[2, 4])
    no = loop_body(["a", "i"], [node("slice_1", "slice.Tensor", [
        arg("self", tensor("a")), arg("dim", {"as_int": 0}), arg("start", {"as_int": 0}),
        arg("end", {"as_int": 2})], [tensor("slice_1")])], ["slice_1"],
        a=[8, 4], i=([2], LONG), slice_1=[2, 4])
    m.add_node(node("full", "full.default", [
        arg("size", {"as_ints": [2]}), arg("fill_value", {"as_int": 3})], [tensor("full")]))
    m.graph["tensor_values"].update(typed({"full": ([2], LONG), "chosen": [2, 4]} | types))
    m.add_node(higher_order("cond", "cond", [
        condition, as_graph("yes", yes), as_graph("no", no),
        {"as_tensors": [{"name": "p_weight"}, {"name": "full"}]}],
        [{"as_tensors": [{"name": "chosen"}]}]))


@case
def cond(m):
    """Both graphs; indices are 0 where theirs does not run."""
    m.add_node(call("any_1", "gt.Scalar", tensor("b_calls"), {"as_int": 2}))
    add_condition(m, tensor("any_1"), any_1=([], BOOL))


@case
def cond_known(m):
    add_condition(m, {"as_bool": False})


@case
def cond_sizes(m):
    m.nodes.append({"target": "torch.ops.aten.sym_size.int", "inputs": [
        arg("self", tensor("x")), arg("dim", {"as_int": 0})], "metadata": {}, "name": "rows",
        "outputs": [{"as_sym_int": {"as_name": "rows"}}]})
    m.graph["sym_int_values"]["rows"] = size(S0)
    m.nodes.append({"target": "_operator.gt", "inputs": [
        arg("a", {"as_sym_int": {"as_name": "rows"}}), arg("b", {"as_int": 2})], "metadata": {},
        "name": "more", "outputs": [{"as_sym_bool": {"as_name": "more"}}]})
    m.graph["sym_bool_values"]["more"] = {"as_expr": {"expr_str": "%s > 2" % S0}}
    add_condition(m, {"as_sym_bool": {"as_name": "more"}})


@case
def numbers(m):
    """Floats of a size, and an integer that is no size of ours."""
    m.nodes.append({"target": "torch.ops.aten.sym_size.int", "inputs": [
        arg("self", tensor("x")), arg("dim", {"as_int": 0})], "metadata": {}, "name": "rows",
        "outputs": [{"as_sym_int": {"as_name": "rows"}}]})
    m.graph["sym_int_values"]["rows"] = size(S0)
    rows = {"as_sym_int": {"as_name": "rows"}}
    for name, target, operands, kind, text in [
            ("half", "_operator.truediv", [rows, {"as_int": 2}], "float",
             "IntTrueDiv(%s, Integer(2))"),
            ("power", "_operator.pow", [{"as_int": 2}, rows], "int",
             "PowByNatural(Integer(2), %s)"),
            ("bits", "_operator.lshift", [rows, {"as_int": 1}], "int", "LShift(%s, Integer(1))"),
            ("less", "math.trunc", [{"as_sym_float": {"as_name": "half"}}], "int",
             "TruncToInt(IntTrueDiv(%s, Integer(2)))")]:
        given = [arg("x" if target == "math.trunc" else "ab"[i], operand)
                 for i, operand in enumerate(operands)]
        m.nodes.append({"target": target, "inputs": given, "metadata": {}, "name": name,
                        "outputs": [{f"as_sym_{kind}": {"as_name": name}}]})
        m.graph.setdefault(f"sym_{kind}_values", {})[name] = {
            "as_expr": {"expr_str": text % S0}}
    for name in ("half", "power", "bits", "less"):
        kind = "float" if name == "half" else "int"
        m.add_node(node(f"y_{name}", "mul.Tensor", [arg("self", tensor("x")), arg(
            "other", {f"as_sym_{kind}": {"as_name": name}})], [tensor(f"y_{name}")]),
            **{f"y_{name}": [S0, 4]})


def add_scan(m, xs, rows):
    body = loop_body(["c", "x", "k"], [
        call("add", "add.Tensor", tensor("c"), tensor("x")),
        call("mul", "mul.Tensor", tensor("add"), tensor("k"))], ["add", "mul"],
        c=[4], x=[4], k=[1], add=[4], mul=[4])
    m.add_node(node("zeros", "zeros.default", [arg("size", {"as_ints": [4]})], [tensor("zeros")]),
               zeros=[4], last=[4], all_1=[rows, 4])
    m.add_node(higher_order("scan", "scan", [
        as_graph("scan", body), {"as_tensors": [{"name": "zeros"}]},
        {"as_tensors": [{"name": xs}]}, {"as_tensors": [{"name": "c_half"}]}],
        [{"as_tensors": [{"name": "last"}, {"name": "all_1"}]}]))


@case
def scan(m):
    m.add_node(node("few", "slice.Tensor", [
        arg("self", tensor("p_weight")), arg("dim", {"as_int": 0}), arg("start", {"as_int": 0}),
        arg("end", {"as_int": 2})], [tensor("few")]), few=[2, 4])
    add_scan(m, "few", 2)


@case
def associative_scan(m):
    body = loop_body(["a", "b", "c", "d"], [
        call("mul", "mul.Tensor", tensor("a"), tensor("c")),
        call("mul_1", "mul.Tensor", tensor("b"), tensor("c")),
        call("add", "add.Tensor", tensor("mul_1"), tensor("d"))], ["mul", "add"],
        a=[4], b=[4], c=[4], d=[4], mul=[4], mul_1=[4], add=[4])
    m.add_node(node("few", "slice.Tensor", [
        arg("self", tensor("p_weight")), arg("dim", {"as_int": 0}), arg("start", {"as_int": 0}),
        arg("end", {"as_int": 3})], [tensor("few")]), few=[3, 4], products=[3, 4], sums=[3, 4])
    m.add_node(higher_order("scan", "associative_scan", [
        as_graph("combine", body), {"as_tensors": [{"name": "few"}, {"name": "few"}]},
        {"as_tensors": []}], [{"as_tensors": [{"name": "products"}, {"name": "sums"}]}]))


@case
def scan_long(m):
    m.add_node(node("many", "zeros.default", [arg("size", {"as_ints": [300, 4]})],
                    [tensor("many")]), many=[300, 4])
    add_scan(m, "many", 300)


@case
def scan_open(m):
    add_scan(m, "x", S0)


def add_while(m, init, most):
    test = loop_body(["i", "a"], [call("lt", "lt.Scalar", tensor("i"), {"as_int": most})], ["lt"],
                     i=([], LONG), a=[8, 4], lt=([], BOOL))
    body = loop_body(["i", "a"], [
        call("add", "add.Tensor", tensor("i"), {"as_int": 1}),
        call("mul", "mul.Tensor", tensor("a"), tensor("a"))], ["add", "mul"],
        i=([], LONG), a=[8, 4], add=([], LONG), mul=[8, 4])
    m.graph["tensor_values"].update(typed({"count": ([], LONG), "power": [8, 4]}))
    m.add_node(higher_order("while_loop", "while_loop", [
        as_graph("test", test), as_graph("step", body),
        {"as_tensors": [{"name": init}, {"name": "p_weight"}]}, {"as_tensors": []}],
        [{"as_tensors": [{"name": "count"}, {"name": "power"}]}]))


def add_count(m):
    m.add_node(node("zero", "zeros.default", [arg("size", {"as_ints": []}), arg(
        "dtype", {"as_scalar_type": LONG}, 2)], [tensor("zero")]))
    m.graph["tensor_values"]["zero"] = meta([], LONG)


@case
def while_loop(m):
    add_count(m)
    add_while(m, "zero", 2)


@case
def while_long(m):
    add_count(m)
    add_while(m, "zero", 1000)


@case
def while_data(m):
    """A loop that stays one."""
    add_while(m, "b_calls", 2)


@case
def while_number(m):
    """Its carried value is no tensor."""
    m.nodes.append({"target": "torch.ops.aten.sym_size.int", "inputs": [
        arg("self", tensor("x")), arg("dim", {"as_int": 0})], "metadata": {}, "name": "rows",
        "outputs": [{"as_sym_int": {"as_name": "rows"}}]})
    m.graph["sym_int_values"]["rows"] = size(S0)
    m.graph["tensor_values"].update(typed({"count": ([], LONG)}))
    test = loop_body(["i"], [call("lt", "lt.Scalar", tensor("i"), {"as_int": 2})], ["lt"],
                     i=([], LONG), lt=([], BOOL))
    m.add_node(higher_order("while_loop", "while_loop", [
        as_graph("test", test), as_graph("step", test),
        {"as_sym_int": {"as_name": "rows"}}, {"as_tensors": []}],
        [{"as_tensors": [{"name": "count"}]}]))


@case
def autocast_casts(m):
    """Operands of products become narrow, and those of results in f32 wide, also one of two."""
    half = 13
    body = loop_body(["x", "w"], [
        node("linear", "linear.default", [arg("input", tensor("x")), arg("weight", tensor("w"))],
             [tensor("linear")]),
        node("softmax", "softmax.int", [arg("self", tensor("linear")), arg("dim", {"as_int": 1})],
             [tensor("softmax")]),
        node("cdist", "cdist.default", [arg("x1", tensor("linear")), arg("x2", tensor("softmax"))],
             [tensor("cdist")])], ["cdist"],
        x=[S0, 4], w=[8, 4], linear=([S0, 8], half), softmax=[S0, 8], cdist=[S0, S0])
    m.add_node(autocast("cast", True, body, [tensor("x"), tensor("p_weight")], [tensor("exp")]),
               exp=[S0, S0])


# ---- archives that are wrong ----

@case
def empty(m):
    return b""


@case
def no_zip(m):
    return b"def f(): pass\n" * 100


@case
def truncated(m):
    return m.pack()[:-300]


@case
def truncated_start(m):
    return m.pack()[700:]


@case
def compressed(m):
    m.fields["data/weights/weight_1"] = {"method": 8}


@case
def bomb(m):
    """A terabyte that is said to be in 32 bytes."""
    m.fields["data/weights/weight_1"] = {"method": 8, "size": 4294967294, "packed": 32}


@case
def two_sizes(m):
    m.fields["data/weights/weight_1"] = {"size": 4294967294, "packed": 32}


@case
def past_the_end(m):
    m.fields["data/weights/weight_1"] = {"size": 1 << 30}


@case
def bad_offset(m):
    m.fields["data/weights/weight_1"] = {"offset": 1 << 31}


@case
def wrong_header(m):
    m.fields["data/weights/weight_1"] = {"offset": 0}


@case
def encrypted(m):
    m.fields["data/weights/weight_1"] = {"flags": 1}


@case
def upwards(m):
    m.entries["../../etc/passwd"] = b""


@case
def absolute(m):
    return zip_bytes([Entry("/" + "models/model.json", b"{}")])


@case
def nul_in_name(m):
    return zip_bytes([Entry("a\0b", b"")])


@case
def long_name(m):
    return zip_bytes([Entry("a" * 5000, b"")])


@case
def twice(m):
    data = m.pack()
    entries = [Entry("model/byteorder", b"little"), Entry("model/byteorder", b"big")]
    return zip_bytes(entries) if data else data


@case
def directory_too_short(m):
    data = m.pack()
    return data[:-12] + b"\xff\xff" * 2 + data[-8:]


# ---- other files ----

@case
def torch_save(m):
    return zip_bytes([Entry("model/data.pkl", b""), Entry("model/version", b"3")])


@case
def torch_script(m):
    return zip_bytes([Entry("model/constants.pkl", b""), Entry("model/data.pkl", b"")])


@case
def older_export(m):
    return zip_bytes([Entry("serialized_exported_program.json", b"{}"), Entry("version", b"8.2")])


@case
def no_archive(m):
    m.entries["archive_format"] = b"pt3"


@case
def big_endian(m):
    m.entries["byteorder"] = b"big"


@case
def no_program(m):
    m.entries["models/model.json"] = None


@case
def two_programs(m):
    m.entries["models/other.json"] = b"{}"


@case
def other_version(m):
    m.program["schema_version"] = {"major": 9, "minor": 2}


# ---- JSON that is wrong ----

@case
def no_json(m):
    m.entries["models/model.json"] = b"{\"graph_module\":\n {]}"


@case
def json_empty(m):
    m.entries["models/model.json"] = b""


@case
def json_array(m):
    m.entries["models/model.json"] = b"[]"


@case
def json_deep(m):
    m.entries["models/model.json"] = b"[" * 1000000


@case
def json_key_twice(m):
    m.entries["models/model.json"] = b"{\"a\": 1, \"a\": 2}"


@case
def json_large_number(m):
    m.nodes[2]["inputs"][1]["arg"] = {"as_int": 1 << 64}


@case
def json_utf8(m):
    m.entries["models/model.json"] = b"{\"\xff\": 1}"


@case
def key_missing(m):
    del m.program["graph_module"]["signature"]


@case
def key_of_other_type(m):
    m.graph["nodes"] = "none"


@case
def node_of_other_type(m):
    m.graph["nodes"][1] = 7


@case
def bool_of_other_type(m):
    m.weights["weight"]["use_pickle"] = 0


@case
def union_of_two(m):
    m.nodes[1]["inputs"][0]["arg"]["as_int"] = 1


@case
def range_of_other_type(m):
    m.program["range_constraints"]["s0"] = 3


# ---- graphs that are wrong ----

@case
def undefined(m):
    m.nodes[1]["inputs"][0]["arg"] = tensor("gelu")


@case
def later(m):
    m.nodes[0]["inputs"][0]["arg"] = tensor("relu")


@case
def itself(m):
    m.nodes[1]["inputs"][0]["arg"] = tensor("relu")


@case
def defined_twice(m):
    m.nodes[1]["outputs"] = [tensor("linear")]


@case
def node_name_wild(m):
    m.nodes[1]["name"] = "x = 1; y"


@case
def name_with_escape(m):
    m.nodes[1]["name"] = "x\033[31m"


@case
def name_empty(m):
    m.nodes[1]["name"] = ""


@case
def input_keyword(m):
    m.entries["models/model.json"] = json.dumps(m.program).replace('"x"', '"lambda"').encode()


@case
def target_wild(m):
    m.nodes[1]["target"] = "torch.ops.aten.relu()"


@case
def argument_wild(m):
    m.nodes[1]["inputs"][0]["arg"] = {"as_ints": [1, "2"]}


@case
def argument_kind(m):
    m.nodes[1]["inputs"][0]["arg"] = {"as_operator": "torch.ops.aten.add"}


@case
def argument_complex(m):
    m.nodes[1]["inputs"][0]["arg"] = {"as_complex": {"real": 1}}


@case
def argument_float(m):
    m.nodes[1]["inputs"][0]["arg"] = {"as_float": "inf"}


@case
def argument_enum(m):
    m.nodes[1]["inputs"][0]["arg"] = {"as_memory_format": 77}


@case
def argument_layout(m):
    m.nodes[1]["inputs"][0]["arg"] = {"as_layout": 4}


@case
def argument_position(m):
    m.nodes[0]["inputs"][1]["name"] = "weights"


@case
def argument_named_twice(m):
    m.nodes[1]["inputs"] = [arg("self", tensor("linear"), 2)] * 2


@case
def result_kind(m):
    m.nodes[1]["outputs"] = [{"as_string": "relu"}]


@case
def type_missing(m):
    del m.graph["tensor_values"]["relu"]


@case
def dtype_complex(m):
    m.graph["tensor_values"]["relu"]["dtype"] = 9


@case
def lacks(m):
    """All that is not supported is said at once."""
    m.graph["tensor_values"]["linear"]["dtype"] = 31
    m.graph["tensor_values"]["relu"]["dtype"] = 9
    m.nodes[1]["target"] = "torch.ops.aten.no_such_op.default"
    m.nodes[2]["inputs"][1]["arg"] = {"as_operator": "torch.ops.aten.add"}
    m.graph["inputs"].append({"as_custom_obj": {"name": "obj", "class_fqn": "a.B"}})
    m.signature["input_specs"].append({"custom_obj": {"arg": {"name": "obj"}}})


@case
def pickled_both(m):
    m.weights["bias"]["use_pickle"] = m.weights["weight"]["use_pickle"] = True


@case
def dtype_unknown(m):
    m.graph["tensor_values"]["relu"]["dtype"] = 99


@case
def layout_sparse(m):
    m.graph["tensor_values"]["relu"]["layout"] = 1


@case
def rank(m):
    m.graph["tensor_values"]["relu"] = meta([1] * 17)


@case
def size_negative(m):
    m.graph["tensor_values"]["relu"] = meta([-1])


@case
def size_wild(m):
    m.graph["tensor_values"]["relu"] = meta(["Where(%s)" % S0])


@case
def size_deep(m):
    m.graph["tensor_values"]["relu"] = meta(["Add(" * 100000])


@case
def size_kind(m):
    m.graph["tensor_values"]["relu"]["sizes"] = [{"as_name": "s0"}]


@case
def size_overflows(m):
    large = "Integer(4611686018427387904)"
    m.graph["tensor_values"]["relu"] = meta([f"Mul({large}, {large})"])


@case
def range_empty(m):
    m.program["range_constraints"]["s0"] = {"min_val": 5, "max_val": 4}


@case
def specs_short(m):
    m.signature["input_specs"].pop()


@case
def spec_of_another(m):
    m.signature["input_specs"][0]["parameter"]["arg"]["name"] = "p_bias"


@case
def spec_kind(m):
    m.graph["inputs"].append({"as_custom_obj": {"name": "obj", "class_fqn": "a.B"}})
    m.signature["input_specs"].append({"custom_obj": {"arg": {"name": "obj"}}})


@case
def spec_gradient(m):
    m.signature["output_specs"][1] = {"gradient_to_parameter": {"arg": {"name": "relu"},
                                                                "parameter_name": "weight"}}


@case
def spec_object(m):
    m.signature["output_specs"][1] = {"object": {"arg": {"name": "relu"}}}


@case
def spec_number(m):
    m.graph["inputs"][0] = {"as_sym_int": {"as_name": "p_weight"}}
    m.graph["sym_int_values"]["p_weight"] = {"as_int": 3}


@case
def mutation_of_nothing(m):
    m.signature["output_specs"][0]["buffer_mutation"]["buffer_name"] = "cells"


@case
def mutation_by_another(m):
    m.signature["output_specs"][0]["buffer_mutation"]["arg"]["name"] = "relu"


@case
def stored_twice(m):
    m.signature["input_specs"][1]["parameter"]["parameter_name"] = "weight"


# ---- tensors that are wrong ----

# ---- pickled tensors ----

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


# ---- running ----

def build(name):
    m = Model()
    return CASES[name](m) or (b"" if name == "empty" else m.pack())


def run(data, folder):
    (folder / "model.pt2").write_bytes(data)
    p = subprocess.run([IMPORTER, "model.pt2"], cwd=folder, capture_output=True, timeout=60)
    if p.returncode not in (0, 1) or p.stderr:
        return ".crash", f"status {p.returncode}\n{p.stderr.decode(errors='replace')}"
    return (".out" if p.returncode == 0 else ".err"), p.stdout.decode()


def compare(name, kind, text):
    """What is wrong, or None."""
    wanted = [ROOT / "tests/graph/pt2" / (name + k) for k in (".out", ".err")]
    wanted = [path for path in wanted if path.exists()]
    if kind == ".crash" or not wanted:
        return text
    if wanted[0].suffix != kind or wanted[0].read_text() != text:
        return f"-- got ({kind})\n{text}-- want ({wanted[0].suffix})\n{wanted[0].read_text()}"
    return None


def update(name, kind, text):
    for k in (".out", ".err"):
        (ROOT / "tests/graph/pt2" / (name + k)).unlink(missing_ok=True)
    (ROOT / "tests/graph/pt2" / (name + kind)).write_text(text)


def write_corpus(names):
    for name in names:
        stem, path = name.removesuffix(".pt2"), ROOT / "tests/fuzz/pt2" / name
        if stem != name:
            path.write_bytes(build(stem))
            continue
        m = Model()
        CASES[name](m)
        path.write_text(m.text())


def main():
    if sys.argv[1:2] == ["--fuzz"]:
        return write_corpus(sys.argv[2:])
    words = [w for w in sys.argv[1:] if w != "--update"]
    names = [n for n in CASES if not words or n in words]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            kind, text = run(build(name), pathlib.Path(folder))
            if "--update" in sys.argv:
                update(name, kind, text)
                continue
            wrong = compare(name, kind, text)
            failed += wrong is not None
            if wrong is not None:
                print(f"FAIL {name}\n{wrong}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return bool(failed)


sys.exit(main())
