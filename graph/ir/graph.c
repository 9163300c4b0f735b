#include "graph/ir/graph.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/peaks.h"

Graph *graph_new(Arena *a, Pool *names, Diags *d) {
  Graph *g = ARENA_NEW(a, Graph);
  g->arena = a;
  g->names = names;
  g->diags = d;
  g->dims = dims_new(a, names);
  g->class_name = pool_name(names, "GraphModule");
  DevicePeaks *gpu = ARENA_NEW(a, DevicePeaks);
  peaks_of_target(gpu, "sm_90a");
  g->gpu = gpu;
  return g;
}

/* ---- nodes ---- */

static void link_before(Graph *g, Node *n, Node *before) {
  n->next = before;
  n->prev = before ? before->prev : g->last;
  *(n->prev ? &n->prev->next : &g->first) = n;
  *(before ? &before->prev : &g->last) = n;
}

Node *graph_node(Graph *g, NodeKind kind, Node *before, uint32_t nargs, uint32_t nnamed) {
  Node *n = ARENA_NEW(g->arena, Node);
  n->kind = kind;
  n->id = g->nids++;
  n->args = ARENA_ARRAY(g->arena, Arg, nargs);
  n->nargs = nargs;
  n->named = ARENA_ARRAY(g->arena, NamedArg, nnamed);
  n->nnamed = nnamed;
  if (before) n->origin = before->origin;
  link_before(g, n, before);
  return n;
}

void graph_remove(Graph *g, Node *n) {
  *(n->prev ? &n->prev->next : &g->first) = n->next;
  *(n->next ? &n->next->prev : &g->last) = n->prev;
  n->prev = n->next = NULL;
}

void graph_move(Graph *g, Node *n, Node *before) {
  graph_remove(g, n);
  n->prev = before->prev;
  n->next = before;
  *(n->prev ? &n->prev->next : &g->first) = n;
  before->prev = n;
}

/* ---- arguments ---- */

Arg arg_int(Graph *g, int64_t value) { return arg_dim(dim_int(g->dims, value)); }

Arg arg_list(Graph *g, uint32_t n) {
  return (Arg){.kind = ARG_LIST, .n = n, .items = ARENA_ARRAY(g->arena, Arg, n)};
}

static void each_in(Arg *a, void (*f)(Node **use, void *ctx), void *ctx) {
  if (a->kind == ARG_NODE) f(&a->node, ctx);
  if (a->kind != ARG_LIST) return;
  for (uint32_t i = 0; i < a->n; i++) each_in(&a->items[i], f, ctx);
}

void graph_each_use(Node *n, void (*f)(Node **use, void *ctx), void *ctx) {
  for (uint32_t i = 0; i < n->nargs; i++) each_in(&n->args[i], f, ctx);
  for (uint32_t i = 0; i < n->nnamed; i++) each_in(&n->named[i].value, f, ctx);
}

typedef struct {
  Node *from, *to;
} Replacing;

static void replace_use(Node **use, void *ctx) {
  const Replacing *r = ctx;
  if (*use == r->from) *use = r->to;
}

Node *graph_after_inputs(const Graph *g) {
  Node *n = g->first;
  while (n && n->kind == NODE_INPUT) n = n->next;
  return n;
}

void graph_replace_later(Node *from, Node *to, const Node *end) {
  Replacing r = {from, to};
  for (Node *user = to->next; user != end; user = user->next) graph_each_use(user, replace_use, &r);
}

static void count_use(Node **use, void *ctx) {
  uint32_t *counts = ctx;
  counts[(*use)->id]++;
}

uint32_t *graph_use_counts(const Graph *g, Arena *a) {
  uint32_t *counts = ARENA_ARRAY(a, uint32_t, g->nids);
  for (Node *n = g->first; n; n = n->next) graph_each_use(n, count_use, counts);
  return counts;
}

/* ---- types ---- */

ValueType value_tensor(Graph *g, DType dtype, uint32_t rank, const Dim *shape) {
  Dim *copy = ARENA_ARRAY(g->arena, Dim, rank);
  if (rank) memcpy(copy, shape, rank * sizeof *copy);
  return (ValueType){.kind = VALUE_TENSOR, .dtype = dtype, .rank = rank, .shape = copy};
}

Dim value_numel(Graph *g, const ValueType *t) {
  Dim n = dim_int(g->dims, 1);
  for (uint32_t i = 0; i < t->rank; i++) n = dim_mul(g->dims, n, t->shape[i]);
  return n;
}

bool value_is_countable(Graph *g, const ValueType *t) {
  Dim n = dim_int(g->dims, 1);
  for (uint32_t i = 0; i < t->rank; i++)
    if (!dim_is(t->shape[i], 0)) n = dim_mul(g->dims, n, t->shape[i]);
  return n->kind != DIM_HUGE;
}

static bool types_same_shape(const ValueType *a, const ValueType *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

bool value_type_eq(const ValueType *a, const ValueType *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == VALUE_TENSOR)
    return a->dtype == b->dtype && a->is_complex == b->is_complex && types_same_shape(a, b);
  if (a->kind == VALUE_INT) return a->value == b->value;
  if (a->kind != VALUE_LIST) return true;
  if (a->nitems != b->nitems) return false;
  for (uint32_t i = 0; i < a->nitems; i++)
    if (!value_type_eq(&a->items[i], &b->items[i])) return false;
  return true;
}
