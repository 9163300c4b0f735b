"""Models that are right."""
import json

from model import S0, arg, case, node, size, tensor


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
