/* Regions: calls of higher-order operators that run a graph of their own as it is, only under
 * another setting of PyTorch's.  Their nodes become the caller's. */
#include <string.h>

#include "graph/import/pt2/pt2_read.h"
#include "graph/messages.h"

/* ---- which operators ---- */

/* torch.no_grad() changes no result.  (enabled, graph, operands...) */
static const char grad_mode[] = "higher_order.wrap_with_set_grad_enabled";
/* Nor does torch.autocast(..., enabled=False).  (device, dtype, enabled, cache, graph, ...) */
static const char autocast[] = "higher_order.wrap_with_autocast";

enum { GRAD_GRAPH = 1, AUTOCAST_ENABLED = 2, AUTOCAST_GRAPH = 4 };

static const Json *argument(const Json *inputs, size_t i, const char *kind) {
  const Json *input = i < json_length(inputs) ? json_item(inputs, i) : NULL;
  const Json *arg = json_is(input, JSON_OBJECT) ? json_get(input, "arg") : NULL;
  return json_is(arg, JSON_OBJECT) ? json_get(arg, kind) : NULL;
}

int pt2_region(const char *target, const Json *inputs) {
  int at = -1;
  if (!strcmp(target, grad_mode)) at = GRAD_GRAPH;
  else if (!strcmp(target, autocast) &&
           json_is(argument(inputs, AUTOCAST_ENABLED, "as_bool"), JSON_FALSE))
    at = AUTOCAST_GRAPH;
  return at >= 0 && json_is(argument(inputs, (size_t)at, "as_graph"), JSON_OBJECT) ? at : -1;
}

/* ---- values that go in and come out ---- */

/* The name of a value that an input or an output of a graph or a node is. */
static Name named(Pt2 *r, const Json *argument) {
  const Json *value;
  const char *kind = pt2_union(r, argument, &value);
  if (!kind) return NULL;
  if (!pt2_names_value(kind)) return pt2_fail(r, E_GRAPH_PT2_ARG_KIND, kind), NULL;
  return pt2_value_name(r, kind, value);
}

static bool find_values(Pt2 *r, const Json *arguments, Node **out) {
  for (size_t i = 0; i < json_length(arguments); i++) {
    Name name = named(r, json_item(arguments, i));
    out[i] = name ? pt2_value(r, name) : NULL;
    if (!out[i]) return false;
  }
  return true;
}

static bool define_values(Pt2 *r, const Json *arguments, Node *const *values) {
  for (size_t i = 0; i < json_length(arguments); i++) {
    Name name = named(r, json_item(arguments, i));
    if (!name || !pt2_define(r, name, values[i])) return false;
  }
  return true;
}

static bool find_operands(Pt2 *r, const Json *inputs, size_t first, Node **out) {
  for (size_t i = first; i < json_length(inputs); i++) {
    const Json *argument = pt2_object(r, json_item(inputs, i), "arg");
    Name name = argument ? named(r, argument) : NULL;
    out[i - first] = name ? pt2_value(r, name) : NULL;
    if (!out[i - first]) return false;
  }
  return true;
}

/* ---- the graph ---- */

static bool same_count(Pt2 *r, size_t given, const char *what, size_t taken) {
  return given == taken || pt2_fail(r, E_GRAPH_PT2_REGION, given, what, taken);
}

/* Within the region's own names. */
static bool read_within(Pt2 *r, const Json *graph, Node *const *operands, const Json *outputs,
                        Node **results) {
  const Json *inputs = pt2_array(r, graph, "inputs");
  return inputs && pt2_types(r, graph) && define_values(r, inputs, operands) &&
         pt2_nodes(r, graph) && find_values(r, outputs, results);
}

bool pt2_inline(Pt2 *r, const Json *node, int at) {
  const Json *inputs = pt2_array(r, node, "inputs"), *made = pt2_array(r, node, "outputs");
  const Json *region = pt2_object(r, argument(inputs, (size_t)at, "as_graph"), "graph");
  const Json *takes = region ? pt2_array(r, region, "inputs") : NULL;
  const Json *gives = takes ? pt2_array(r, region, "outputs") : NULL;
  size_t first = (size_t)at + 1, given = json_length(inputs) - first;
  if (!made || !gives || !same_count(r, given, "operands", json_length(takes)) ||
      !same_count(r, json_length(made), "results", json_length(gives)))
    return false;
  Node **operands = ARENA_ARRAY(r->arena, Node *, given);
  Node **results = ARENA_ARRAY(r->arena, Node *, json_length(made));
  if (!find_operands(r, inputs, first, operands)) return false;
  const Pt2Scope outer = r->scope;
  r->scope = (Pt2Scope){0};
  bool ok = read_within(r, region, operands, gives, results);
  r->scope = outer;
  return ok && define_values(r, made, results);
}
