/* Higher-order operators, which run graphs of their own: their nodes become the caller's.
 *
 *   set_grad, autocast   the graph as it is, under another setting of PyTorch's
 *   cond                 both graphs, of whose results a `where` takes one
 *   map, scan            the graph for each element of the first axis, whose size is known
 *   associative_scan     the same of an element and the result of those before it
 *   while_loop           the graph as often as constants say; a loop (graph/analysis/loops.h) where
 *                        data decides that, or where there are too many iterations
 *
 * Under a condition indices are 0 where the graph would not run, so that no check fails there. */
#include <string.h>

#include "graph/ops/graph_text.h"
#include "import/messages.h"
#include "import/pt2/pt2_read.h"
#include "lang/interp/interp.h"

enum { STEPS_MAX = 256 }; /* of a loop */

typedef struct {
  const Json *inputs, *made;
  bool done; /* false: the call stays, and is reported as unsupported */
} Call;

typedef VEC(Node *) Values;

/* ---- values that go in and come out ---- */

static const Json *argument_of_kind(const Json *inputs, size_t i, const char *kind) {
  const Json *input = i < json_length(inputs) ? json_item(inputs, i) : NULL;
  const Json *arg = json_is(input, JSON_OBJECT) ? json_get(input, "arg") : NULL;
  return json_is(arg, JSON_OBJECT) ? json_get(arg, kind) : NULL;
}

/* The name of a value that an input or an output of a graph or a node is. */
static Name argument_name(Pt2 *r, const Json *argument) {
  const Json *value;
  const char *kind = pt2_union(r, argument, &value);
  if (!kind) return NULL;
  if (!pt2_names_value(kind)) return pt2_fail(r, E_GRAPH_PT2_ARG_KIND, kind), NULL;
  return pt2_value_name(r, kind, value);
}

static bool add_value(Pt2 *r, Values *to, Name name) {
  Node *n = name ? pt2_value(r, name) : NULL;
  if (n) vec_push(r->arena, to, n);
  return n;
}

/* A value, or a list of tensors. */
static bool add_values(Pt2 *r, Values *to, const Json *argument) {
  const Json *tensors = json_is(argument, JSON_OBJECT) ? json_get(argument, "as_tensors") : NULL;
  if (!json_is(tensors, JSON_ARRAY)) return add_value(r, to, argument_name(r, argument));
  for (size_t i = 0; i < json_length(tensors); i++)
    if (!add_value(r, to, pt2_name(r, json_item(tensors, i), "name"))) return false;
  return true;
}

static bool find_operands(Pt2 *r, const Call *c, size_t first, size_t end, Values *out) {
  for (size_t i = first; i < end && i < json_length(c->inputs); i++) {
    const Json *argument = pt2_object(r, json_item(c->inputs, i), "arg");
    if (!argument || !add_values(r, out, argument)) return false;
  }
  return true;
}

static bool same_count(Pt2 *r, size_t given, const char *what, size_t taken) {
  return given == taken || pt2_fail(r, E_GRAPH_PT2_REGION, given, what, taken);
}

/* The names of the call's results. */
static bool define_made(Pt2 *r, const Call *c, const Values *values) {
  size_t at = 0;
  for (size_t i = 0; i < json_length(c->made); i++) {
    const Json *tensors = json_get(json_item(c->made, i), "as_tensors");
    size_t n = json_is(tensors, JSON_ARRAY) ? json_length(tensors) : 1;
    for (size_t j = 0; j < n; j++, at++) {
      Name name = n == 1 && !json_is(tensors, JSON_ARRAY)
                      ? argument_name(r, json_item(c->made, i))
                      : pt2_name(r, json_item(tensors, j), "name");
      if (!name) return false;
      if (at < values->len && !pt2_define(r, name, values->data[at])) return false;
    }
  }
  return same_count(r, at, "results", values->len);
}

/* ---- running a graph ---- */

static const Json *region_of(Pt2 *r, const Call *c, size_t at) {
  return pt2_object(r, argument_of_kind(c->inputs, at, "as_graph"), "graph");
}

static bool has_region(const Call *c, size_t at) {
  return json_is(argument_of_kind(c->inputs, at, "as_graph"), JSON_OBJECT);
}

static bool define_inputs(Pt2 *r, const Json *inputs, const Values *operands) {
  for (size_t i = 0; i < json_length(inputs); i++) {
    Name name = argument_name(r, json_item(inputs, i));
    if (!name || !pt2_define(r, name, operands->data[i])) return false;
  }
  return true;
}

static bool find_outputs(Pt2 *r, const Json *outputs, Values *results) {
  for (size_t i = 0; i < json_length(outputs); i++)
    if (!add_values(r, results, json_item(outputs, i))) return false;
  return true;
}

/* The graph's nodes for these operands, with names of their own. */
static bool run_region(Pt2 *r, const Json *region, const Values *operands, Values *results) {
  const Json *inputs = region ? pt2_array(r, region, "inputs") : NULL;
  const Json *outputs = inputs ? pt2_array(r, region, "outputs") : NULL;
  if (!outputs || !same_count(r, operands->len, "operands", json_length(inputs))) return false;
  const char *where = r->where;
  const Pt2Scope outer = r->scope;
  r->scope = (Pt2Scope){.guard = outer.guard, .autocast = outer.autocast};
  bool ok = pt2_types(r, region) && define_inputs(r, inputs, operands) && pt2_nodes(r, region) &&
            find_outputs(r, outputs, results);
  r->scope = outer;
  if (ok) r->where = where;
  return ok;
}

/* ---- nodes between them ---- */

static Node *new_node(Pt2 *r, OpId op, const char *name, uint32_t nargs) {
  Node *n = graph_node(r->graph, NODE_CALL, NULL, nargs, 0);
  n->op = ops_at(op);
  n->location = r->location;
  graph_fresh_name(r->graph, n, name);
  return n;
}

static Node *element(Pt2 *r, Node *x, int64_t i) {
  Node *n = new_node(r, OP_aten_select_int, "select", 3);
  n->args[0] = arg_node(x);
  n->args[1] = arg_int(r->graph, 0);
  n->args[2] = arg_int(r->graph, i);
  const ValueType *t = &x->type;
  if (t->kind == VALUE_TENSOR && t->rank) {
    n->type = value_tensor(r->graph, t->dtype, t->rank - 1, t->shape + 1);
    n->type.is_complex = t->is_complex;
  }
  return n;
}

static Node *stacked(Pt2 *r, Node *const *x, uint32_t n) {
  Node *y = new_node(r, OP_aten_stack_default, "stack", 1);
  y->args[0] = arg_list(r->graph, n);
  for (uint32_t i = 0; i < n; i++) y->args[0].items[i] = arg_node(x[i]);
  return y;
}

static Node *chosen(Pt2 *r, Node *condition, Node *x, Node *y) {
  Node *n = new_node(r, OP_aten_where_self, "where", 3);
  n->args[0] = arg_node(condition);
  n->args[1] = arg_node(x);
  n->args[2] = arg_node(y);
  n->type = x->type;
  return n;
}

static Node *logical(Pt2 *r, OpId op, Node *x, Node *y) {
  Node *n = new_node(r, op, "guard", y ? 2 : 1);
  n->args[0] = arg_node(x);
  if (y) n->args[1] = arg_node(y);
  n->type = value_tensor(r->graph, DT_I1, 0, NULL);
  return n;
}

/* ---- settings ---- */

static bool run_as_it_is(Pt2 *r, Call *c, size_t at) {
  Values operands = {0}, results = {0};
  if (!find_operands(r, c, at + 1, SIZE_MAX, &operands)) return false;
  return run_region(r, region_of(r, c, at), &operands, &results) && define_made(r, c, &results);
}

/* torch.no_grad() changes no result.  (enabled, graph, operands...) */
static bool set_grad(Pt2 *r, Call *c) {
  enum { GRAPH = 1 };
  c->done = has_region(c, GRAPH);
  return !c->done || run_as_it_is(r, c, GRAPH);
}

/* (device, dtype, enabled, cache, graph, operands...) */
static bool autocast(Pt2 *r, Call *c) {
  enum { DTYPE = 1, ENABLED, CACHE, GRAPH };
  const Json *number = argument_of_kind(c->inputs, DTYPE, "as_scalar_type");
  const Json *enabled = argument_of_kind(c->inputs, ENABLED, "as_bool");
  bool off = json_is(enabled, JSON_FALSE);
  const char *name = json_is(number, JSON_INTEGER) ? pt2_dtype_name(number->integer) : NULL;
  DType t = name ? dtype_from_torch(name, strlen(name)) : DT_NONE;
  c->done = has_region(c, GRAPH) && (off || t == DT_F16 || t == DT_BF16);
  if (!c->done) return true;
  DType outer = r->scope.autocast;
  r->scope.autocast = off ? DT_NONE : t;
  bool ok = run_as_it_is(r, c, GRAPH);
  r->scope.autocast = outer;
  return ok;
}

/* ---- cond: (condition, graph, graph, operands) ---- */

static bool run_guarded(Pt2 *r, const Call *c, size_t at, Node *guard, const Values *operands,
                        Values *results) {
  Node *outer = r->scope.guard;
  r->scope.guard = outer ? logical(r, OP_aten_logical_and_default, outer, guard) : guard;
  bool ok = run_region(r, region_of(r, c, at), operands, results);
  r->scope.guard = outer;
  return ok;
}

/* A condition on sizes becomes a tensor of one truth value.  NULL: it is something else. */
static Node *condition_tensor(Pt2 *r, Node *x) {
  if (x->type.kind == VALUE_TENSOR) return x;
  if (x->type.kind != VALUE_BOOL) return NULL;
  Node *n = graph_node(r->graph, NODE_CALL, NULL, 2, 1);
  n->op = ops_at(OP_aten_full_default);
  n->location = r->location;
  n->args[0] = arg_list(r->graph, 0);
  n->args[1] = arg_node(x);
  Arg dtype = {.kind = ARG_DTYPE, .dtype = DT_I1, .name = dtype_torch_name(DT_I1)};
  n->named[0] = (NamedArg){pool_name(r->names, "dtype"), dtype};
  n->type = value_tensor(r->graph, DT_I1, 0, NULL);
  graph_fresh_name(r->graph, n, "condition");
  return n;
}

static bool cond(Pt2 *r, Call *c) {
  enum { CONDITION, THEN, OTHERWISE, OPERANDS };
  Values condition = {0}, operands = {0}, yes = {0}, no = {0}, results = {0};
  const Json *known = argument_of_kind(c->inputs, CONDITION, "as_bool");
  c->done = has_region(c, THEN) && has_region(c, OTHERWISE);
  if (!c->done) return true;
  if (!find_operands(r, c, OPERANDS, SIZE_MAX, &operands)) return false;
  if (known) {
    size_t at = json_is(known, JSON_TRUE) ? THEN : OTHERWISE;
    return run_region(r, region_of(r, c, at), &operands, &yes) && define_made(r, c, &yes);
  }
  if (!find_operands(r, c, CONDITION, THEN, &condition)) return false;
  Node *is_true = condition_tensor(r, condition.data[0]);
  if (!is_true) return c->done = false, true;
  Node *is_false = logical(r, OP_aten_logical_not_default, is_true, NULL);
  if (!run_guarded(r, c, THEN, is_true, &operands, &yes)) return false;
  if (!run_guarded(r, c, OTHERWISE, is_false, &operands, &no)) return false;
  if (!same_count(r, yes.len, "results", no.len)) return false;
  for (size_t i = 0; i < yes.len; i++)
    vec_push(r->arena, &results, chosen(r, is_true, yes.data[i], no.data[i]));
  return define_made(r, c, &results);
}

/* ---- loops over a first axis ---- */

/* How many elements; false if that is not known, which is reported. */
static bool count_steps(Pt2 *r, const Values *xs, int64_t *steps) {
  const ValueType *t = xs->len ? &xs->data[0]->type : NULL;
  bool known = t && t->kind == VALUE_TENSOR && t->rank && dim_is_int(t->shape[0]);
  *steps = known ? t->shape[0]->value : 0;
  if (!known) return pt2_lack(r, E_GRAPH_PT2_STEPS), false;
  if (*steps > 0 && *steps <= STEPS_MAX) return true;
  return pt2_lack(r, E_GRAPH_PT2_STEPS_MAX, (long long)*steps, STEPS_MAX), false;
}

static void add_all(Pt2 *r, Values *to, const Values *from) {
  for (size_t i = 0; i < from->len; i++) vec_push(r->arena, to, from->data[i]);
}

static void add_elements(Pt2 *r, Values *to, const Values *xs, int64_t i) {
  for (size_t k = 0; k < xs->len; k++) vec_push(r->arena, to, element(r, xs->data[k], i));
}

/* Each result of a step as a tensor of those of all steps, which `all` has one after the other. */
static void add_stacked(Pt2 *r, Values *to, const Values *all, int64_t steps) {
  Node **column = ARENA_ARRAY(r->arena, Node *, (size_t)steps);
  size_t n = all->len / (size_t)steps;
  for (size_t k = 0; k < n; k++) {
    for (int64_t i = 0; i < steps; i++) column[i] = all->data[(size_t)i * n + k];
    vec_push(r->arena, to, stacked(r, column, (uint32_t)steps));
  }
}

/* Runs the graph for each element; the first results of a step are the carried values of the
 * next.  The others are stacked. */
static bool run_steps(Pt2 *r, Call *c, Values carried, const Values *xs, const Values *more) {
  int64_t steps;
  Values results = {0}, all = {0};
  size_t ncarried = carried.len;
  if (!count_steps(r, xs, &steps)) return c->done = false, true;
  for (int64_t i = 0; i < steps; i++) {
    Values operands = {0};
    results = (Values){0};
    add_all(r, &operands, &carried);
    add_elements(r, &operands, xs, i);
    add_all(r, &operands, more);
    if (!run_region(r, region_of(r, c, 0), &operands, &results)) return false;
    if (results.len < ncarried) return same_count(r, ncarried, "carried values", results.len);
    carried = (Values){0};
    for (size_t k = 0; k < ncarried; k++) vec_push(r->arena, &carried, results.data[k]);
    for (size_t k = ncarried; k < results.len; k++) vec_push(r->arena, &all, results.data[k]);
  }
  add_stacked(r, &carried, &all, steps);
  return define_made(r, c, &carried);
}

/* (graph, xs, further operands) */
static bool associative_scan(Pt2 *r, Call *c) {
  int64_t steps;
  Values xs = {0}, more = {0}, all = {0}, last = {0}, stacks = {0};
  c->done = has_region(c, 0);
  if (!c->done) return true;
  if (!find_operands(r, c, 1, 2, &xs) || !find_operands(r, c, 2, SIZE_MAX, &more)) return false;
  if (!count_steps(r, &xs, &steps)) return c->done = false, true;
  add_elements(r, &last, &xs, 0);
  add_all(r, &all, &last);
  for (int64_t i = 1; i < steps; i++) {
    Values operands = {0};
    add_all(r, &operands, &last);
    add_elements(r, &operands, &xs, i);
    add_all(r, &operands, &more);
    last = (Values){0};
    if (!run_region(r, region_of(r, c, 0), &operands, &last)) return false;
    if (!same_count(r, last.len, "values", xs.len)) return false;
    add_all(r, &all, &last);
  }
  add_stacked(r, &stacks, &all, steps);
  return define_made(r, c, &stacks);
}

/* (graph, initial values, xs, further operands) */
static bool scan(Pt2 *r, Call *c) {
  Values init = {0}, xs = {0}, more = {0};
  c->done = has_region(c, 0);
  return !c->done || (find_operands(r, c, 1, 2, &init) && find_operands(r, c, 2, 3, &xs) &&
                      find_operands(r, c, 3, SIZE_MAX, &more) && run_steps(r, c, init, &xs, &more));
}

/* (graph, xs, further operands) */
static bool map(Pt2 *r, Call *c) {
  Values xs = {0}, more = {0};
  c->done = has_region(c, 0);
  return !c->done || (find_operands(r, c, 1, 2, &xs) && find_operands(r, c, 2, SIZE_MAX, &more) &&
                      run_steps(r, c, (Values){0}, &xs, &more));
}

/* ---- numbers that constants decide ---- */

static bool number_of(Pt2 *r, const Node *n, double *out);

static bool number_arg(Pt2 *r, const Node *n, uint32_t i, double *out) {
  if (i >= n->nargs) return false;
  const Arg *a = &n->args[i];
  switch (a->kind) {
    case ARG_NODE: return number_of(r, a->node, out);
    case ARG_INT: *out = dim_is_int(a->dim) ? (double)a->dim->value : 0; return dim_is_int(a->dim);
    case ARG_FLOAT: *out = a->number; return true;
    case ARG_BOOL: *out = a->flag; return true;
    default: return false;
  }
}

static bool is_whole(const Node *n) {
  return n->type.kind == VALUE_TENSOR && dtype_is_int(n->type.dtype) && n->type.rank == 0;
}

static bool number_of_two(Pt2 *r, const Node *n, double *out) {
  double a, b;
  if (n->nnamed || n->nargs != 2 || !number_arg(r, n, 0, &a) || !number_arg(r, n, 1, &b))
    return false;
  switch (n->op->id) {
    case OP_aten_add_Tensor: *out = a + b; return is_whole(n);
    case OP_aten_sub_Tensor: *out = a - b; return is_whole(n);
    case OP_aten_mul_Tensor: *out = a * b; return is_whole(n);
    case OP_aten_lt_Scalar:
    case OP_aten_lt_Tensor: *out = a < b; return true;
    case OP_aten_le_Scalar:
    case OP_aten_le_Tensor: *out = a <= b; return true;
    case OP_aten_gt_Scalar:
    case OP_aten_gt_Tensor: *out = a > b; return true;
    case OP_aten_ge_Scalar:
    case OP_aten_ge_Tensor: *out = a >= b; return true;
    case OP_aten_eq_Scalar:
    case OP_aten_eq_Tensor: *out = a == b; return true;
    case OP_aten_ne_Scalar:
    case OP_aten_ne_Tensor: *out = a != b; return true;
    case OP_aten_bitwise_and_Tensor:
    case OP_aten_logical_and_default: *out = a && b; return n->type.dtype == DT_I1;
    default: return false;
  }
}

/* The number of a tensor that the model's code made once. */
static bool number_of_constant(Pt2 *r, const Node *n, double *out) {
  bool constant = n->input.kind == INPUT_CONSTANT && n->input.tensor;
  const Weight *w = constant ? weights_find(r->weights, n->input.tensor) : NULL;
  if (!w || w->rank || !dtype_is_int(w->dtype) || !w->data) return false;
  *out = (double)scalar_load(w->dtype, w->data).i;
  return true;
}

/* A whole number, or a truth value, that constants make; of floats nothing is said. */
static bool number_of(Pt2 *r, const Node *n, double *out) {
  if (n->kind == NODE_INPUT) return number_of_constant(r, n, out);
  if (n->kind != NODE_CALL || n->type.kind != VALUE_TENSOR || n->type.rank) return false;
  if (!dtype_is_int(n->type.dtype)) return false;
  switch (n->op->id) {
    case OP_aten_zeros_default: *out = 0; return true;
    case OP_aten_ones_default: *out = 1; return true;
    case OP_aten_full_default: return number_arg(r, n, 1, out);
    case OP_aten_scalar_tensor_default:
    case OP_aten_clone_default:
    case OP_aten_detach_default:
    case OP_aten_detach__default:
    case OP_aten_alias_default:
    case OP_aten_lift_fresh_copy_default: return number_arg(r, n, 0, out);
    case OP_aten_logical_not_default:
      if (!number_arg(r, n, 0, out)) return false;
      *out = *out == 0;
      return true;
    default: return number_of_two(r, n, out);
  }
}

/* ---- while_loop: (graph of the condition, graph, carried values, further operands) ---- */

typedef enum { LOOP_ENDS, LOOP_GOES_ON, LOOP_UNKNOWN, LOOP_FAILED } Condition;

static Condition read_condition(Pt2 *r, const Call *c, const Values *operands) {
  Values condition = {0};
  double value;
  if (!run_region(r, region_of(r, c, 0), operands, &condition)) return LOOP_FAILED;
  if (!same_count(r, condition.len, "conditions", 1)) return LOOP_FAILED;
  if (!number_of(r, condition.data[0], &value)) return LOOP_UNKNOWN;
  return value != 0 ? LOOP_GOES_ON : LOOP_ENDS;
}

static Node *carried_value(Pt2 *r, Node *initial) {
  Node *n = new_node(r, OP_nereid_carried_default, "carried", 2);
  n->args[0] = arg_node(initial);
  n->args[1] = arg_int(r->graph, (int64_t)n->id);
  n->type = initial->type;
  return n;
}

static Node *loop_test(Pt2 *r, Node *condition) {
  Node *n = new_node(r, OP_nereid_loop_test_default, "test", 2);
  n->args[0] = arg_node(condition);
  n->args[1] = arg_int(r->graph, (int64_t)n->id);
  n->type = condition->type;
  return n;
}

static Arg list_of(Pt2 *r, const Values *x) {
  Arg a = arg_list(r->graph, (uint32_t)x->len);
  for (uint32_t i = 0; i < a.n; i++) a.items[i] = arg_node(x->data[i]);
  return a;
}

static Values loop_results(Pt2 *r, Node *test, const Values *carried, const Values *next) {
  Values results = {0};
  Node *end = new_node(r, OP_nereid_loop_end_default, "end", 3);
  end->args[0] = arg_node(test);
  end->args[1] = list_of(r, carried);
  end->args[2] = list_of(r, next);
  end->type = test->type;
  for (size_t i = 0; i < carried->len; i++) {
    Node *n = new_node(r, OP_nereid_loop_result_default, "result", 2);
    n->args[0] = arg_node(carried->data[i]);
    n->args[1] = arg_node(end);
    n->type = carried->data[i]->type;
    vec_push(r->arena, &results, n);
  }
  return results;
}

/* The tensor that a loop reads; under a condition that is false it does not begin.  NULL: what the
 * graph gives is none, or an error was reported. */
static Node *loop_condition(Pt2 *r, const Call *c, const Values *operands) {
  Values condition = {0};
  if (!run_region(r, region_of(r, c, 0), operands, &condition)) return NULL;
  if (!same_count(r, condition.len, "conditions", 1)) return NULL;
  Node *is_true = condition_tensor(r, condition.data[0]), *guard = r->scope.guard;
  if (!is_true) pt2_lack(r, E_GRAPH_PT2_WHILE);
  return is_true && guard ? logical(r, OP_aten_logical_and_default, guard, is_true) : is_true;
}

static bool build_loop(Pt2 *r, Call *c, const Values *initial, const Values *more) {
  Values carried = {0}, operands = {0}, next = {0};
  bool tensors = initial->len > 0;
  for (size_t i = 0; i < initial->len; i++) tensors &= initial->data[i]->type.kind == VALUE_TENSOR;
  if (!tensors) return c->done = false, pt2_lack(r, E_GRAPH_PT2_WHILE);
  for (size_t i = 0; i < initial->len; i++)
    vec_push(r->arena, &carried, carried_value(r, initial->data[i]));
  add_all(r, &operands, &carried);
  add_all(r, &operands, more);
  Node *condition = loop_condition(r, c, &operands), *guard = r->scope.guard;
  if (!condition) return c->done = false, r->lacking;
  Node *test = loop_test(r, condition);
  r->scope.guard = NULL;
  bool ok = run_region(r, region_of(r, c, 1), &operands, &next);
  r->scope.guard = guard;
  if (!ok || !same_count(r, next.len, "carried values", carried.len)) return false;
  Values results = loop_results(r, test, &carried, &next);
  return define_made(r, c, &results);
}

static bool while_loop(Pt2 *r, Call *c) {
  enum { CONDITION, BODY, CARRIED, FURTHER };
  Values carried = {0}, more = {0};
  c->done = has_region(c, CONDITION) && has_region(c, BODY);
  if (!c->done) return true;
  if (!find_operands(r, c, CARRIED, FURTHER, &carried)) return false;
  if (!find_operands(r, c, FURTHER, SIZE_MAX, &more)) return false;
  const Values initial = carried;
  for (int64_t i = 0;; i++) {
    Values operands = {0}, results = {0};
    add_all(r, &operands, &carried);
    add_all(r, &operands, &more);
    Condition next = read_condition(r, c, &operands);
    if (next == LOOP_FAILED) return false;
    if (next == LOOP_ENDS) return define_made(r, c, &carried);
    if (next == LOOP_UNKNOWN || i == STEPS_MAX) return build_loop(r, c, &initial, &more);
    if (!run_region(r, region_of(r, c, BODY), &operands, &results)) return false;
    if (!same_count(r, results.len, "carried values", carried.len)) return false;
    carried = results;
  }
}

/* ---- which operators ---- */

static const struct {
  const char *target;
  bool (*rule)(Pt2 *r, Call *c);
} regions[] = {
    {"higher_order.wrap_with_set_grad_enabled", set_grad},
    {"higher_order.wrap_with_autocast", autocast},
    {"higher_order.cond", cond},
    {"higher_order.scan", scan},
    {"higher_order.associative_scan", associative_scan},
    {"higher_order.map_impl", map},
    {"higher_order.while_loop", while_loop},
};

bool pt2_region(Pt2 *r, const char *target, const Json *inputs, const Json *made, bool *done) {
  Call c = {inputs, made, false};
  *done = false;
  for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
    if (!strcmp(regions[i].target, target)) {
      bool ok = regions[i].rule(r, &c);
      *done = c.done;
      return ok;
    }
  return true;
}
