"""Graphs that are wrong."""
import json

from model import S0, arg, case, meta, tensor


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
