/* Domains: the rows and columns along which a node is computed. */
#include <string.h>

#include "graph/analysis/attention.h"
#include "graph/analysis/library_problem.h"
#include "graph/ops/window.h"
#include "planner/fuse/fuse_state.h"

Dim fuse_shape_product(Graph *g, const Dim *shape, uint32_t rank) {
  Dim n = dim_int(g->dims, 1);
  for (uint32_t i = 0; i < rank; i++) n = dim_mul(g->dims, n, shape[i]);
  return n;
}

static Dim *index_new(const Fusion *f, uint32_t rank) {
  return ARENA_ARRAY(f->arena, Dim, rank + 1);
}

/* The domain of a node that has an element for each of n. */
static void flat_domain(const Fusion *f, Group *to, const Node *n) {
  Dims *d = f->graph->dims;
  to->x = fuse_shape_product(f->graph, n->type.shape, n->type.rank);
  to->r = dim_int(d, 1);
  to->index[0] = dim_shared_index(d, "x", to->x);
  to->index[1] = dim_int(d, 0);
  to->rank = n->type.rank;
  to->shape = n->type.shape;
  Dim *element = index_new(f, n->type.rank);
  index_of_linear(d, to->index[0], n->type.shape, n->type.rank, element);
  to->element = element;
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

/* The sizes of the axes of a tensor that `along` has (r is 1), or has not. */
static uint32_t axes_of(uint32_t rank, const Dim *shape, uint32_t along, uint32_t r, Dim *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < rank; i++)
    if ((along >> i & 1) == r) out[n++] = shape[i];
  return n;
}

/* The element of the domain's shape for these indices of x and r. */
static const Dim *domain_element(const Fusion *f, const Group *to, uint32_t along,
                                 const Dim *index) {
  Dim at[2][GRAPH_RANK_MAX], *element = index_new(f, to->rank);
  uint32_t next[2] = {0, 0};
  for (uint32_t r = 0; r < 2; r++) {
    Dim part[GRAPH_RANK_MAX];
    uint32_t n = axes_of(to->rank, to->shape, along, r, part);
    index_of_linear(f->graph->dims, index[r], part, n, at[r]);
  }
  for (uint32_t i = 0; i < to->rank; i++) {
    uint32_t r = along >> i & 1;
    element[i] = at[r][next[r]++];
  }
  return element;
}

void fuse_axes_domain(const Fusion *f, Group *to, const ValueType *t, uint32_t along) {
  Graph *g = f->graph;
  Dim part[GRAPH_RANK_MAX], total[2];
  for (uint32_t r = 0; r < 2; r++) {
    total[r] = fuse_shape_product(g, part, axes_of(t->rank, t->shape, along, r, part));
    to->index[r] = dim_is(total[r], 1) ? dim_int(g->dims, 0)
                                       : dim_shared_index(g->dims, r ? "r" : "x", total[r]);
  }
  to->x = total[0];
  to->r = total[1];
  to->rank = t->rank;
  to->shape = t->shape;
  to->columns = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    if ((along >> i & 1) && !dim_is(t->shape[i], 1)) to->columns |= 1u << i;
  to->element = domain_element(f, to, along, to->index);
}

static Group *copy_group(const Fusion *f, const Group *g) {
  Group *out = ARENA_NEW(f->arena, Group);
  *out = *g;
  return out;
}

Group *group_part(const Fusion *f, const Group *g, uint32_t part) {
  Dims *d = f->graph->dims;
  uint32_t axis = g->strip_axis;
  Group *out = copy_group(f, g);
  Dim parts = dim_int(d, g->strip), size = dim_floordiv(d, axis ? g->r : g->x, parts);
  Dim strip = dim_is(size, 1) ? dim_int(d, 0) : dim_shared_index(d, axis ? "r" : "x", size);
  out->index[axis] = dim_add(d, dim_mul(d, strip, parts), dim_int(d, part));
  out->element = domain_element(f, out, out->columns, out->index);
  if (axis) out->r = size;
  else out->x = size;
  return out;
}

static Group *group_at(const Fusion *f, Group *g, int axis, Dim index) {
  g->index[axis] = index;
  g->element = domain_element(f, g, g->columns, g->index);
  return g;
}

Group *group_at_column(const Fusion *f, const Group *g, Dim column) {
  return group_at(f, copy_group(f, g), 1, column);
}

Group *group_plane(const Fusion *f, const Group *g, Dim columns) {
  Dims *d = f->graph->dims;
  Group *out = copy_group(f, g);
  out->planes = dim_quotient(d, g->x, columns);
  out->plane = dim_is(out->planes, 1) ? dim_int(d, 0) : dim_shared_index(d, "plane", out->planes);
  out->index[0] = dim_add(d, dim_mul(d, out->plane, columns), dim_shared_index(d, "x", columns));
  out->element = domain_element(f, out, out->columns, out->index);
  out->x = columns;
  return out;
}

Group *group_planes(const Fusion *f, const Group *g, int64_t planes) {
  Dims *d = f->graph->dims;
  Group *out = copy_group(f, g);
  out->planes = dim_quotient(d, g->planes, dim_int(d, planes));
  out->plane = dim_is(out->planes, 1) ? dim_int(d, 0) : dim_shared_index(d, "plane", out->planes);
  Dim first = dim_mul(d, out->plane, dim_mul(d, dim_int(d, planes), g->x));
  return group_at(f, out, 0, dim_add(d, first, dim_shared_index(d, "x", g->x)));
}

Group *group_plane_after(const Fusion *f, const Group *g, int64_t planes) {
  Dims *d = f->graph->dims;
  Group *out = copy_group(f, g);
  return group_at(f, out, 0, dim_add(d, g->index[0], dim_mul(d, dim_int(d, planes), g->x)));
}

/* A vector of the narrowest CPU, and a half of one; a last axis whose last vector may have few. */
enum { VECTOR_COLUMNS_MIN = 4, LAST_COLUMNS_MIN = 48, VECTOR_COLUMNS = 16 };

/* The sizes from axis `first` on as one, or the last alone, whose elements are neighbours also
 * where a window's are read: then what depends on the other axes is the same for a vector. */
static Dim neighbours(const Fusion *f, const Group *g, uint32_t first) {
  Dim last = g->shape[g->rank - 1];
  bool alone = dim_is_int(last) && (last->value >= LAST_COLUMNS_MIN ||
                                    (last->value && last->value % VECTOR_COLUMNS == 0));
  return alone ? last : fuse_shape_product(f->graph, g->shape + first, g->rank - first);
}

Dim group_vector_columns(const Fusion *f, const Group *g) {
  bool vectors = false;
  if (!f->graph->host || g->kind != GROUP_LOOPS || !g->columns) return NULL;
  for (size_t i = 0; i < g->nodes.len; i++) {
    PrimKind k = prim_kind(g->nodes.data[i]->op);
    if (k != PRIM_POINTWISE && k != PRIM_REDUCE && k != PRIM_WINDOW && k != PRIM_INSERT)
      return NULL;
    vectors |= k == PRIM_REDUCE || k == PRIM_WINDOW;
  }
  uint32_t first = g->rank;
  while (!(g->columns >> (first - 1) & 1)) first--;
  if (first == g->rank) return NULL;
  Dim columns = neighbours(f, g, first);
  bool many = dim_likely(f->graph->dims, columns) >= VECTOR_COLUMNS_MIN;
  return vectors && many ? columns : NULL;
}

static void column_domain(const Fusion *f, Group *to, const Node *n) {
  fuse_axes_domain(f, to, &n->args[0].node->type, axes_along(f->graph, n));
}

enum { COLUMNS_MIN = 16 };

/* The last axis of a window's result as columns: its neighbours are neighbours in memory, and the
 * part of an index that depends on the other axes, most of it, is computed once for all of them.
 * On a CPU the axis before: a program keeps the weights of a vector of channels, and goes along a
 * row of the image, whose place decides once which rows the window has. */
static void window_domain(const Fusion *f, Group *to, const Node *n) {
  const ValueType *t = &n->type;
  Dim last = t->shape[t->rank - 1];
  bool fits = dim_is_int(last) && last->value >= COLUMNS_MIN && last->value <= FUSE_COLUMNS_MAX;
  bool along = f->graph->host && t->rank > 2 && !dim_is(t->shape[t->rank - 2], 1);
  if (f->graph->host && graph_is(n, OP_nereid_conv_depthwise_default) &&
      window_of(f->graph, n).first > 1)
    fuse_axes_domain(f, to, t, 1u << (t->rank - 1));
  else if (fits) fuse_axes_domain(f, to, t, 1u << (t->rank - (along ? 2 : 1)));
  else flat_domain(f, to, n);
}

/* Groups of what is summed up are batches. */
static void matmul_extents(Group *to, const Node *n, Dims *d) {
  const ValueType *a = &n->args[0].node->type, *b = &n->args[1].node->type;
  bool batched = a->rank == 3 && b->rank == 3, sums = prim_groups(n) == GROUPS_OF_SUM;
  to->extent[0] = batched ? a->shape[0] : sums ? n->type.shape[0] : dim_int(d, 1);
  to->extent[1] = a->shape[a->rank - 2];
  to->extent[2] = b->shape[b->rank - 1];
  to->extent[3] = a->shape[a->rank - 1];
}

/* The positions of all images are rows, the channels of one group columns, groups batches. */
static void convolution_extents(Graph *g, Group *to, const Node *n) {
  const ValueType *t = &n->type, *weight = &n->args[1].node->type;
  to->extent[0] = graph_arg(g, n, "groups").dim;
  to->extent[1] = fuse_shape_product(g, t->shape, t->rank - 1);
  to->extent[2] = dim_floordiv(g->dims, t->shape[t->rank - 1], to->extent[0]);
  to->extent[3] = fuse_shape_product(g, weight->shape, weight->rank - 1);
}

/* Output channels are rows, input channels at each position of the window columns, parts batches;
 * positions of all images are summed up. */
static void weight_extents(Graph *g, Group *to, const Node *n) {
  const ValueType *t = &n->type, *grad = &n->args[0].node->type;
  to->extent[0] = t->shape[0];
  Dim outputs = grad->shape[grad->rank - 1];
  bool last = window_outputs_last(g, n);
  Dim window = fuse_shape_product(g, t->shape + (last ? 1 : 2), t->rank - 2);
  to->extent[1] = last ? window : outputs;
  to->extent[2] = last ? outputs : window;
  to->extent[3] = fuse_shape_product(g, grad->shape, grad->rank - 1);
}

/* The index in the result of a row and column of a batch. */
static void product_index(Graph *g, const Group *to, const Node *n, Dim *element) {
  const ValueType *t = &n->type;
  Dims *d = g->dims;
  if (prim_kind(n->op) == PRIM_MATMUL) {
    for (uint32_t i = 0; i < t->rank; i++) element[i] = to->index[3 - t->rank + i];
    return;
  }
  if (prim_kind(n->op) == PRIM_CONVOLUTION_WEIGHT) {
    bool last = window_outputs_last(g, n);
    element[0] = to->index[0];
    element[last ? t->rank - 1 : 1] = to->index[last ? 2 : 1];
    index_of_linear(d, to->index[last ? 1 : 2], t->shape + (last ? 1 : 2), t->rank - 2,
                    element + (last ? 1 : 2));
    return;
  }
  index_of_linear(d, to->index[1], t->shape, t->rank - 1, element);
  element[t->rank - 1] = dim_add(d, dim_mul(d, to->index[0], to->extent[2]), to->index[2]);
}

static void product_domain(const Fusion *f, Group *to, const Node *n) {
  Dims *d = f->graph->dims;
  const ValueType *t = &n->type;
  Dim *element = index_new(f, t->rank);
  static const char *const names[] = {"b", "m", "n"};
  if (prim_kind(n->op) == PRIM_MATMUL) matmul_extents(to, n, d);
  else if (prim_kind(n->op) == PRIM_CONVOLUTION) convolution_extents(f->graph, to, n);
  else weight_extents(f->graph, to, n);
  for (uint32_t i = 0; i < 3; i++) {
    bool one = i == 0 && dim_is(to->extent[0], 1);
    to->index[i] = one ? dim_int(d, 0) : dim_shared_index(d, names[i], to->extent[i]);
  }
  to->x = fuse_shape_product(f->graph, t->shape, t->rank);
  to->r = dim_int(d, 1);
  to->rank = t->rank;
  to->shape = t->shape;
  product_index(f->graph, to, n, element);
  to->element = element;
}

/* No other node joins a call, so that the index says nothing. */
static void library_domain(const Fusion *f, Group *to, const Node *n) {
  Graph *g = f->graph;
  flat_domain(f, to, n);
  if (!graph_is(n, OP_nereid_library_conv_default)) {
    matmul_extents(to, n, g->dims);
    return;
  }
  LibraryConv c = library_conv_of(g, n);
  to->extent[0] = c.groups;
  to->extent[1] = fuse_shape_product(g, c.y->shape, 3);
  to->extent[2] = dim_quotient(g->dims, c.w->shape[0], c.groups);
  to->extent[3] = fuse_shape_product(g, c.w->shape + 1, 3);
}

static void attention_domain(const Fusion *f, Group *to, const Node *n) {
  Graph *g = f->graph;
  Dims *d = g->dims;
  Attention x = attention_of(g, n);
  Dim splits = dim_int(d, x.splits), *element = index_new(f, n->type.rank);
  to->index[0] = dim_shared_index(d, "b", x.batches);
  to->index[1] = dim_shared_index(d, "m", x.own_rows);
  to->index[2] = dim_shared_index(d, "e", x.own_columns);
  Dim split = x.splits > 1 ? dim_shared_index(d, "split", splits) : NULL;
  attention_result_index(g, &x, split, to->index[0], to->index[1], to->index[2], element);
  /* A share's last column counts for nothing: so no other node has its domain. */
  to->x = dim_mul(d, dim_mul(d, splits, x.batches), dim_mul(d, x.own_rows, x.own_columns));
  to->r = dim_int(d, 1);
  to->rank = n->type.rank;
  to->shape = n->type.shape;
  to->element = element;
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
  if (k == PRIM_LIBRARY) library_domain(f, to, n);
  else if (prim_is_product(k)) product_domain(f, to, n);
  else if (k == PRIM_ATTENTION) attention_domain(f, to, n);
  else if (fuse_has_columns(n)) column_domain(f, to, n);
  else if (k == PRIM_WINDOW) window_domain(f, to, n);
  else if (f->graph->host && graph_is(n, OP_nereid_tree_leaf_default))
    fuse_axes_domain(f, to, &n->type, 1u << 1); /* vectors of trees, which read one row */
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

void group_index(const Fusion *f, const Group *group, const Node *n, Dim *index) {
  Dims *d = f->graph->dims;
  const ValueType *t = &n->type;
  if (group_checks_scalar(f, group, n)) {
    for (uint32_t i = 0; i < t->rank; i++) index[i] = dim_int(d, 0);
    return;
  }
  if (f->role[n->id] == ROLE_ROW) {
    index_of_linear(d, group->index[0], t->shape, t->rank, index);
    return;
  }
  if (f->turn[n->id]) {
    for (uint32_t i = 0; i < t->rank; i++) index[i] = group->element[f->turn[n->id][i]];
    return;
  }
  if (fuse_same_shape(group, t->rank, t->shape)) {
    if (t->rank) memcpy(index, group->element, t->rank * sizeof *index);
    return;
  }
  Dim linear = linear_of_index(d, group->element, group->shape, group->rank);
  index_of_linear(d, linear, t->shape, t->rank, index);
}

void group_read_index(const Fusion *f, const Group *g, const Node *n, Dim *index) {
  if (fuse_has_columns(n) || is_scatter(n)) memcpy(index, g->element, g->rank * sizeof *index);
  else group_index(f, g, n, index);
}

/* ---- columns ---- */

/* Is there a number for each of the last axis's indices, which all the others share, or those of an
 * image? */
static bool uses_channels(const Fusion *f, const Node *n, Dim last) {
  Dim own = value_numel(f->graph, &n->type);
  for (uint32_t i = 0; i < n->nargs; i++) {
    if (n->args[i].kind != ARG_NODE || n->args[i].node->type.kind != VALUE_TENSOR) continue;
    const ValueType *t = &n->args[i].node->type;
    Dim numel = value_numel(f->graph, t);
    bool broadcast = t->rank == n->type.rank && t->shape[t->rank - 1] == last && numel != own;
    if (numel == last || broadcast) return true;
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

typedef struct {
  const Fusion *f;
  Dim rows;
  const Node *data;
  bool one; /* each row has one index */
} RowIndices;

static void note_row_index(Node **operand, void *ctx) {
  RowIndices *x = ctx;
  Node *n = *operand;
  if (n == x->data || n->type.kind != VALUE_TENSOR) return;
  while (prim_is_view(n)) n = view_operand(n);
  x->one &= value_numel(x->f->graph, &n->type) == x->rows;
}

/* Does n take whole rows, by an index each, or sum them up? */
static bool takes_rows(const Fusion *f, Node *n, Dim rows) {
  if (graph_is(n, OP_nereid_segment_sum_default)) return true;
  RowIndices x = {f, rows, n->args[0].node, true};
  if (prim_kind(n->op) != PRIM_GATHER) return false;
  graph_each_use(n, note_row_index, &x);
  return x.one;
}

void fuse_find_rows(const Fusion *f, Group *g) {
  const Node *first = g->nodes.data[0];
  const ValueType *t = &first->type;
  if (g->kind != GROUP_LOOPS || !dim_is(g->r, 1) || t->rank < 2) return;
  if (!fuse_same_shape(g, t->rank, t->shape)) return;
  Dim last = t->shape[t->rank - 1], rows = fuse_shape_product(f->graph, t->shape, t->rank - 1);
  if (!dim_is_int(last) || last->value < COLUMNS_MIN || last->value > FUSE_COLUMNS_MAX) return;
  bool takes = false;
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    bool taking = takes_rows(f, n, rows);
    if (prim_kind(n->op) != PRIM_POINTWISE && !taking) return;
    takes |= taking;
  }
  if (takes && !dim_is(rows, 1)) fuse_axes_domain(f, g, t, 1u << (t->rank - 1));
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
  if (uses) fuse_axes_domain(f, g, t, 1u << (t->rank - 1));
}
