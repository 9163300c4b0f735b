/* Domains: the rows and columns along which a node is computed, and places in them. */
#include <string.h>

#include "graph/analysis/attention.h"
#include "graph/fuse/fuse_state.h"

static Dim product(Graph *g, const Dim *shape, uint32_t rank) {
  Dim n = dim_int(g->dims, 1);
  for (uint32_t i = 0; i < rank; i++) n = dim_mul(g->dims, n, shape[i]);
  return n;
}

static Dim *places_new(const Fusion *f, uint32_t rank) {
  return ARENA_ARRAY(f->arena, Dim, rank + 1);
}

/* The domain of a node that has an element for each of n. */
static void flat_domain(const Fusion *f, Group *to, const Node *n) {
  Dims *d = f->graph->dims;
  to->x = product(f->graph, n->type.shape, n->type.rank);
  to->r = dim_int(d, 1);
  to->index[0] = dim_shared_index(d, "x", to->x);
  to->index[1] = dim_int(d, 0);
  to->rank = n->type.rank;
  to->shape = n->type.shape;
  Dim *place = places_new(f, n->type.rank);
  place_of_linear(d, to->index[0], n->type.shape, n->type.rank, place);
  to->place = place;
}

bool reduction_has_axis(Graph *g, const Node *n, uint32_t i) {
  Arg dim = graph_arg(g, n, "dim");
  int64_t rank = n->args[0].node->type.rank;
  if (dim.kind == ARG_NONE || (dim.kind == ARG_LIST && dim.n == 0)) return true;
  const Arg *list = dim.kind == ARG_LIST ? dim.items : &dim;
  for (uint32_t k = 0; k < (dim.kind == ARG_LIST ? dim.n : 1); k++)
    if ((list[k].dim->value + rank) % rank == i) return true;
  return false;
}

/* A bit for each axis of its operand that a node reduces or scans. */
static uint32_t axes_along(Graph *g, const Node *n) {
  uint32_t along = 0;
  for (uint32_t i = 0; i < n->args[0].node->type.rank; i++)
    if (reduction_has_axis(g, n, i)) along |= 1u << i;
  return along;
}

/* The domain of a tensor's elements with the axes of `along` as columns: the others, and those,
 * each in order. */
static void axes_domain(const Fusion *f, Group *to, const ValueType *t, uint32_t along) {
  Graph *g = f->graph;
  Dim part[2][GRAPH_RANK_MAX], at[2][GRAPH_RANK_MAX], total[2];
  uint32_t count[2] = {0, 0}, next[2] = {0, 0};
  for (uint32_t i = 0; i < t->rank; i++) {
    uint32_t r = along >> i & 1;
    part[r][count[r]++] = t->shape[i];
  }
  for (int r = 0; r < 2; r++) {
    total[r] = product(g, part[r], count[r]);
    to->index[r] = dim_is(total[r], 1) ? dim_int(g->dims, 0)
                                       : dim_shared_index(g->dims, r ? "r" : "x", total[r]);
    place_of_linear(g->dims, to->index[r], part[r], count[r], at[r]);
  }
  Dim *place = places_new(f, t->rank);
  to->x = total[0];
  to->r = total[1];
  to->rank = t->rank;
  to->shape = t->shape;
  to->columns = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    uint32_t r = along >> i & 1;
    place[i] = at[r][next[r]++];
    if (r && !dim_is(t->shape[i], 1)) to->columns |= 1u << i;
  }
  to->place = place;
}

static void column_domain(const Fusion *f, Group *to, const Node *n) {
  axes_domain(f, to, &n->args[0].node->type, axes_along(f->graph, n));
}

enum { COLUMNS_MIN = 16 };

/* The last axis of a window's result as columns: its neighbours are neighbours in memory, and what
 * depends on the other axes, which is most of a place, is computed once for all of them. */
static void window_domain(const Fusion *f, Group *to, const Node *n) {
  const ValueType *t = &n->type;
  Dim last = t->shape[t->rank - 1];
  bool fits = dim_is_int(last) && last->value >= COLUMNS_MIN && last->value <= FUSE_COLUMNS_MAX;
  if (fits) axes_domain(f, to, t, 1u << (t->rank - 1));
  else flat_domain(f, to, n);
}

static void matmul_extents(Group *to, const Node *n, Dims *d) {
  const ValueType *t = &n->type;
  bool batched = t->rank == 3;
  to->extent[0] = batched ? t->shape[0] : dim_int(d, 1);
  to->extent[1] = t->shape[t->rank - 2];
  to->extent[2] = t->shape[t->rank - 1];
  to->extent[3] = n->args[0].node->type.shape[t->rank - 1];
}

/* The positions of all images are rows, the channels of one group columns, groups batches. */
static void convolution_extents(Graph *g, Group *to, const Node *n) {
  const ValueType *t = &n->type, *weight = &n->args[1].node->type;
  to->extent[0] = graph_arg(g, n, "groups").dim;
  to->extent[1] = product(g, t->shape, t->rank - 1);
  to->extent[2] = dim_floordiv(g->dims, t->shape[t->rank - 1], to->extent[0]);
  to->extent[3] = product(g, weight->shape, weight->rank - 1);
}

/* The place in the result of a row and column of a batch. */
static void product_place(Graph *g, const Group *to, const Node *n, Dim *place) {
  const ValueType *t = &n->type;
  Dims *d = g->dims;
  if (prim_kind(n->op) == PRIM_MATMUL) {
    for (uint32_t i = 0; i < t->rank; i++) place[i] = to->index[3 - t->rank + i];
    return;
  }
  place_of_linear(d, to->index[1], t->shape, t->rank - 1, place);
  place[t->rank - 1] = dim_add(d, dim_mul(d, to->index[0], to->extent[2]), to->index[2]);
}

static void product_domain(const Fusion *f, Group *to, const Node *n) {
  Dims *d = f->graph->dims;
  const ValueType *t = &n->type;
  Dim *place = places_new(f, t->rank);
  static const char *const names[] = {"b", "m", "n"};
  if (prim_kind(n->op) == PRIM_MATMUL) matmul_extents(to, n, d);
  else convolution_extents(f->graph, to, n);
  for (uint32_t i = 0; i < 3; i++) {
    bool one = i == 0 && dim_is(to->extent[0], 1);
    to->index[i] = one ? dim_int(d, 0) : dim_shared_index(d, names[i], to->extent[i]);
  }
  to->x = product(f->graph, t->shape, t->rank);
  to->r = dim_int(d, 1);
  to->rank = t->rank;
  to->shape = t->shape;
  product_place(f->graph, to, n, place);
  to->place = place;
}

static void attention_domain(const Fusion *f, Group *to, const Node *n) {
  Graph *g = f->graph;
  Dims *d = g->dims;
  Attention x = attention_of(g, n);
  Dim splits = dim_int(d, x.splits), *place = places_new(f, n->type.rank);
  to->index[0] = dim_shared_index(d, "b", x.batches);
  to->index[1] = dim_shared_index(d, "m", x.rows);
  to->index[2] = dim_shared_index(d, "e", x.columns);
  Dim split = x.splits > 1 ? dim_shared_index(d, "split", splits) : NULL;
  attention_result_place(g, &x, split, to->index[0], to->index[1], to->index[2], place);
  /* A share's last column counts for nothing: so no other node has its domain. */
  to->x = dim_mul(d, dim_mul(d, splits, x.batches), dim_mul(d, x.rows, x.columns));
  to->r = dim_int(d, 1);
  to->rank = n->type.rank;
  to->shape = n->type.shape;
  to->place = place;
}

bool fuse_has_columns(const Node *n) {
  PrimKind k = prim_kind(n->op);
  return k == PRIM_REDUCE || k == PRIM_SCAN;
}

Role fuse_natural_role(const Node *n) {
  return fuse_has_columns(n) && prim_kind(n->op) != PRIM_SCAN ? ROLE_ROW : ROLE_FULL;
}

void fuse_set_domain(const Fusion *f, Group *to, const Node *n) {
  PrimKind k = prim_kind(n->op);
  if (prim_is_product(k)) product_domain(f, to, n);
  else if (k == PRIM_ATTENTION) attention_domain(f, to, n);
  else if (fuse_has_columns(n)) column_domain(f, to, n);
  else if (k == PRIM_WINDOW) window_domain(f, to, n);
  else flat_domain(f, to, k == PRIM_SCATTER ? n->args[1].node : n);
}

bool fuse_same_shape(const Group *g, uint32_t rank, const Dim *shape) {
  if (g->rank != rank) return false;
  for (uint32_t i = 0; i < rank; i++)
    if (g->shape[i] != shape[i]) return false;
  return true;
}

bool group_checks_scalar(const Fusion *f, const Group *group, const Node *n) {
  return prim_checks(n) && dim_is(value_numel(f->graph, &n->type), 1) && !dim_is(group->x, 1);
}

void group_place(const Fusion *f, const Group *group, const Node *n, Dim *place) {
  Dims *d = f->graph->dims;
  const ValueType *t = &n->type;
  if (group_checks_scalar(f, group, n)) {
    for (uint32_t i = 0; i < t->rank; i++) place[i] = dim_int(d, 0);
    return;
  }
  if (f->role[n->id] == ROLE_ROW) {
    place_of_linear(d, group->index[0], t->shape, t->rank, place);
    return;
  }
  if (fuse_same_shape(group, t->rank, t->shape)) {
    if (t->rank) memcpy(place, group->place, t->rank * sizeof *place);
    return;
  }
  Dim linear = linear_of_place(d, group->place, group->shape, group->rank);
  place_of_linear(d, linear, t->shape, t->rank, place);
}

/* ---- columns ---- */

/* Is there a number for each of the last axis's places, which all the others share? */
static bool uses_channels(const Fusion *f, const Node *n, Dim last) {
  for (uint32_t i = 0; i < n->nargs; i++) {
    if (n->args[i].kind != ARG_NODE || n->args[i].node->type.kind != VALUE_TENSOR) continue;
    const ValueType *t = &n->args[i].node->type;
    if (value_numel(f->graph, t) == last) return true;
  }
  return false;
}

/* Is a put's index chosen by a condition that all of a row share? */
static bool masks_rows(const Fusion *f, const Node *put, Dim last) {
  const Node *index = put->args[1].node;
  if (!graph_is(index, OP_aten_where_self)) return false;
  Arg a = graph_arg(f->graph, index, "condition");
  while (a.kind == ARG_NODE && prim_is_view(a.node) && a.node->kind == NODE_CALL)
    a.node = view_operand(a.node);
  if (a.kind != ARG_NODE) return false;
  Dim conditions = value_numel(f->graph, &a.node->type);
  return dim_mul(f->graph->dims, conditions, last) == value_numel(f->graph, &index->type);
}

void fuse_find_channels(const Fusion *f, Group *g) {
  const Node *first = g->nodes.data[0];
  const ValueType *t = prim_puts(first) ? &first->args[1].node->type : &first->type;
  if (g->kind != GROUP_LOOPS || !dim_is(g->r, 1) || t->rank < 2) return;
  if (!fuse_same_shape(g, t->rank, t->shape) || !dim_is_int(g->x)) return;
  Dim last = t->shape[t->rank - 1];
  if (last->value < COLUMNS_MIN || last->value > FUSE_COLUMNS_MAX || last == g->x) return;
  bool uses = false;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    if (prim_kind(n->op) != PRIM_POINTWISE && !prim_puts(n)) return;
    uses |= prim_puts(n) ? masks_rows(f, n, last) : uses_channels(f, n, last);
  }
  if (uses) axes_domain(f, g, t, 1u << (t->rank - 1));
}
