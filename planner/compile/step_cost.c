#include "planner/compile/step_cost.h"

#include <string.h>

#include "graph/analysis/attention.h"
#include "graph/ops/window.h"

/* A read of a node's value: the index, and the number of elements. */
typedef struct {
  const Node *node;
  const Dim *index; /* NULL: all of it, by a product */
} Read;

typedef struct {
  const Node *node;
  Dim elements;
} Total;

typedef struct {
  const Fusion *f;
  Graph *graph;
  Arena *arena;
  uint32_t *seen; /* by node id: 1 + the number of the last group that counted it */
  uint32_t *step; /* by a group's number: the step that it becomes */
  Dim *taken;     /* by node id: elements of an input that groups before have read; NULL: none */
  bool *result;   /* by node id: outputs of the graph, and what they are views of */
  /* of the group at hand */
  const Group *group;
  StepCost *cost;
  const Node *user;    /* whose operands are looked at */
  const Group *latest; /* that the user depends on */
  Dim domain;          /* elements for which the user is computed; NULL in templates of products */
  VEC(Read) reads;
  VEC(Total) totals;
  VEC(const Node *) inlined;
  VEC(StepStop) stops;
} Costs;

static Dim add_dims(Costs *c, Dim a, Dim b) { return dim_add(c->graph->dims, a, b); }
static Dim mul(Costs *c, Dim a, Dim b) { return dim_mul(c->graph->dims, a, b); }
static Dim node_numel(Costs *c, const Node *n) { return value_numel(c->graph, &n->type); }

static Dim bytes_of_elements(Costs *c, const Node *n, Dim elements) {
  return mul(c, elements, dim_int(c->graph->dims, dtype_bytes(n->type.dtype)));
}

/* ---- bytes that are read ---- */

static bool is_same_index(const Node *n, const Dim *a, const Dim *b) {
  if (!a || !b || n->type.rank == 0) return true;
  return !memcmp(a, b, n->type.rank * sizeof *a);
}

static bool was_read(const Costs *c, const Node *n, const Dim *index) {
  for (size_t i = c->reads.len; i-- > 0;)
    if (c->reads.data[i].node == n && is_same_index(n, c->reads.data[i].index, index)) return true;
  return false;
}

static void note_read(Node *n, const Dim *index, void *ctx) {
  Costs *c = ctx;
  if (c->f->of[n->id] == c->group || was_read(c, n, index)) return;
  Dim *kept = NULL;
  if (index) {
    kept = ARENA_ARRAY(c->arena, Dim, n->type.rank + 1);
    if (n->type.rank) memcpy(kept, index, n->type.rank * sizeof *kept);
  }
  vec_push(c->arena, &c->reads, ((Read){n, kept}));
  Dim more = index && c->domain ? c->domain : node_numel(c, n);
  size_t i = 0;
  while (i < c->totals.len && c->totals.data[i].node != n) i++;
  if (i == c->totals.len) vec_push(c->arena, &c->totals, ((Total){n, more}));
  else c->totals.data[i].elements = add_dims(c, c->totals.data[i].elements, more);
}

static void add_given(Costs *c, const Node *n, Dim elements) {
  c->cost->given = add_dims(c, c->cost->given, bytes_of_elements(c, n, elements));
}

/* What no group before has read of an input. */
static void take_input(Costs *c, const Node *n, Dim elements) {
  Dims *d = c->graph->dims;
  Dim before = c->taken[n->id] ? c->taken[n->id] : dim_int(d, 0);
  Dim after = dim_max(d, before, elements);
  if (after != before) add_given(c, n, dim_sub(d, after, before));
  c->taken[n->id] = after;
}

/* No more of a tensor than it has. */
static void sum_reads(Costs *c) {
  for (size_t i = 0; i < c->totals.len; i++) {
    const Total *t = &c->totals.data[i];
    Dim elements = dim_min(c->graph->dims, node_numel(c, t->node), t->elements);
    c->cost->read = add_dims(c, c->cost->read, bytes_of_elements(c, t->node, elements));
    const Node *in = t->node; /* or an input that is written to */
    while (in->kind == NODE_CALL && prim_kind(in->op) == PRIM_SCATTER) in = in->args[0].node;
    if (in->kind == NODE_INPUT) take_input(c, in, elements);
  }
}

/* A scatter writes as many elements as it has indices. */
static void count_written(Costs *c, const Node *n) {
  bool scatter = prim_kind(n->op) == PRIM_SCATTER;
  Dim elements = node_numel(c, scatter ? n->args[1].node : n);
  c->cost->written = add_dims(c, c->cost->written, bytes_of_elements(c, n, elements));
  if (c->result[n->id]) add_given(c, n, elements);
}

static void note_result(Node **operand, void *ctx) {
  Costs *c = ctx;
  c->result[(*operand)->id] = true;
  if (prim_is_view(*operand)) graph_each_use(*operand, note_result, c);
}

/* ---- operations ---- */

/* The sum over rows t of t + k, where that is between 0 and `keys`. */
static __int128 count_below(int64_t rows, int64_t keys, __int128 k) {
  __int128 first = k < 0 ? -k : 0, full = keys - k;
  if (full > rows) full = rows;
  if (full < first) full = first;
  __int128 ramp = (full - first) * (first + full - 1 + 2 * k) / 2;
  return rows > full ? ramp + (rows - full) * keys : ramp;
}

/* How many keys all rows of a batch see together. */
static Dim pairs_seen(Costs *c, const Attention *x) {
  bool known = dim_is_int(x->rows) && dim_is_int(x->keys);
  known &= (!x->low || dim_is_int(x->low)) && (!x->high || dim_is_int(x->high));
  Dims *d = c->graph->dims;
  bool causal = x->high && dim_is(x->high, 0) && !x->low && x->rows == x->keys;
  if (causal)
    return dim_floordiv(d, mul(c, x->rows, add_dims(c, x->rows, dim_int(d, 1))), dim_int(d, 2));
  if (!known || (!x->low && !x->high)) return mul(c, x->rows, x->keys);
  int64_t t = x->rows->value, s = x->keys->value;
  __int128 seen = x->high ? count_below(t, s, (__int128)x->high->value + 1) : (__int128)t * s;
  if (x->low) seen -= count_below(t, s, x->low->value);
  return seen > INT64_MAX ? dim_huge(d) : dim_int(d, seen > 0 ? (int64_t)seen : 0);
}

/* Two products; of gradients four of widths D, E, E, D, or three without one of E. */
static Dim attention_operations(Costs *c, const Node *n) {
  Attention x = attention_of(c->graph, n);
  Dims *d = c->graph->dims;
  Dim widths = add_dims(c, x.width, x.columns);
  if (x.kind == ATTENTION_GRAD_QUERY) widths = add_dims(c, widths, x.width);
  if (x.kind == ATTENTION_GRAD_VALUE) widths = mul(c, dim_int(d, 2), widths);
  Dim all = mul(c, x.query->type.shape[0], x.heads);
  return mul(c, mul(c, all, mul(c, dim_int(d, 2), widths)), pairs_seen(c, &x));
}

static Dim window_operations(Costs *c, const Node *n) {
  Window w = window_of(c->graph, n);
  Dim all = mul(c, node_numel(c, n), window_count(c->graph, &w));
  return w.weight ? mul(c, dim_int(c->graph->dims, 2), all) : all;
}

static Dim operations(Costs *c, const Node *n, Dim elements) {
  const Dim *e = c->group->extent;
  switch (prim_kind(n->op)) {
    case PRIM_POINTWISE: return elements;
    case PRIM_REDUCE:
    case PRIM_SCAN: return node_numel(c, n->args[0].node);
    case PRIM_WINDOW: return window_operations(c, n);
    case PRIM_CONVOLUTION_WEIGHT: /* parts have their own windows */
      return mul(c, dim_int(c->graph->dims, 2), mul(c, e[1], mul(c, e[2], e[3])));
    case PRIM_MATMUL:
      if (prim_groups(n) == GROUPS_OF_SUM)
        return mul(c, dim_int(c->graph->dims, 2), mul(c, e[1], mul(c, e[2], e[3])));
      /* fall through */
    case PRIM_LIBRARY:
    case PRIM_CONVOLUTION:
      return mul(c, dim_int(c->graph->dims, 2), mul(c, mul(c, e[0], e[1]), mul(c, e[2], e[3])));
    case PRIM_ATTENTION: return attention_operations(c, n);
    default: return dim_int(c->graph->dims, 0);
  }
}

/* Nodes of no group below the user, each once. */
static void count_inlined(Node **operand, void *ctx) {
  Costs *c = ctx;
  Node *n = *operand;
  if (c->f->of[n->id] || n->kind == NODE_INPUT || n->type.kind != VALUE_TENSOR) return;
  if (c->seen[n->id] == c->group->number + 1) return;
  c->seen[n->id] = c->group->number + 1;
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_VIEW;
  if (k != PRIM_VIEW && k != PRIM_EMPTY) {
    Dim elements = node_numel(c, n);
    if (c->domain) elements = dim_min(c->graph->dims, elements, c->domain);
    vec_push(c->arena, &c->inlined, n);
    c->cost->operations = add_dims(c, c->cost->operations, operations(c, n, elements));
  }
  graph_each_use(n, count_inlined, c);
}

/* ---- why it ends ---- */

static const char *const reasons[] = {
#define X(id, text) text,
    FUSE_STOPS(X)
#undef X
};

static void note_latest(Node *n, const Dim *index, void *ctx) {
  (void)index;
  Costs *c = ctx;
  const Group *of = c->f->of[n->id];
  if (of && of->once == c->group->once && (!c->latest || of->number > c->latest->number))
    c->latest = of;
}

/* The reason for a read of the last group on which the user depends, and of others. */
static StepStop stop_of(const Costs *c, const Group *from, const Node *value) {
  StepStop stop = {.from = c->step[from->number], .value = value, .at = c->user};
  FuseStop fuse = c->f->stop[c->user->id];
  if (from->once != c->group->once) {
    stop.why = reasons[STOP_ONCE];
  } else if (from != c->latest) {
    stop.later = c->step[c->latest->number];
  } else {
    if (fuse.at) stop.at = fuse.at;
    stop.why = reasons[fuse.kind];
  }
  return stop;
}

static void note_stop(Node *n, const Dim *index, void *ctx) {
  (void)index;
  Costs *c = ctx;
  const Group *from = c->f->of[n->id];
  if (!from || from == c->group) return;
  for (size_t i = 0; i < c->stops.len; i++)
    if (c->stops.data[i].from == c->step[from->number]) return;
  vec_push(c->arena, &c->stops, stop_of(c, from, n));
}

/* ---- all of a group ---- */

/* How often n reads its operands. */
static Dim domain_of(Costs *c, const Node *n) {
  PrimKind k = prim_kind(n->op);
  if (prim_has_template(k)) return NULL;
  if (k == PRIM_WINDOW) {
    Window w = window_of(c->graph, n);
    return mul(c, node_numel(c, n), window_count(c->graph, &w));
  }
  bool row = c->f->role[n->id] == ROLE_ROW && k != PRIM_REDUCE && k != PRIM_SCAN;
  return row ? c->group->x : mul(c, c->group->x, c->group->r);
}

static void count_node(Costs *c, Node *n) {
  Dim index[GRAPH_RANK_MAX];
  c->user = n;
  c->latest = NULL;
  c->domain = domain_of(c, n);
  c->cost->operations = add_dims(c, c->cost->operations, operations(c, n, node_numel(c, n)));
  graph_each_use(n, count_inlined, c);
  if (prim_has_template(prim_kind(n->op))) {
    each_operand(c->f, n, note_read, c);
    c->cost->product = n->args[0].node->type.dtype;
  } else {
    group_read_index(c->f, c->group, n, index);
    each_use_at(c->f, n, index, note_read, c);
  }
  each_operand(c->f, n, note_latest, c);
  each_operand(c->f, n, note_stop, c);
  if (c->f->stored[n->id]) count_written(c, n);
}

static void count_group(Costs *c, const Group *group, StepCost *cost) {
  Dim zero = dim_int(c->graph->dims, 0);
  *cost = (StepCost){.read = zero, .written = zero, .given = zero, .operations = zero};
  c->group = group;
  c->cost = cost;
  c->reads.len = c->totals.len = 0;
  c->inlined.data = NULL;
  c->inlined.len = c->inlined.cap = 0;
  c->stops.data = NULL;
  c->stops.len = c->stops.cap = 0;
  for (size_t i = 0; i < group->nodes.len; i++) count_node(c, group->nodes.data[i]);
  sum_reads(c);
  cost->inlined = c->inlined.data;
  cost->ninlined = (uint32_t)c->inlined.len;
  cost->stops = c->stops.data;
  cost->nstops = (uint32_t)c->stops.len;
}

/* Groups run in order, but for the constant part, which comes first. */
static void number_steps(Costs *c) {
  uint32_t next = 0;
  c->step = ARENA_ARRAY(c->arena, uint32_t, c->f->groups.len);
  for (int once = 1; once >= 0; once--)
    for (size_t i = 0; i < c->f->groups.len; i++)
      if (c->f->groups.data[i]->once == (bool)once) c->step[i] = next++;
}

const StepCost *cost_of_groups(const Fusion *f) {
  Costs c = {.f = f, .graph = f->graph, .arena = f->arena};
  StepCost *costs = ARENA_ARRAY(f->arena, StepCost, f->groups.len);
  c.seen = ARENA_ARRAY(f->arena, uint32_t, f->graph->nids);
  c.taken = ARENA_ARRAY(f->arena, Dim, f->graph->nids);
  c.result = ARENA_ARRAY(f->arena, bool, f->graph->nids);
  graph_each_use(f->graph->last, note_result, &c);
  number_steps(&c);
  for (size_t i = 0; i < f->groups.len; i++) count_group(&c, f->groups.data[i], &costs[i]);
  return costs;
}
