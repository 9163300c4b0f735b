"""Models whose operators have graphs as operands."""

from model import LONG, S0, arg, case, meta, node, size, tensor


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


@case
def autocast_composite(m):
    """The product within an operator has a narrow result, though no list of PyTorch's names it."""
    body = loop_body(["x", "w"], [
        node("tensordot", "tensordot.default", [
            arg("self", tensor("x")), arg("other", tensor("w")),
            arg("dims_self", {"as_ints": [1]}), arg("dims_other", {"as_ints": [1]})],
            [tensor("tensordot")])], ["tensordot"],
        x=[S0, 4], w=[8, 4], tensordot=([S0, 8], 13))
    m.add_node(autocast("cast", True, body, [tensor("x"), tensor("p_weight")], [tensor("exp")]))
    m.graph["tensor_values"]["exp"] = meta([S0, 8], 13)


@case
def autocast_mixed(m):
    """The cell's products are narrow, and its result, which adds the wide state, is not."""
    operands = ["input", "hx", "w_ih", "w_hh"]
    body = loop_body(operands, [
        node("cell", "gru_cell.default", [arg(name, tensor(name)) for name in operands],
             [tensor("cell")])], ["cell"],
        input=[S0, 4], hx=[S0, 8], w_ih=[24, 4], w_hh=[24, 8], cell=[S0, 8])
    m.add_node(autocast("cast", True, body, [tensor("x")] + [tensor("p_weight")] * 3,
                        [tensor("exp")]), exp=[S0, 8])
