/* If, Loop and Scan: the body that is chosen, or each turn of it, takes the operator's place.
 *
 * A Loop whose data decides how often it runs is a loop (graph/analysis/loops.h), and so is each
 * branch of an If of which the other may have indices that are out of range, or may not end. */
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_read.h"

/* Turns of loops are written out; this many at most. */
enum { TURNS_MAX = 2048 };

/* ---- bodies ---- */

static bool spell_body(Onnx *r, const Onnx__Graph *g) {
  bool ok = true;
  for (size_t i = 0; i < g->n_initializer && ok; i++)
    ok = onnx_spell(r, &g->initializer[i]->name, 1);
  for (size_t i = 0; i < g->n_input && ok; i++) ok = onnx_spell(r, &g->input[i]->name, 1);
  for (size_t i = 0; i < g->n_output && ok; i++) ok = onnx_spell(r, &g->output[i]->name, 1);
  return ok;
}

static OnnxValue *absent_value(Onnx *r, const char *name) {
  OnnxValue *v = onnx_value_new(r, pool_name(r->names, name));
  v->absent = true;
  return v;
}

void onnx_read_body(OnnxCall *c, const Onnx__Graph *g, OnnxValue **in, size_t nin, OnnxValue **out,
                    size_t nout) {
  Onnx *r = c->r;
  OnnxScope s = {.outer = c->scope, .path = c->branch ? onnx_body_path(c, c->branch) : NULL};
  const char *where = onnx_where(r, c->proto);
  c->told = true;
  if (g->n_input > nin || g->n_output < nout) onnx_fail(c, E_ONNX_BODY, g->n_input, g->n_output);
  if (++r->calls > ONNX_CALLS_MAX) onnx_fail(c, E_ONNX_CALLS, ONNX_CALLS_MAX);
  if (r->depth >= ONNX_BODIES_MAX) onnx_fail(c, E_ONNX_BODIES, ONNX_BODIES_MAX);
  r->depth++;
  bool ok = spell_body(r, g) && onnx_initializers(r, &s, g);
  for (size_t i = 0; i < g->n_input && ok; i++)
    *namemap_put(r->scratch, &s.values, pool_name(r->names, onnx_text(g->input[i]->name))) = in[i];
  ok = ok && onnx_nodes(r, &s, g->node, g->n_node);
  for (size_t i = 0; i < nout && ok; i++) {
    const char *name = onnx_text(g->output[i]->name);
    ok = onnx_lookup(r, &s, name, where, &out[i]);
    if (ok && !out[i] && !*name) ok = onnx_error(r, where, E_GRAPH_UNDEFINED, name);
    if (ok && !out[i]) out[i] = absent_value(r, name);
  }
  r->depth--;
  for (size_t i = 0; i < nout && ok; i++)
    ok = out[i]->type.kind == VALUE_TENSOR || out[i]->type.kind == VALUE_LIST || out[i]->absent;
  if (!ok) longjmp(c->b.in.failed, 1);
  c->told = false;
}

static OnnxValue **values_new(OnnxCall *c, size_t n) {
  return ARENA_ARRAY(c->r->scratch, OnnxValue *, n);
}

OnnxValue *onnx_value_of_node(OnnxCall *c, Node *n) {
  OnnxValue *v = onnx_value_new(c->r, n->name);
  v->node = n;
  v->type = n->type;
  return v;
}

/* A value whose elements have the form of those of `of`. */
static OnnxValue *value_like(OnnxCall *c, const OnnxValue *of, Node *n) {
  OnnxValue *v = onnx_value_of_node(c, n);
  v->form = of->form;
  return v;
}

static OnnxValue *value_of_int(OnnxCall *c, int64_t value, DType t) {
  OnnxValue *v = onnx_value_new(c->r, c->stand.name);
  OnnxKnown *k = onnx_known_new(c, t, 0, NULL);
  k->at[0].dim = build_const(&c->b, value);
  onnx_value_set_known(c->r, v, k);
  return v;
}

/* Tensors of one shape along a new axis. */
static Node *stacked(OnnxCall *c, OnnxValue **items, size_t n, uint32_t axis, bool reverse) {
  Arg list = arg_list(c->b.in.g, (uint32_t)n);
  for (size_t i = 0; i < n; i++) {
    list.items[i] = arg_node(onnx_node_of(c, items[reverse ? n - 1 - i : i]));
    if (items[i]->is_text) onnx_lack_strings(c);
  }
  return build(&c->b, OP_aten_stack_default, ARGS(list, build_int(&c->b, axis)));
}

static Node *build_flag_tensor(OnnxCall *c, bool value) {
  return build_full(&c->b, 0, NULL, arg_bool(value), DT_I1);
}

static Node *build_scalar(OnnxCall *c, Node *x) {
  return rank_of(x) ? build_view(&c->b, x, 0, NULL) : x;
}

/* ---- If ---- */

static bool needs_guard(const Onnx__Graph *g);

static bool node_needs_guard(const Onnx__Node *n) {
  const char *op = onnx_text(n->op_type);
  if (strstr(op, "Gather") || strstr(op, "Scatter") || !strcmp(op, "Loop")) return true;
  for (size_t i = 0; i < n->n_attribute; i++)
    if (n->attribute[i]->g && needs_guard(n->attribute[i]->g)) return true;
  return false;
}

/* Can the branch report an error, or run forever, where it is not chosen? */
static bool needs_guard(const Onnx__Graph *g) {
  for (size_t i = 0; i < g->n_node; i++)
    if (node_needs_guard(g->node[i])) return true;
  return false;
}

static void nodes_of(OnnxCall *c, OnnxValue *const *x, Node **out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (x[i]->type.kind != VALUE_TENSOR || x[i]->form || x[i]->is_text)
      onnx_lack(c,
                "a condition that is known only when the model runs, of sequences, strings, "
                "integers of a few bits, or floats that are bytes");
    out[i] = onnx_node_of(c, x[i]);
  }
}

static Node *build_zeros(OnnxCall *c, const ValueType *t) {
  Arg zero = t->dtype == DT_I1 ? arg_bool(false) : build_int(&c->b, 0);
  return build_full(&c->b, t->rank, t->shape, zero, t->dtype);
}

_Noreturn static void lack_types(OnnxCall *c) {
  onnx_lack(c,
            "a condition that is known only when the model runs, of branches whose results "
            "differ in type");
}

/* The branch's results where the flag is true, else `values`; zeros where that is NULL.  The nodes
 * of the branch are read before it is known of what types the values are that go in front of
 * them. */
static void read_guarded(OnnxCall *c, Node *flag, const Onnx__Graph *g, Node **values) {
  OnnxLoop l = onnx_loop_new(c, c->nout + 1);
  OnnxValue **results = values_new(c, c->nout);
  Node *before = c->b.before, *begin = build_flag_tensor(c, false);
  onnx_read_body(c, g, NULL, 0, results, c->nout);
  nodes_of(c, results, l.next + 1, c->nout);
  l.next[0] = begin;
  c->b.before = begin;
  l.carried[0] = onnx_carried(c, flag);
  for (uint32_t i = 0; i < c->nout; i++) {
    if (values[i] && !value_type_eq(&values[i]->type, &l.next[i + 1]->type)) lack_types(c);
    Node *initial = values[i] ? values[i] : build_zeros(c, &l.next[i + 1]->type);
    l.carried[i + 1] = onnx_carried(c, initial);
  }
  Node *test = onnx_loop_test(c, l.carried[0]);
  c->b.before = before;
  onnx_loop_end(c, test, &l);
  memcpy(values, l.carried + 1, c->nout * sizeof *values);
}

static void read_guarded_branches(OnnxCall *c, const Onnx__Graph *yes, const Onnx__Graph *no) {
  Node **values = ARENA_ARRAY(c->r->scratch, Node *, c->nout);
  Node *condition = build_scalar(c, onnx_in(c, 0));
  read_guarded(c, condition, yes, values);
  Node *other = build(&c->b, OP_aten_logical_not_default, ARGS(arg_node(condition)));
  read_guarded(c, other, no, values);
  for (uint32_t i = 0; i < c->nout; i++) onnx_set(c, i, values[i]);
}

static bool same_types(OnnxValue *const *x, OnnxValue *const *y, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!value_type_eq(&x[i]->type, &y[i]->type) || x[i]->form != y[i]->form ||
        x[i]->is_text != y[i]->is_text)
      return false;
  return true;
}

/* Both branches are computed, and each element chosen. */
static void read_branches(OnnxCall *c, const Onnx__Graph *yes, const Onnx__Graph *no) {
  OnnxValue **x = values_new(c, c->nout), **y = values_new(c, c->nout);
  onnx_read_body(c, yes, NULL, 0, x, c->nout);
  onnx_read_body(c, no, NULL, 0, y, c->nout);
  if (!same_types(x, y, c->nout)) lack_types(c);
  Node *condition = onnx_in(c, 0);
  if (rank_of(condition)) condition = build_view(&c->b, condition, 0, NULL);
  for (uint32_t i = 0; i < c->nout; i++) {
    Arg a = arg_node(onnx_node_of(c, x[i])), b = arg_node(onnx_node_of(c, y[i]));
    onnx_set(c, i, build_where(&c->b, condition, a, b));
    onnx_set_form(c, i, x[i]->form);
    if (x[i]->is_text) onnx_set_text(c, i);
  }
}

void onnx_op_if(OnnxCall *c) {
  const Onnx__Graph *yes = onnx_graph(c, "then_branch"), *no = onnx_graph(c, "else_branch");
  c->demanding = true;
  const OnnxKnown *k = onnx_known(c, 0);
  c->demanding = false;
  if (!k || k->n != 1 || k->dtype != DT_I1) {
    const OnnxWish wanted = c->r->found->wanted;
    onnx_want_input(c, 0); /* if one of the branches cannot be read, or both together */
    if (needs_guard(yes) || needs_guard(no)) read_guarded_branches(c, yes, no);
    else read_branches(c, yes, no);
    c->r->found->wanted = wanted;
    return;
  }
  OnnxValue **out = values_new(c, c->nout);
  bool chosen = k->at[0].dim->value != 0;
  c->branch = chosen ? 't' : 'e';
  onnx_read_body(c, chosen ? yes : no, NULL, 0, out, c->nout);
  for (uint32_t i = 0; i < c->nout; i++) onnx_set_alias(c, i, out[i]);
}

/* ---- Loop ---- */

typedef enum { LOOP_ENDS, LOOP_GOES_ON, LOOP_UNKNOWN } Continued;

/* Is the loop to go on? */
static Continued loop_continued(OnnxCall *c, OnnxValue *condition) {
  const OnnxKnown *k = condition ? onnx_value_known(c->r, condition, true) : NULL;
  if (!condition) return LOOP_GOES_ON;
  if (!k || k->n != 1 || k->dtype != DT_I1) return LOOP_UNKNOWN;
  return k->at[0].dim->value ? LOOP_GOES_ON : LOOP_ENDS;
}

typedef VEC(OnnxValue *) Values;

static void keep_scanned(OnnxCall *c, Values *scanned, OnnxValue **out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) vec_push(c->r->scratch, &scanned[i], out[i]);
}

/* The result that n joins from turns' values, one of which is `item`. */
static void set_scanned(OnnxCall *c, uint32_t i, const OnnxValue *item, Node *n) {
  onnx_set(c, i, n);
  onnx_set_form(c, i, item->form);
}

/* The output of a loop without iterations has no elements; its type is that of an iteration. */
static Node *no_turns(OnnxCall *c, const OnnxValue *item) {
  Dim shape[GRAPH_RANK_MAX];
  if (item->type.kind == VALUE_LIST) onnx_lack(c, "a sequence");
  if (item->absent) onnx_lack(c, "an optional value that is absent");
  if (item->type.rank == GRAPH_RANK_MAX) onnx_fail(c, E_GRAPH_RANK, GRAPH_RANK_MAX);
  shape[0] = build_const(&c->b, 0);
  for (uint32_t i = 0; i < item->type.rank; i++) shape[i + 1] = item->type.shape[i];
  Arg zero = item->type.dtype == DT_I1 ? arg_bool(false) : build_int(&c->b, 0);
  return build_full(&c->b, item->type.rank + 1, shape, zero, item->type.dtype);
}

typedef struct {
  const Onnx__Graph *body;
  uint32_t carried, nscanned;
} LoopCall;

static Node *build_loop_test(OnnxCall *c, Node *turn, Node *condition) {
  if (onnx_has(c, 0)) {
    Node *most = build_to(&c->b, build_scalar(c, onnx_in(c, 0)), DT_I64);
    Node *more = build_with(&c->b, OP_aten_lt_Tensor, turn, arg_node(most));
    condition = build_with(&c->b, OP_aten_logical_and_default, condition, arg_node(more));
  }
  return onnx_loop_test(c, condition);
}

/* Turns that were written out in vain: their checks go at once, and other nodes once the model is
 * read, unless a value that is kept for later (a weight) is among them and has a use. */
static void abandon(Graph *g, Node *after) {
  for (Node *n = after ? after->next : g->first, *next; n; n = next) {
    next = n->next;
    n->in_vain = n->kind == NODE_CALL || n->kind == NODE_GETITEM;
    if (n->kind != NODE_CALL || n->op->prim != PRIM_CHECK) continue;
    graph_forget_name(g, n);
    graph_remove(g, n);
  }
}

/* Data decides how many turns there are. */
static void read_data_loop(OnnxCall *c, const LoopCall *l) {
  enum { TURN, CONDITION, FIRST };
  const OnnxWish wanted = c->r->found->wanted;
  OnnxLoop d = onnx_loop_new(c, l->carried + FIRST);
  OnnxValue **in = values_new(c, l->carried + FIRST);
  OnnxValue **out = values_new(c, 1 + l->carried + l->nscanned);
  if (onnx_has(c, 0)) onnx_want_input(c, 0); /* if turns can be written out alone */
  for (uint32_t i = 0; i < l->nscanned; i++)
    if (onnx_wants(c, l->carried + i))
      onnx_lack(c, "values that are kept of each turn, in a loop that data ends");
  nodes_of(c, c->in + FIRST, d.carried + FIRST, l->carried);
  d.carried[TURN] = build_full(&c->b, 0, NULL, build_int(&c->b, 0), DT_I64);
  d.carried[CONDITION] =
      onnx_has(c, 1) ? build_scalar(c, onnx_in(c, 1)) : build_flag_tensor(c, true);
  for (uint32_t i = 0; i < d.n; i++) d.carried[i] = onnx_carried(c, d.carried[i]);
  Node *test = build_loop_test(c, d.carried[TURN], d.carried[CONDITION]);
  for (uint32_t i = 0; i < d.n; i++) in[i] = onnx_value_of_node(c, d.carried[i]);
  in[CONDITION] = value_of_int(c, 1, DT_I1);
  onnx_read_body(c, l->body, in, d.n, out, 1 + l->carried + l->nscanned);
  nodes_of(c, out, d.next + CONDITION, 1 + l->carried);
  d.next[CONDITION] = build_scalar(c, d.next[CONDITION]);
  d.next[TURN] = build_with(&c->b, OP_aten_add_Tensor, d.carried[TURN], build_int(&c->b, 1));
  onnx_loop_end(c, test, &d);
  for (uint32_t i = 0; i < l->carried; i++)
    onnx_set_alias(c, i, onnx_value_of_node(c, d.carried[FIRST + i]));
  c->r->found->wanted = wanted;
}

/* How many turns there are at most; -1: data decides that. */
static int64_t most_turns(OnnxCall *c) {
  if (!onnx_has(c, 0)) return INT64_MAX;
  c->demanding = true;
  const OnnxKnown *k = onnx_known(c, 0);
  c->demanding = false;
  bool is_open = k && k->n == 1 && !dtype_is_float(k->dtype) && !dim_is_int(k->at[0].dim);
  if (!k || (is_open && c->r->given.fixes_sizes)) return -1; /* only data's sizes are open then */
  int64_t most = onnx_need_int(c, 0);
  return most < 0 ? 0 : most;
}

/* Inputs are the number of turns, the condition, and values that turns pass on; the body's are the
 * turn's number and the same, its outputs the condition, what it passes on, and what is kept of
 * each turn. */
void onnx_op_loop(OnnxCall *c) {
  const Onnx__Graph *body = onnx_graph(c, "body");
  uint32_t carried = c->nin > 2 ? c->nin - 2 : 0, nout = (uint32_t)body->n_output;
  if (nout < carried + 1) onnx_fail(c, E_ONNX_BODY, body->n_input, body->n_output);
  uint32_t nscanned = nout - 1 - carried;
  OnnxValue **in = values_new(c, carried + 2), **out = values_new(c, nout);
  Values *scanned = ARENA_ARRAY(c->r->scratch, Values, nscanned);
  const LoopCall call = {body, carried, nscanned};
  int64_t most = most_turns(c), turn = 0;
  OnnxValue *condition = onnx_has(c, 1) ? c->in[1] : NULL;
  Node *before = c->b.in.g->last;
  for (uint32_t i = 0; i < carried; i++) {
    const char *name = c->proto->input[i + 2];
    if (!*name) onnx_fail(c, E_ONNX_INPUT, i + 3);
    if (!c->in[i + 2]) c->in[i + 2] = absent_value(c->r, name);
    in[i + 2] = c->in[i + 2];
  }
  for (;; turn++) {
    Continued more = most < 0 ? LOOP_UNKNOWN : loop_continued(c, condition);
    if (more == LOOP_UNKNOWN) {
      abandon(c->b.in.g, before);
      read_data_loop(c, &call);
      return;
    }
    if (turn == most || more == LOOP_ENDS) break;
    if (turn == TURNS_MAX) onnx_lack(c, "more than %d turns", TURNS_MAX);
    in[0] = value_of_int(c, turn, DT_I64);
    in[1] = value_of_int(c, 1, DT_I1);
    onnx_read_body(c, body, in, carried + 2, out, nout);
    condition = out[0];
    memcpy(in + 2, out + 1, carried * sizeof *in);
    keep_scanned(c, scanned, out + 1 + carried, nscanned);
  }
  for (uint32_t i = 0; i < carried; i++) onnx_set_alias(c, i, in[i + 2]);
  if (!turn && nscanned && c->nout > carried) {
    in[0] = value_of_int(c, 0, DT_I64);
    in[1] = value_of_int(c, 1, DT_I1);
    before = c->b.in.g->last;
    onnx_read_body(c, body, in, carried + 2, out, nout);
    abandon(c->b.in.g, before);
  }
  for (uint32_t i = 0; i < nscanned; i++)
    if (onnx_wants(c, carried + i))
      set_scanned(c, carried + i, out[1 + carried + i],
                  turn ? stacked(c, scanned[i].data, scanned[i].len, 0, false)
                       : no_turns(c, out[1 + carried + i]));
}

/* ---- Scan ---- */

typedef struct {
  const Onnx__Graph *body;
  uint32_t nstates, nscanned, nkept; /* values passed on, inputs gone through, outputs kept */
  uint32_t first;                    /* input of those gone through */
  uint32_t *axes;                    /* of the inputs */
  bool *reverse;
  const int64_t *out_axes; /* NULL: 0 each */
  bool *out_reverse;
} Scan;

/* `list`, or zeros: of directions, 1 is backwards. */
static void read_flags(OnnxCall *c, const char *name, bool *out, uint32_t n) {
  uint32_t count;
  const int64_t *list = onnx_ints(c, name, &count);
  if (list && count != n) onnx_fail(c, E_ONNX_ATTR_COUNT, name, count, n);
  for (uint32_t i = 0; list && i < n; i++) out[i] = list[i] == 1;
}

static int64_t scan_length(OnnxCall *c, const Scan *s, Node *const *x) {
  if (!s->nscanned) onnx_fail(c, E_ONNX_ATTR_VALUE, "num_scan_inputs", "0");
  Dim size = x[0]->type.shape[s->axes[0]];
  if (!dim_is_int(size)) {
    onnx_want_input(c, s->first);
    onnx_lack(c, "an axis of symbolic size");
  }
  if (size->value > TURNS_MAX) onnx_lack(c, "more than %d turns", TURNS_MAX);
  if (size->value == 0) onnx_lack(c, "an axis without elements");
  return size->value;
}

/* The states after all turns, and what was kept, stacked; both go to `out`. */
static void run_scan(OnnxCall *c, const Scan *s, OnnxValue *const *states, Node *const *x,
                     OnnxValue **out) {
  Arena *scratch = c->r->scratch;
  uint32_t nin = s->nstates + s->nscanned, nout = s->nstates + s->nkept;
  OnnxValue **in = values_new(c, nin), **results = values_new(c, nout);
  Values *kept = ARENA_ARRAY(scratch, Values, s->nkept);
  memcpy(in, states, s->nstates * sizeof *in);
  int64_t turns = scan_length(c, s, x);
  for (int64_t turn = 0; turn < turns; turn++) {
    for (uint32_t i = 0; i < s->nscanned; i++) {
      Dim at = build_const(&c->b, s->reverse[i] ? turns - 1 - turn : turn);
      in[s->nstates + i] = value_like(c, c->in[c->nin - s->nscanned + i],
                                      build_select(&c->b, x[i], s->axes[i], at));
    }
    onnx_read_body(c, s->body, in, nin, results, nout);
    memcpy(in, results, s->nstates * sizeof *in);
    keep_scanned(c, kept, results + s->nstates, s->nkept);
  }
  memcpy(out, in, s->nstates * sizeof *out);
  for (uint32_t i = 0; i < s->nkept; i++) {
    uint32_t rank = kept[i].data[0]->type.rank + 1;
    uint32_t axis = s->out_axes ? onnx_axis(c, s->out_axes[i], rank) : 0;
    Node *n = stacked(c, kept[i].data, kept[i].len, axis, s->out_reverse[i]);
    out[s->nstates + i] = value_like(c, kept[i].data[0], n);
  }
}

static void read_scan_axes(OnnxCall *c, Scan *s, Node *const *x) {
  uint32_t n;
  const int64_t *axes = onnx_ints(c, "scan_input_axes", &n);
  if (axes && n != s->nscanned) onnx_fail(c, E_ONNX_ATTR_COUNT, "scan_input_axes", n, s->nscanned);
  for (uint32_t i = 0; i < s->nscanned; i++)
    s->axes[i] = onnx_axis(c, axes ? axes[i] : 0, rank_of(x[i]));
  s->out_axes = onnx_ints(c, "scan_output_axes", &n);
  if (s->out_axes && n != s->nkept)
    onnx_fail(c, E_ONNX_ATTR_COUNT, "scan_output_axes", n, s->nkept);
}

/* Opset 8 has a batch on axis 0 of everything, and scans axis 1. */
static void scan_batches(OnnxCall *c, const Scan *s, OnnxValue *const *states, Node *const *x,
                         OnnxValue **out) {
  uint32_t nout = s->nstates + s->nkept;
  for (uint32_t i = 0; i < s->nscanned; i++) infer_rank(&c->b.in, &x[i]->type, 2, GRAPH_RANK_MAX);
  Dim size = x[0]->type.shape[0];
  if (!dim_is_int(size) || size->value > TURNS_MAX || size->value < 1)
    onnx_lack(c, "a batch of symbolic size, or of more than %d", TURNS_MAX);
  Values *all = ARENA_ARRAY(c->r->scratch, Values, nout);
  for (int64_t b = 0; b < size->value; b++) {
    OnnxValue **in = values_new(c, s->nstates), **results = values_new(c, nout);
    Node **part = ARENA_ARRAY(c->r->scratch, Node *, s->nscanned);
    Dim at = build_const(&c->b, b);
    for (uint32_t i = 0; i < s->nstates; i++)
      in[i] = onnx_value_of_node(c, build_select(&c->b, onnx_node_of(c, states[i]), 0, at));
    for (uint32_t i = 0; i < s->nscanned; i++) part[i] = build_select(&c->b, x[i], 0, at);
    run_scan(c, s, in, part, results);
    keep_scanned(c, all, results, nout);
  }
  for (uint32_t i = 0; i < nout; i++)
    out[i] = onnx_value_of_node(c, stacked(c, all[i].data, all[i].len, 0, false));
}

void onnx_op_scan(OnnxCall *c) {
  bool batched = c->opset < 9;
  uint32_t first = batched ? 1 : 0, nin = c->nin - first;
  int64_t n = onnx_int(c, "num_scan_inputs", 0);
  Scan s = {.body = onnx_graph(c, "body")};
  if (c->nin < first || n < 1 || n > nin)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "num_scan_inputs", "wrong");
  if (batched && onnx_has(c, 0)) onnx_lack(c, "sequence_lens");
  s.nscanned = (uint32_t)n;
  s.nstates = nin - s.nscanned;
  s.first = first + s.nstates;
  if (s.body->n_output < s.nstates) onnx_fail(c, E_ONNX_BODY, s.body->n_input, s.body->n_output);
  s.nkept = (uint32_t)s.body->n_output - s.nstates;
  s.axes = ARENA_ARRAY(c->r->scratch, uint32_t, s.nscanned);
  s.reverse = ARENA_ARRAY(c->r->scratch, bool, s.nscanned);
  s.out_reverse = ARENA_ARRAY(c->r->scratch, bool, s.nkept);
  read_flags(c, batched ? "directions" : "scan_input_directions", s.reverse, s.nscanned);
  read_flags(c, "scan_output_directions", s.out_reverse, s.nkept);
  OnnxValue **states = values_new(c, s.nstates);
  OnnxValue **out = values_new(c, s.nstates + s.nkept);
  Node **x = ARENA_ARRAY(c->r->scratch, Node *, s.nscanned);
  for (uint32_t i = 0; i < nin; i++) {
    Node *input = onnx_in(c, first + i);
    if (i < s.nstates) states[i] = c->in[first + i];
    else x[i - s.nstates] = input;
  }
  if (batched) scan_batches(c, &s, states, x, out);
  else read_scan_axes(c, &s, x), run_scan(c, &s, states, x, out);
  for (uint32_t i = 0; i < c->nout && i < s.nstates + s.nkept; i++) onnx_set_alias(c, i, out[i]);
}
