/* Nodes: each call of an operator, and a getitem for each item of a result that is a list, which
 * the file leaves out. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import/messages.h"
#include "import/pt2/pt2_read.h"
#include "import/text/complex_number.h"

/* ---- where the model's source made a node ---- */

typedef struct {
  const char *file, *line, *function;
  size_t file_len, line_len;
} Frame;

/* `File "m.py", line 3, in forward`, as a line of Python's traceback. */
static bool parse_frame(const char *text, Frame *f) {
  static const char head[] = "File \"", middle[] = "\", line ", tail[] = ", in ";
  if (strncmp(text, head, sizeof head - 1)) return false;
  f->file = text + sizeof head - 1;
  const char *end = strstr(f->file, middle);
  if (!end || end == f->file) return false;
  f->file_len = (size_t)(end - f->file);
  f->line = end + sizeof middle - 1;
  f->line_len = strspn(f->line, "0123456789");
  const char *rest = f->line + f->line_len;
  if (!f->line_len || strncmp(rest, tail, sizeof tail - 1)) return false;
  f->function = rest + sizeof tail - 1;
  return *f->function;
}

/* Control characters could end the comment that this is printed in. */
static char *clean(char *s) {
  for (char *p = s; *p; p++)
    if ((unsigned char)*p < ' ' || *p == 127) *p = ' ';
  return s;
}

/* Takes the blanks off both ends. */
static char *strip(char *s) {
  while (isspace((unsigned char)*s)) s++;
  for (size_t n = strlen(s); n && isspace((unsigned char)s[n - 1]);) s[--n] = 0;
  return s;
}

/* A file of PyTorch's own, such as torch/nn/modules/linear.py. */
static bool is_of_torch(const Frame *f) {
  static const char FOLDER[] = "/torch/";
  return memmem(f->file, f->file_len, FOLDER, sizeof FOLDER - 1);
}

/* The innermost frame of a traceback that has a line of code, "File: m.py:3 in forward, code: x",
 * as FX says it: of the model, unless all are PyTorch's. */
static Name trace_origin(Pt2 *r, const char *trace) {
  char *rest = arena_strndup(r->arena, trace, strlen(trace)), *line, *origin = NULL;
  Frame f = {0};
  bool in_frame = false, of_model = false;
  while ((line = strsep(&rest, "\n"))) {
    line = strip(clean(line));
    if (parse_frame(line, &f)) {
      in_frame = true;
    } else if (in_frame) {
      in_frame = false;
      bool own = !is_of_torch(&f);
      if (of_model && !own) continue;
      of_model = own;
      origin = arena_printf(r->arena, "File: %.*s:%.*s in %s, code: %s", (int)f.file_len, f.file,
                            (int)f.line_len, f.line, f.function, line);
    }
  }
  return origin ? pool_name(r->names, strip(origin)) : NULL;
}

static bool read_origin(Pt2 *r, const Json *node, Name *out) {
  *out = NULL;
  if (!pt2_has(node, "metadata")) return true;
  const Json *metadata = pt2_object(r, node, "metadata");
  if (!metadata || !pt2_has(metadata, "stack_trace")) return metadata;
  const char *trace = pt2_string(r, metadata, "stack_trace");
  if (trace) *out = trace_origin(r, trace);
  return trace;
}

/* ---- operators ---- */

/* Identifiers with dots between. */
static bool is_dotted(Pt2 *r, const char *s) {
  char *rest = arena_strndup(r->arena, s, strlen(s)), *part;
  bool ok = strchr(s, '.');
  while (ok && (part = strsep(&rest, "."))) ok = pt2_identifier(part);
  return ok;
}

/* "aten.add.Tensor" of "torch.ops.aten.add.Tensor"; others stay: "_operator.add". */
static const char *read_target(Pt2 *r, const Json *node) {
  static const char prefix[] = "torch.ops.";
  const char *target = pt2_name(r, node, "target");
  if (!target) return NULL;
  if (!is_dotted(r, target)) return pt2_fail(r, E_GRAPH_PT2_TARGET, target), NULL;
  return strncmp(target, prefix, sizeof prefix - 1) ? target : target + sizeof prefix - 1;
}

/* ---- arguments ---- */

enum { POSITIONAL = 1, KEYWORD = 2 };

/* Files of older minor versions don't say whether an argument was given by name; and another
 * version of the operator's library may have the parameter at another place. */
static bool is_named_argument(const OpSchema *s, const Json *input, uint32_t positional) {
  bool said = json_is(json_get(input, "kind"), JSON_INTEGER);
  if (said && json_get(input, "kind")->integer == KEYWORD) return true;
  int at = s && json_is(json_get(input, "name"), JSON_STRING)
               ? ops_param(s, json_get(input, "name")->string)
               : -1;
  return at >= 0 && (s->params[at].named_only || (uint32_t)at != positional);
}

/* Python's complex numbers. */
static bool read_complex(Pt2 *r, Node *n, const Json *value, Arg *out) {
  double parts[2];
  static const char *const keys[] = {"real", "imag"};
  for (int i = 0; i < 2; i++) {
    const Json *number = json_is(value, JSON_OBJECT) ? json_get(value, keys[i]) : NULL;
    if (!number || !pt2_float(r, number, &parts[i]))
      return pt2_fail(r, E_GRAPH_PT2_ARG, "a complex number");
  }
  Graph *g = r->graph;
  *out = arg_node(import_complex_number(g, n, parts[0], parts[1], r->location));
  return true;
}

static bool read_node_input(Pt2 *r, Node *n, const OpSchema *s, const Json *input, Arg *out) {
  const Json *value;
  const char *name = pt2_string(r, input, "name");
  const Json *argument = name ? pt2_object(r, input, "arg") : NULL;
  const char *kind = argument ? pt2_union(r, argument, &value) : NULL;
  if (!kind) return false;
  /* The operator is reported; what it takes need not be understood. */
  if (!n->op->schema && !pt2_arg_is_known(kind)) return *out = arg_none(), true;
  if (s && !is_named_argument(s, input, n->nargs)) {
    if (n->nargs >= s->npositional || (*name && strcmp(s->params[n->nargs].name, name)))
      return pt2_fail(r, E_GRAPH_PT2_POSITION, name, n->nargs + 1, n->op->target);
  }
  if (!strcmp(kind, "as_complex")) return read_complex(r, n, value, out);
  return pt2_arg(r, argument, out);
}

static bool read_node_inputs(Pt2 *r, Node *n, const Json *inputs, size_t first) {
  const OpSchema *s = n->op->schema ? ops_schema(r->graph, n->op) : NULL;
  n->nargs = n->nnamed = 0; /* there is room for all of them in both */
  for (size_t i = first; i < json_length(inputs); i++) {
    const Json *input = json_item(inputs, i);
    Arg arg;
    if (!read_node_input(r, n, s, input, &arg)) return false;
    if (!is_named_argument(s, input, n->nargs)) {
      n->args[n->nargs++] = arg;
      continue;
    }
    Name name = pt2_name(r, input, "name");
    if (!name) return false;
    if (!pt2_identifier(name)) return pt2_fail(r, E_GRAPH_PT2_IDENTIFIER, name);
    for (uint32_t k = 0; k < n->nnamed; k++)
      if (n->named[k].name == name) return pt2_fail(r, E_GRAPH_PT2_TWICE, name);
    n->named[n->nnamed++] = (NamedArg){name, arg};
  }
  return true;
}

/* ---- results ---- */

static bool read_item(Pt2 *r, Node *list, uint32_t i, const char *kind, const Json *value,
                      ValueType *type) {
  Name name = pt2_value_name(r, kind, value);
  if (!name || !pt2_value_type(r, kind, name, type)) return false;
  Node *n = graph_node(r->graph, NODE_GETITEM, NULL, 2, 0);
  n->args[0] = arg_node(list);
  n->args[1] = arg_int(r->graph, i);
  n->type = *type;
  n->origin = list->origin;
  n->location = list->location;
  return pt2_name_node(r, n, name) && pt2_define(r, name, n);
}

static ValueType *make_list(Pt2 *r, Node *n, size_t count) {
  ValueType *items = ARENA_ARRAY(r->arena, ValueType, count);
  n->type = (ValueType){.kind = VALUE_LIST, .items = items, .nitems = (uint32_t)count};
  return items;
}

/* as_tensors: [{"name": ...}, ...] */
static bool read_tensors(Pt2 *r, Node *n, const Json *tensors) {
  if (!json_is(tensors, JSON_ARRAY)) return pt2_fail(r, E_GRAPH_PT2_ARG, "an array");
  ValueType *items = make_list(r, n, json_length(tensors));
  for (uint32_t i = 0; i < n->type.nitems; i++)
    if (!read_item(r, n, i, "as_tensor", json_item(tensors, i), &items[i])) return false;
  return true;
}

/* A list within a tuple: the getitem that takes it out has no name in the file. */
static bool read_nested(Pt2 *r, Node *tuple, uint32_t i, const Json *tensors, ValueType *type) {
  Node *n = graph_node(r->graph, NODE_GETITEM, NULL, 2, 0);
  n->args[0] = arg_node(tuple);
  n->args[1] = arg_int(r->graph, i);
  n->origin = tuple->origin;
  n->location = tuple->location;
  graph_fresh_name(r->graph, n, "getitem");
  bool ok = read_tensors(r, n, tensors);
  *type = n->type;
  return ok;
}

static bool read_part(Pt2 *r, Node *tuple, uint32_t i, const Json *output, ValueType *type) {
  const Json *value;
  const char *kind = pt2_union(r, output, &value);
  if (!kind) return false;
  if (!strcmp(kind, "as_none")) return type->kind = VALUE_NONE, true;
  if (!strcmp(kind, "as_tensors")) return read_nested(r, tuple, i, value, type);
  if (pt2_names_value(kind)) return read_item(r, tuple, i, kind, value, type);
  return pt2_fail(r, E_GRAPH_PT2_ARG_KIND, kind);
}

static bool read_tuple(Pt2 *r, Node *n, const Json *outputs, size_t first) {
  ValueType *items = make_list(r, n, json_length(outputs) - first);
  for (uint32_t i = 0; i < n->type.nitems; i++)
    if (!read_part(r, n, i, json_item(outputs, first + i), &items[i])) return false;
  return true;
}

static bool read_single(Pt2 *r, Node *n, const char *kind, const Json *value) {
  if (!strcmp(kind, "as_tensors")) return read_tensors(r, n, value);
  if (!strcmp(kind, "as_none")) return n->type.kind = VALUE_NONE, true;
  if (!pt2_names_value(kind)) return pt2_fail(r, E_GRAPH_PT2_ARG_KIND, kind);
  Name name = pt2_value_name(r, kind, value);
  return name && pt2_value_type(r, kind, name, &n->type) && pt2_define(r, name, n);
}

static bool read_node_outputs(Pt2 *r, Node *n, const Json *outputs, size_t first) {
  const Json *value;
  if (json_length(outputs) <= first) return n->type.kind = VALUE_NONE, true;
  if (json_length(outputs) > first + 1) return read_tuple(r, n, outputs, first);
  const char *kind = pt2_union(r, json_item(outputs, first), &value);
  return kind && read_single(r, n, kind, value);
}

/* ---- nodes ---- */

/* Files of older minor versions name values only, not nodes. */
static Name read_node_name(Pt2 *r, const Json *node, const char *target) {
  const Json *value;
  if (pt2_has(node, "name")) return pt2_name(r, node, "name");
  const Json *outputs = json_get(node, "outputs");
  if (json_length(outputs) == 1) {
    const char *kind = pt2_union(r, json_item(outputs, 0), &value);
    if (!kind) return NULL;
    if (pt2_names_value(kind)) return pt2_value_name(r, kind, value);
  }
  const char *op = strchr(target, '.') ? strchr(target, '.') + 1 : target;
  return pool_namen(r->names, op, strcspn(op, "."));
}

/* The operator that a call with effects calls: (token, operator, its arguments).  Effects are in
 * the order of the nodes, so that tokens say nothing more: the one that comes out is the one that
 * goes in. */
static const char *read_effect(Pt2 *r, const Json *inputs, const Json *outputs) {
  static const char prefix[] = "torch.ops.";
  const Json *token = pt2_object(r, json_item(inputs, 0), "arg");
  const Json *arg = token ? pt2_object(r, json_item(inputs, 1), "arg") : NULL, *in, *out;
  const char *target = arg ? pt2_string(r, arg, "as_operator") : NULL;
  const char *from = target ? pt2_union(r, token, &in) : NULL;
  const char *to = from ? pt2_union(r, json_item(outputs, 0), &out) : NULL;
  Name taken = to ? pt2_value_name(r, from, in) : NULL;
  Node *n = taken ? pt2_value(r, taken) : NULL;
  Name given = n ? pt2_value_name(r, to, out) : NULL;
  if (!given || !pt2_define(r, given, n)) return NULL;
  return strncmp(target, prefix, sizeof prefix - 1) ? target : target + sizeof prefix - 1;
}

static bool read_json_node(Pt2 *r, const Json *node, size_t i) {
  enum { TOKEN = 1, OPERATOR };
  r->where = arena_printf(r->arena, "node %zu", i);
  const char *target = read_target(r, node);
  Name name = target ? read_node_name(r, node, target) : NULL;
  if (!name) return false;
  r->where = arena_printf(r->arena, "node %s", name);
  const Json *inputs = pt2_array(r, node, "inputs"), *outputs = pt2_array(r, node, "outputs");
  if (!inputs || !outputs) return false;
  bool done, effect = !strcmp(target, "higher_order.with_effects") &&
                      json_length(inputs) >= OPERATOR && json_length(outputs) >= TOKEN;
  if (effect && !(target = read_effect(r, inputs, outputs))) return false;
  if (!pt2_access_part(r, target, inputs, outputs, &done)) return false;
  if (!done && !pt2_region(r, target, inputs, outputs, &done)) return false;
  if (done) return true;
  uint32_t room = (uint32_t)json_length(inputs);
  Node *n = graph_node(r->graph, NODE_CALL, NULL, room, room);
  n->op = ops_row(r->graph, target);
  n->location = r->location;
  return read_origin(r, node, &n->origin) && pt2_name_node(r, n, name) &&
         read_node_inputs(r, n, inputs, effect ? OPERATOR : 0) &&
         read_node_outputs(r, n, outputs, effect ? TOKEN : 0) && pt2_apply_scope(r, n);
}

bool pt2_nodes(Pt2 *r, const Json *graph) {
  r->where = "graph";
  const Json *nodes = pt2_array(r, graph, "nodes");
  for (size_t i = 0; i < json_length(nodes); i++)
    if (!read_json_node(r, json_item(nodes, i), i)) return false;
  return nodes;
}

/* ---- results that nothing takes ---- */

/* "max_pool2d_with_indices_unused_1" */
static bool is_called_unused(const char *name) {
  const char *at = strstr(name, "_unused_");
  return at && at[8] && !at[8 + strspn(at + 8, "0123456789")];
}

void pt2_drop_unused(Pt2 *r) {
  uint32_t *uses = graph_use_counts(r->graph, r->arena);
  for (Node *n = r->graph->first, *next; n; n = next) {
    next = n->next;
    if (n->kind != NODE_GETITEM || uses[n->id] || !is_called_unused(n->name)) continue;
    graph_forget_name(r->graph, n);
    graph_remove(r->graph, n);
  }
}
