/* What the graph's inputs and outputs are for. */
#include <string.h>

#include "graph/import/pt2/pt2_read.h"
#include "graph/messages.h"

/* ---- inputs ---- */

/* Inputs that come from the file, and the keys of their names. */
static const struct {
  const char *kind, *key;
  InputKind input;
} stored[] = {{"parameter", "parameter_name", INPUT_PARAMETER},
              {"buffer", "buffer_name", INPUT_BUFFER},
              {"tensor_constant", "tensor_constant_name", INPUT_CONSTANT}};

/* The value that a spec is of must be that of the graph's input or output in the same place. */
static bool check_name(Pt2 *r, Name name, Name expected) {
  return name && (name == expected || pt2_fail(r, E_GRAPH_PT2_SPEC, name, expected));
}

static bool read_stored(Pt2 *r, Node *n, const Json *spec, int row) {
  const Json *arg = pt2_object(r, spec, "arg");
  if (!arg || !check_name(r, pt2_name(r, arg, "name"), n->input.target)) return false;
  n->input.kind = stored[row].input;
  n->input.tensor = pt2_name(r, spec, stored[row].key);
  if (!n->input.tensor) return false;
  if (n->type.kind != VALUE_TENSOR && !r->lacking) return pt2_fail(r, E_GRAPH_PT2_NO_TENSOR);
  void **slot = namemap_put(r->arena, &r->stored, n->input.tensor);
  if (*slot) return pt2_fail(r, E_GRAPH_PT2_TWICE, n->input.tensor);
  *slot = n;
  return true;
}

static bool read_input_spec(Pt2 *r, Node *n, const char *kind, const Json *spec) {
  const Json *value;
  for (int i = 0; i < (int)(sizeof stored / sizeof *stored); i++)
    if (!strcmp(kind, stored[i].kind)) return read_stored(r, n, spec, i);
  if (!strcmp(kind, "constant_input")) return true;
  if (strcmp(kind, "user_input")) return pt2_lack(r, E_GRAPH_PT2_SPEC_KIND, kind);
  const Json *arg = pt2_object(r, spec, "arg");
  const char *arg_kind = arg ? pt2_union(r, arg, &value) : NULL;
  if (!arg_kind) return false;
  return !pt2_names_value(arg_kind) ||
         check_name(r, pt2_value_name(r, arg_kind, value), n->input.target);
}

/* The name of an input without a value in the graph: the exported program is for one value. */
static Name constant_name(Pt2 *r, const char *kind, const Json *spec, size_t i) {
  if (!strcmp(kind, "constant_input")) return pt2_name(r, spec, "name");
  return pool_name(r->names, arena_printf(r->arena, "arg%zu", i));
}

static bool read_input(Pt2 *r, const Json *input, const Json *spec_union, size_t i) {
  const Json *value, *spec;
  r->where = arena_printf(r->arena, "input %zu", i);
  const char *kind = pt2_union(r, input, &value);
  const char *spec_kind = kind ? pt2_union(r, spec_union, &spec) : NULL;
  if (!spec_kind) return false;
  bool named = pt2_names_value(kind);
  if (!named && (!pt2_arg_is_known(kind) || json_is(value, JSON_ARRAY)))
    return pt2_lack(r, E_GRAPH_PT2_SPEC_KIND, kind);
  Name name = named ? pt2_value_name(r, kind, value) : constant_name(r, spec_kind, spec, i);
  if (!name) return false;
  r->where = arena_printf(r->arena, "input %s", name);
  if (!pt2_identifier(name)) return pt2_fail(r, E_GRAPH_PT2_IDENTIFIER, name);
  Node *n = graph_node(r->graph, NODE_INPUT, NULL, 0, 0);
  n->place = r->place;
  n->input.target = name;
  n->type.kind = VALUE_NONE;
  return pt2_name_node(r, n, name) && pt2_define(r, name, n) &&
         (!named || pt2_value_type(r, kind, name, &n->type)) &&
         read_input_spec(r, n, spec_kind, spec);
}

static bool same_length(Pt2 *r, const Json *a, const Json *b, const char *what) {
  if (!a || !b) return false;
  if (json_length(a) == json_length(b)) return true;
  return pt2_fail(r, E_GRAPH_PT2_SPECS, json_length(a), what, json_length(b));
}

bool pt2_inputs(Pt2 *r, const Json *graph, const Json *signature) {
  const Json *inputs = pt2_array(r, graph, "inputs");
  const Json *specs = inputs ? pt2_array(r, signature, "input_specs") : NULL;
  if (!same_length(r, inputs, specs, "inputs")) return false;
  for (size_t i = 0; i < json_length(inputs); i++)
    if (!read_input(r, json_item(inputs, i), json_item(specs, i), i)) return false;
  return true;
}

/* ---- outputs ---- */

/* Outputs that are the new values of inputs, and the keys of those inputs' names. */
static const struct {
  const char *kind, *key;
} mutations[] = {{"buffer_mutation", "buffer_name"},
                 {"parameter_mutation", "parameter_name"},
                 {"user_input_mutation", "user_input_name"}};

static bool read_mutation(Pt2 *r, const Json *spec, int row, const Node *value, OutputSpec *out) {
  const Json *arg = pt2_object(r, spec, "arg");
  Name name = arg ? pt2_name(r, arg, "name") : NULL;
  Name target = name ? pt2_name(r, spec, mutations[row].key) : NULL;
  if (!target) return false;
  if (namemap_get(&r->scope.values, name) != value)
    return pt2_fail(r, E_GRAPH_PT2_SPEC_VALUE, name);
  bool user = row == 2;
  out->kind = OUTPUT_MUTATION;
  out->target = namemap_get(user ? &r->scope.values : &r->stored, target);
  bool ok = out->target && out->target->kind == NODE_INPUT;
  return ok || pt2_fail(r, E_GRAPH_PT2_MUTATION, target);
}

static bool read_output(Pt2 *r, const Json *output, const Json *spec_union, Arg *arg,
                        OutputSpec *out) {
  const Json *spec;
  const char *kind = pt2_union(r, spec_union, &spec);
  if (!kind || !pt2_arg(r, output, arg)) return false;
  for (int i = 0; i < (int)(sizeof mutations / sizeof *mutations); i++)
    if (!strcmp(kind, mutations[i].kind))
      return read_mutation(r, spec, i, arg->kind == ARG_NODE ? arg->node : NULL, out);
  if (!strcmp(kind, "user_output") || !strcmp(kind, "loss_output")) return true;
  return pt2_lack(r, E_GRAPH_PT2_SPEC_KIND, kind);
}

bool pt2_outputs(Pt2 *r, const Json *graph, const Json *signature) {
  r->where = "graph";
  const Json *outputs = pt2_array(r, graph, "outputs");
  const Json *specs = outputs ? pt2_array(r, signature, "output_specs") : NULL;
  if (!same_length(r, outputs, specs, "outputs")) return false;
  uint32_t count = (uint32_t)json_length(outputs);
  Arg list = arg_list(r->graph, count);
  list.tuple = true;
  r->graph->outputs = ARENA_ARRAY(r->arena, OutputSpec, count);
  for (uint32_t i = 0; i < count; i++) {
    r->where = arena_printf(r->arena, "output %u", i);
    if (!read_output(r, json_item(outputs, i), json_item(specs, i), &list.items[i],
                     &r->graph->outputs[i]))
      return false;
  }
  Node *n = graph_node(r->graph, NODE_OUTPUT, NULL, 1, 0);
  n->place = r->place;
  n->args[0] = list;
  graph_fresh_name(r->graph, n, "output");
  return true;
}
