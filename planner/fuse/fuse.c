#include "planner/fuse/fuse.h"

#include <string.h>

#include "graph/analysis/attention.h"
#include "graph/analysis/library_problem.h"
#include "graph/analysis/loops.h"
#include "graph/analysis/weight_constants.h"
#include "graph/ops/graph_text.h"
#include "planner/fuse/fuse_state.h"
#include "planner/fuse/order_groups.h"
#include "planner/fuse/recompute.h"
#include "planner/fuse/strips.h"

/* ---- domains: the rows and columns along which a node is computed ---- */

static Dim shape_product(Graph *g, const Dim *shape, uint32_t rank) {
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
  to->x = shape_product(f->graph, n->type.shape, n->type.rank);
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

/* The domain of a tensor's elements with the axes of `along` as columns: the others, and those,
 * each in order. */
static void axes_domain(const Fusion *f, Group *to, const ValueType *t, uint32_t along) {
  Graph *g = f->graph;
  Dim part[GRAPH_RANK_MAX], total[2];
  for (uint32_t r = 0; r < 2; r++) {
    total[r] = shape_product(g, part, axes_of(t->rank, t->shape, along, r, part));
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

Group *group_part(const Fusion *f, const Group *g, uint32_t part) {
  Dims *d = f->graph->dims;
  uint32_t axis = g->strip_axis;
  Group *out = ARENA_NEW(f->arena, Group);
  *out = *g;
  Dim parts = dim_int(d, g->strip), size = dim_floordiv(d, axis ? g->r : g->x, parts);
  Dim strip = dim_is(size, 1) ? dim_int(d, 0) : dim_shared_index(d, axis ? "r" : "x", size);
  out->index[axis] = dim_add(d, dim_mul(d, strip, parts), dim_int(d, part));
  out->element = domain_element(f, out, out->columns, out->index);
  if (axis) out->r = size;
  else out->x = size;
  return out;
}

static void column_domain(const Fusion *f, Group *to, const Node *n) {
  axes_domain(f, to, &n->args[0].node->type, axes_along(f->graph, n));
}

enum { COLUMNS_MIN = 16 };

/* The last axis of a window's result as columns: its neighbours are neighbours in memory, and the
 * part of an index that depends on the other axes, most of it, is computed once for all of them. */
static void window_domain(const Fusion *f, Group *to, const Node *n) {
  const ValueType *t = &n->type;
  Dim last = t->shape[t->rank - 1];
  bool fits = dim_is_int(last) && last->value >= COLUMNS_MIN && last->value <= FUSE_COLUMNS_MAX;
  if (fits) axes_domain(f, to, t, 1u << (t->rank - 1));
  else flat_domain(f, to, n);
}

static void matmul_extents(Group *to, const Node *n, Dims *d) {
  const ValueType *a = &n->args[0].node->type, *b = &n->args[1].node->type;
  bool batched = a->rank == 3;
  to->extent[0] = batched ? a->shape[0] : dim_int(d, 1);
  to->extent[1] = a->shape[a->rank - 2];
  to->extent[2] = b->shape[b->rank - 1];
  to->extent[3] = a->shape[a->rank - 1];
}

/* The positions of all images are rows, the channels of one group columns, groups batches. */
static void convolution_extents(Graph *g, Group *to, const Node *n) {
  const ValueType *t = &n->type, *weight = &n->args[1].node->type;
  to->extent[0] = graph_arg(g, n, "groups").dim;
  to->extent[1] = shape_product(g, t->shape, t->rank - 1);
  to->extent[2] = dim_floordiv(g->dims, t->shape[t->rank - 1], to->extent[0]);
  to->extent[3] = shape_product(g, weight->shape, weight->rank - 1);
}

/* The index in the result of a row and column of a batch. */
static void product_index(Graph *g, const Group *to, const Node *n, Dim *element) {
  const ValueType *t = &n->type;
  Dims *d = g->dims;
  if (prim_kind(n->op) == PRIM_MATMUL) {
    for (uint32_t i = 0; i < t->rank; i++) element[i] = to->index[3 - t->rank + i];
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
  else convolution_extents(f->graph, to, n);
  for (uint32_t i = 0; i < 3; i++) {
    bool one = i == 0 && dim_is(to->extent[0], 1);
    to->index[i] = one ? dim_int(d, 0) : dim_shared_index(d, names[i], to->extent[i]);
  }
  to->x = shape_product(f->graph, t->shape, t->rank);
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
  to->extent[1] = shape_product(g, c.y->shape, 3);
  to->extent[2] = dim_quotient(g->dims, c.w->shape[0], c.groups);
  to->extent[3] = shape_product(g, c.w->shape + 1, 3);
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

/* Does n go along an axis, so that its domain has columns? */
static bool fuse_has_columns(const Node *n) {
  PrimKind k = prim_kind(n->op);
  return k == PRIM_REDUCE || k == PRIM_SCAN;
}

/* The role of n in its own domain. */
static Role fuse_natural_role(const Node *n) {
  return fuse_has_columns(n) && prim_kind(n->op) != PRIM_SCAN ? ROLE_ROW : ROLE_FULL;
}

void fuse_set_domain(const Fusion *f, Group *to, const Node *n) {
  PrimKind k = prim_kind(n->op);
  if (k == PRIM_LIBRARY) library_domain(f, to, n);
  else if (prim_is_product(k)) product_domain(f, to, n);
  else if (k == PRIM_ATTENTION) attention_domain(f, to, n);
  else if (fuse_has_columns(n)) column_domain(f, to, n);
  else if (k == PRIM_WINDOW) window_domain(f, to, n);
  else flat_domain(f, to, k == PRIM_SCATTER ? n->args[1].node : n);
}

/* Is that the shape of the group's domain? */
static bool fuse_same_shape(const Group *g, uint32_t rank, const Dim *shape) {
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
  if (fuse_same_shape(group, t->rank, t->shape)) {
    if (t->rank) memcpy(index, group->element, t->rank * sizeof *index);
    return;
  }
  Dim linear = linear_of_index(d, group->element, group->shape, group->rank);
  index_of_linear(d, linear, t->shape, t->rank, index);
}

/* ---- columns ---- */

/* Is there a number for each of the last axis's indices, which all the others share? */
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

/* A group that goes through elements one by one, some of whose operands have only channels, gets
 * the channels as columns: in vectors, x % channels is dear, and no address that counts up. */
static void fuse_find_channels(const Fusion *f, Group *g) {
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

enum {
  GROUP_NODES_MAX = 200,    /* in a group */
  GROUP_WORK_MAX = 400,     /* the same with the nodes that they compute inline */
  KEPT_BYTES_MAX = 4 << 20, /* of a value that is computed once */
  ROUNDING = 32,            /* weights may grow by such a part, to whole vectors */
  INLINE_DEPTH_MAX = 32,    /* nodes of no group in a row */
  SLICES_MAX = 64,          /* slices that a group writes beside those that it computes */
  SLICE_GROUPS_MAX = 8,     /* the latest of a memory's groups that another slice may join */
  INLINE_NODES_MAX = 256    /* nodes of no group below one, each as often as it is reached */
};

/* How a node's value is used, through views. */
typedef struct {
  uint32_t uses;
  bool apart;     /* by something that needs it in memory: a template, an output */
  uint32_t depth; /* nodes of no group below it, in a row, by weight; 0 for nodes of groups */
  uint32_t below; /* how many there are, each as often as it is reached, to INLINE_NODES_MAX */
  bool free;      /* needs no memory to compute */
  bool repeated;  /* used at many indices for one element, as windows do */
  bool varies;    /* used by nodes that are computed in each run */
  bool elsewhere; /* used for more than the index of a put, which each put computes for itself */
  bool passing;   /* in memory that is written to later: read while it is there */
  int64_t bytes;  /* in memory that are read to compute it */
} Info;

/* The groups that write slices of a memory, the latest last. */
typedef VEC(Group *) Writers;

typedef struct {
  Fusion *f;
  Info *info;             /* by node id */
  Writers *writers;       /* by node id of a memory */
  Group **last_reader;    /* by node id: the last group that reads it */
  bool together;          /* nodes share kernels */
  bool columns;           /* launches are cheap, elements one by one are not: a CPU */
  const FusePlace *place; /* by node id; NULL: any */
  Loops loops;
  Group *checks; /* the last group that checks began; NULL: there is none */
} Fuser;

/* ---- what is put into groups ---- */

static bool computes(const Node *n) {
  if (n->kind != NODE_CALL || !is_tensor(n)) return false;
  PrimKind k = prim_kind(n->op);
  return k != PRIM_VIEW && k != PRIM_NONE && k != PRIM_EMPTY && k != PRIM_INSERTED;
}

static bool is_insert(const Node *n) {
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_INSERT;
}

static bool loops(PrimKind k) {
  return k == PRIM_POINTWISE || k == PRIM_REDUCE || k == PRIM_SCAN || k == PRIM_WINDOW ||
         k == PRIM_GATHER || k == PRIM_CONCAT || k == PRIM_CREATE || k == PRIM_INSERT ||
         k == PRIM_CHECK;
}

static bool is_scatter(const Node *n) { return prim_kind(n->op) == PRIM_SCATTER; }

static bool is_window(const Node *n) {
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_WINDOW;
}

/* Is it as cheap as loading its operand? */
static bool is_dtype_cast(const Node *n) { return graph_is(n, OP_aten_to_dtype); }

typedef struct {
  Fuser *s;
  const Node *user;
} UseInfo;

static bool uses_in_memory(const Node *user, const Node *operand) {
  uint32_t in_memory = prim_in_memory(user);
  bool found = false;
  for (uint32_t i = 0; i < user->nargs; i++)
    found |=
        (in_memory >> i & 1) && user->args[i].kind == ARG_NODE && user->args[i].node == operand;
  return found;
}

/* Does the user read it from memory, so that it must be there? */
static bool read_from_memory(Graph *g, const Node *operand, const Node *user) {
  if (user->kind == NODE_OUTPUT || prim_reads_size(user)) return true;
  PrimKind k = prim_kind(user->op);
  if (k == PRIM_SEARCH || k == PRIM_SCATTER) return uses_in_memory(user, operand);
  return k == PRIM_ATTENTION ? attention_reads(g, user, operand) : !loops(k);
}

/* Nodes are visited from the last to the first: a view's own uses are known by then. */
/* The count that a node reads, which must be in memory. */
static bool is_read_count(const Node *user, const Node *operand) {
  return prim_reads_size(user) && user->args[1].node == operand;
}

/* Does the user compute with it where a put writes? */
static bool is_for_index(const UseInfo *u, const Node *operand) {
  const Node *n = u->user;
  if (prim_puts(n)) return n->args[1].node == operand && n->args[2].node != operand;
  bool computes = prim_is_view(n) || (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_POINTWISE);
  return computes && !prim_reads_size(n) && !u->s->info[n->id].elsewhere;
}

static void note_operand_use(Node **operand, void *ctx) {
  const UseInfo *u = ctx;
  if (prim_checks(u->user)) return; /* it computes again what is computed where it is used */
  Info *to = &u->s->info[(*operand)->id];
  const Info *from = &u->s->info[u->user->id];
  bool view = prim_is_view(u->user) && !is_read_count(u->user, *operand);
  bool passes = view || is_dtype_cast(u->user);
  to->repeated |= passes ? from->repeated : is_window(u->user);
  to->varies |= view ? from->varies : !u->s->f->once[u->user->id];
  to->elsewhere |= !is_for_index(u, *operand);
  to->uses += view ? from->uses : 1;
  to->apart |= view ? from->apart : read_from_memory(u->s->f->graph, *operand, u->user);
}

int64_t fuse_node_bytes(Graph *g, const Node *n) {
  Dim elements = value_numel(g, &n->type);
  int64_t bytes;
  bool known = dim_is_int(elements) &&
               !__builtin_mul_overflow(elements->value, dtype_bytes(n->type.dtype), &bytes);
  return known ? bytes : INT64_MAX;
}

static void note_free(Node **operand, void *ctx) {
  const UseInfo *u = ctx;
  Info *info = &u->s->info[u->user->id];
  const Info *from = &u->s->info[(*operand)->id];
  if (!is_tensor(*operand)) return;
  if (from->passing && prim_is_view(u->user)) info->passing = true;
  else if (from->passing) info->apart = true;
  info->free &= from->free;
  u->s->f->once[u->user->id] &= u->s->f->once[(*operand)->id];
  if (__builtin_add_overflow(info->bytes, from->bytes, &info->bytes)) info->bytes = INT64_MAX;
  /* The index of a gather that is known to depend on no data becomes a part of its address. */
  bool index = from->free && u->user->kind == NODE_CALL && prim_kind(u->user->op) == PRIM_GATHER;
  if (index && *operand != u->user->args[0].node) return;
  uint32_t depth = from->depth + (prim_is_view(u->user) ? view_weight(u->user) : 1);
  if (depth > info->depth) info->depth = depth;
  info->below += from->below + 1;
  if (info->below > INLINE_NODES_MAX) info->below = INLINE_NODES_MAX + 1;
}

static void survey_uses(Fuser *s) {
  const Graph *g = s->f->graph;
  for (Node *n = g->last; n; n = n->prev) {
    UseInfo u = {s, n};
    if (n->kind == NODE_CALL && is_scatter(n)) s->info[n->args[0].node->id].passing = true;
    if (n->kind != NODE_INPUT) graph_each_use(n, note_operand_use, &u);
  }
}

typedef struct {
  const Fuser *s;
  const Node *data;
  bool free;
} Indices;

static void note_index(Node **operand, void *ctx) {
  Indices *x = ctx;
  if (*operand != x->data && is_tensor(*operand)) x->free &= x->s->info[(*operand)->id].free;
}

/* Does n read at indices that depend on no data?  It is as cheap as a view. */
static bool gathers_by_formula(const Fuser *s, Node *n, PrimKind k) {
  if (k != PRIM_GATHER) return false;
  Indices x = {s, n->args[0].node, true};
  graph_each_use(n, note_index, &x);
  return x.free;
}

/* Is n computed where it is used?  Its operands have been decided. */
static bool fits_inline(const Fuser *s, Node *n, PrimKind k) {
  const Info *info = &s->info[n->id];
  bool small = info->depth < INLINE_DEPTH_MAX && info->below <= INLINE_NODES_MAX;
  FusePlace place = s->place ? s->place[n->id] : PLACE_ANY;
  bool once = (info->uses <= 1 || !info->elsewhere) && (!info->repeated || is_dtype_cast(n));
  if (place == PLACE_MEMORY) return false;
  if (gathers_by_formula(s, n, k)) return small && !info->apart;
  return small && !info->apart &&
         (info->free ||
          ((k == PRIM_POINTWISE || k == PRIM_CONCAT) && (once || place == PLACE_USERS)));
}

/* Is it worth a buffer, written once, for readers in each run? */
static bool is_worth_buffer(const Fuser *s, const Node *n) {
  int64_t made_from = s->info[n->id].bytes;
  return s->f->once[n->id] && fuse_node_bytes(s->f->graph, n) <= made_from + made_from / ROUNDING;
}

/* A value that would need a kernel in each run is worth a buffer, too: a table of rotations. */
static bool is_worth_memory(const Fuser *s, const Node *n) {
  return s->f->once[n->id] && fuse_node_bytes(s->f->graph, n) <= KEPT_BYTES_MAX;
}

static bool is_inlined(Fuser *s, Node *n) {
  Info *info = &s->info[n->id];
  UseInfo u = {s, n};
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
  info->free =
      n->kind != NODE_INPUT && (k == PRIM_CREATE || k == PRIM_POINTWISE || prim_is_view(n));
  graph_each_use(n, note_free, &u);
  bool kept = is_worth_buffer(s, n), wanted = kept && info->varies && !info->free;
  if (prim_is_view(n) || (s->together && fits_inline(s, n, k) && !wanted)) return true;
  bool slice = k == PRIM_INSERT || k == PRIM_EMPTY; /* insert.c has decided */
  if (!slice) s->f->once[n->id] = kept || is_worth_memory(s, n);
  info->bytes = fuse_node_bytes(s->f->graph, n);
  info->depth = 0;
  return false;
}

/* ---- joining ---- */

/* The role that a node has in a domain; ROLE_NONE: it doesn't fit. */
static Role role_in(const Fusion *f, const Group *g, const Node *n) {
  Dim elements = value_numel(f->graph, &n->type);
  if (group_checks_scalar(f, g, n)) return ROLE_ROW;
  if (fuse_has_columns(n) && fuse_natural_role(n) == ROLE_ROW)
    return elements == g->x ? ROLE_ROW : ROLE_NONE;
  if (prim_kind(n->op) == PRIM_SCAN && dim_is(g->r, 1)) return ROLE_NONE;
  if (elements == dim_mul(f->graph->dims, g->x, g->r)) return ROLE_FULL;
  return elements == g->x && g->kind == GROUP_LOOPS ? ROLE_ROW : ROLE_NONE;
}

typedef struct {
  const Fusion *f;
  const Group *group;
  const Node *apart; /* used at an index that is not its own; NULL: none is */
} Check;

static void check_use(Node *operand, const Dim *index, void *ctx) {
  Check *c = ctx;
  if (c->f->of[operand->id] != c->group) return;
  PrimKind kind = prim_kind(operand->op);
  if (kind == PRIM_INSERTED || kind == PRIM_PART || kind == PRIM_SCATTER) c->apart = operand;
  Dim own[GRAPH_RANK_MAX];
  group_index(c->f, c->group, operand, own);
  for (uint32_t i = 0; i < operand->type.rank; i++)
    if (own[i] != index[i] && !dim_is(operand->type.shape[i], 1)) c->apart = operand;
}

void group_read_index(const Fusion *f, const Group *g, const Node *n, Dim *index) {
  if (fuse_has_columns(n) || is_scatter(n)) memcpy(index, g->element, g->rank * sizeof *index);
  else group_index(f, g, n, index);
}

/* Does n use nodes of its group at their own indices only? */
static FuseStop uses_fit(const Fusion *f, const Group *g, Node *n) {
  Dim index[GRAPH_RANK_MAX];
  Check c = {f, g, NULL};
  group_read_index(f, g, n, index);
  if (!prim_has_template(prim_kind(n->op))) each_use_at(f, n, index, check_use, &c);
  uint32_t in_memory = prim_kind(n->op) == PRIM_SEARCH ? prim_in_memory(n) : 0;
  for (uint32_t i = 0; in_memory >> i; i++)
    if ((in_memory >> i & 1) && f->of[n->args[i].node->id] == g) c.apart = n->args[i].node;
  return (FuseStop){c.apart ? STOP_INDEX : STOP_NONE, c.apart};
}

static FuseStop stopped(StopKind kind, const Node *at) { return (FuseStop){kind, at}; }

/* Do n and all nodes of g fit into `domain`?  If so that is g's from now on. */
static FuseStop try_domain(Fusion *f, Group *g, const Group *domain, Node *n) {
  Group old = *g;
  Role *roles = ARENA_ARRAY(f->arena, Role, g->nodes.len);
  for (size_t i = 0; i < g->nodes.len; i++) roles[i] = f->role[g->nodes.data[i]->id];
  g->x = domain->x;
  g->r = domain->r;
  memcpy(g->index, domain->index, sizeof g->index);
  g->rank = domain->rank;
  g->shape = domain->shape;
  g->element = domain->element;
  g->columns = domain->columns;
  FuseStop stop = {0};
  for (size_t i = 0; i < g->nodes.len && !stop.kind; i++) {
    Node *m = g->nodes.data[i];
    f->role[m->id] = role_in(f, g, m);
    if (f->role[m->id] == ROLE_NONE) stop = stopped(STOP_ROWS, m);
  }
  for (size_t i = 0; i < g->nodes.len && !stop.kind; i++) stop = uses_fit(f, g, g->nodes.data[i]);
  f->role[n->id] = fuse_natural_role(n);
  if (!stop.kind) stop = uses_fit(f, g, n);
  if (!stop.kind) return stop;
  *g = old;
  for (size_t i = 0; i < g->nodes.len; i++) f->role[g->nodes.data[i]->id] = roles[i];
  return stop;
}

static bool group_has_window(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (is_window(g->nodes.data[i])) return true;
  return false;
}

static bool group_has_columns(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (fuse_has_columns(g->nodes.data[i])) return true;
  return false;
}

/* A reduction or scan joins a group whose domain is its own, or that has no columns yet.  Rows that
 * do not fit a tile are read several times, which is too expensive for a window. */
static FuseStop columns_fit(Fusion *f, Group *g, Node *n) {
  Group own = *g;
  fuse_set_domain(f, &own, n);
  if (group_has_window(g) && !(dim_is_int(own.r) && own.r->value <= FUSE_COLUMNS_MAX))
    return stopped(STOP_EXTENT, NULL);
  if (!group_has_columns(g)) return try_domain(f, g, &own, n);
  if (own.x != g->x || own.r != g->r) return stopped(STOP_EXTENT, NULL);
  f->role[n->id] = fuse_natural_role(n);
  bool same = fuse_same_shape(g, own.rank, own.shape) && own.columns == g->columns;
  return same ? uses_fit(f, g, n) : stopped(STOP_AXES, NULL);
}

static uint32_t work_of(const Fuser *s, const Node *n) { return 1 + s->info[n->id].below; }

static bool is_full(const Fuser *s, const Group *g, const Node *n) {
  return g->nodes.len >= GROUP_NODES_MAX || g->work + work_of(s, n) > GROUP_WORK_MAX;
}

static void check_member(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  Check *c = ctx;
  if (c->f->of[operand->id] == c->group) c->apart = operand;
}

/* Puts to different tensors share a kernel if none reads another's, and what n writes to has no
 * reader that runs later.  A put joins scans that say where it writes. */
static FuseStop puts_fit(const Fuser *s, Group *g, Node *n) {
  const Fusion *f = s->f;
  const Group *reader = s->last_reader[n->args[0].node->id];
  Check c = {f, g, NULL};
  bool only = prim_puts(g->nodes.data[0]);
  if (!prim_puts(n) || !(only || group_has_columns(g))) return stopped(STOP_SCATTER, NULL);
  if (reader && reader->number >= g->number) return stopped(STOP_SCATTER, NULL);
  if (only) each_operand(f, n, check_member, &c);
  if (c.apart || f->of[n->args[0].node->id] == g) return stopped(STOP_SCATTER, NULL);
  if (is_full(s, g, n)) return stopped(STOP_FULL, NULL);
  const ValueType *t = &n->args[1].node->type;
  if (!fuse_same_shape(g, t->rank, t->shape)) return stopped(STOP_EXTENT, NULL);
  f->role[n->id] = ROLE_FULL;
  return only ? stopped(STOP_NONE, NULL) : uses_fit(f, g, n);
}

/* The reason why n can't join g; kind STOP_NONE: it can, and has its role there. */
static FuseStop why_not_joined(const Fuser *s, Group *g, Node *n) {
  Fusion *f = s->f;
  if (g->once != f->once[n->id]) return stopped(STOP_ONCE, NULL);
  if (f->reads.len && g->number < vec_last(&f->reads).number) return stopped(STOP_READ, NULL);
  if (g->number < f->barrier) return stopped(STOP_LOOP, NULL);
  if (prim_has_template(prim_kind(n->op))) return stopped(STOP_PRODUCT, NULL);
  if (g->kind == GROUP_LIBRARY) return stopped(STOP_LIBRARY, NULL);
  if (is_scatter(n) || is_scatter(vec_last(&g->nodes))) return puts_fit(s, g, n);
  if (is_full(s, g, n)) return stopped(STOP_FULL, NULL);
  bool loops = fuse_has_columns(n) || is_window(n);
  if (loops && g->kind != GROUP_LOOPS) return stopped(STOP_TILES, NULL);
  if (fuse_has_columns(n)) return columns_fit(f, g, n);
  f->role[n->id] = role_in(f, g, n);
  return f->role[n->id] == ROLE_NONE ? stopped(STOP_EXTENT, NULL) : uses_fit(f, g, n);
}

/* ---- groups ---- */

typedef struct {
  Fuser *s;
  bool once;      /* n's value is; groups of the other kind do not count */
  Group *latest;  /* that n depends on */
  Group *sibling; /* the latest that reads what n reads */
} Candidates;

static void note_candidate(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  Candidates *c = ctx;
  Group *of = c->s->f->of[operand->id], *reader = c->s->last_reader[operand->id];
  if (of && of->once != c->once) of = NULL;
  if (reader && reader->once != c->once) reader = NULL;
  if (of && (!c->latest || of->number > c->latest->number)) c->latest = of;
  if (reader && (!c->sibling || reader->number > c->sibling->number)) c->sibling = reader;
}

static void note_operand_reader(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  const Candidates *c = ctx;
  c->s->last_reader[operand->id] = c->latest;
}

static GroupKind group_kind(const Node *n) {
  PrimKind k = prim_kind(n->op);
  if (k == PRIM_ATTENTION) return GROUP_ATTENTION;
  if (k == PRIM_LIBRARY) return GROUP_LIBRARY;
  return prim_is_product(k) ? GROUP_MATMUL : GROUP_LOOPS;
}

static Group *group_new(Fusion *f, Node *n) {
  Group *g = ARENA_NEW(f->arena, Group);
  g->kind = group_kind(n);
  g->number = (uint32_t)f->groups.len;
  g->once = f->once[n->id];
  fuse_set_domain(f, g, n);
  f->role[n->id] = fuse_natural_role(n);
  vec_push(f->arena, &f->groups, g);
  return g;
}

/* One of the latest groups that write to the same memory, and may n. */
static Group *writer_for(const Fuser *s, Node *n, const Group *after) {
  const Writers *w = &s->writers[n->args[0].node->id];
  for (size_t i = 0; i < SLICE_GROUPS_MAX && i < w->len; i++) {
    Group *g = w->data[w->len - 1 - i];
    if ((after && g->number <= after->number) || g->nodes.len >= SLICES_MAX) continue;
    if (!why_not_joined(s, g, n).kind) return g;
  }
  return NULL;
}

static void note_writer(Fuser *s, Node *n, Group *g) {
  Writers *w = &s->writers[n->args[0].node->id];
  for (size_t i = 0; i < SLICE_GROUPS_MAX && i < w->len; i++)
    if (w->data[w->len - 1 - i] == g) return;
  vec_push(s->f->arena, w, g);
}

/* On a CPU elements that go one by one stay by themselves. */
static bool takes_check(const Fuser *s, const Candidates *c, Group *g, Node *n) {
  if (!g || g->kind != GROUP_LOOPS || is_insert(g->nodes.data[0])) return false;
  if (c->latest && g->number < c->latest->number) return false;
  bool scalar = group_checks_scalar(s->f, g, n), some = dim_range(s->f->graph->dims, g->x).lo > 0;
  if (scalar && (g == c->latest || !some)) return false; /* what it computes is a tile */
  if (!scalar && s->columns && dim_is(g->r, 1) && g != s->checks) return false;
  return !why_not_joined(s, g, n).kind;
}

/* Nothing reads what a check gives, so it may join any loops that come after its operands: those
 * that read them, other checks, or some of the last ones. */
static Group *group_for_check(const Fuser *s, const Candidates *c, Node *n) {
  enum { TRIED_MAX = 64 };
  Group *const near[] = {c->latest, c->sibling, s->checks};
  const size_t groups = s->f->groups.len, tried = groups < TRIED_MAX ? groups : TRIED_MAX;
  for (size_t i = 0; i < sizeof near / sizeof *near; i++)
    if (takes_check(s, c, near[i], n)) return near[i];
  for (size_t i = 1; i <= tried; i++)
    if (takes_check(s, c, s->f->groups.data[groups - i], n)) return s->f->groups.data[groups - i];
  return NULL;
}

static Group *group_for(Fuser *s, const Candidates *c, Node *n) {
  FuseStop *stop = &s->f->stop[n->id];
  bool later = c->sibling && (!c->latest || c->sibling->number > c->latest->number);
  if (!s->together) {
    *stop = stopped(STOP_EAGER, NULL);
    return NULL;
  }
  if (prim_checks(n)) return group_for_check(s, c, n);
  if (c->latest) *stop = why_not_joined(s, c->latest, n);
  if (c->latest && !stop->kind) return c->latest;
  if (later && !why_not_joined(s, c->sibling, n).kind) return c->sibling;
  return is_insert(n) ? writer_for(s, n, c->latest) : NULL;
}

/* All slices have been written when the last of their groups has run. */
static void assign_inserted(Fuser *s, Node *n) {
  const Arg *slices = &n->args[1];
  Group *last = NULL;
  for (uint32_t i = 0; i < slices->n; i++) {
    Group *g = s->f->of[slices->items[i].node->id];
    if (!last || g->number > last->number) last = g;
  }
  s->f->of[n->id] = last;
  s->info[n->id].bytes = fuse_node_bytes(s->f->graph, n);
}

static void assign_group(Fuser *s, Node *n) {
  Fusion *f = s->f;
  Candidates c = {.s = s, .once = f->once[n->id]};
  each_operand(f, n, note_candidate, &c);
  bool part = prim_kind(n->op) == PRIM_PART;
  Group *g = part ? f->of[n->args[0].node->id] : group_for(s, &c, n);
  if (part) f->once[n->id] = g->once;
  if (!g) {
    g = group_new(f, n);
    if (prim_checks(n)) s->checks = g;
  }
  if (is_insert(n)) note_writer(s, n, g);
  f->of[n->id] = g;
  g->work += work_of(s, n);
  s->info[n->id].depth = s->info[n->id].below = 0;
  vec_push(f->arena, &g->nodes, n);
  c.latest = g;
  each_operand(f, n, note_operand_reader, &c);
}

/* ---- what is written to memory ---- */

static void note_stored(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  const Check *c = ctx;
  if (c->f->of[operand->id] != c->group) c->f->stored[operand->id] = true;
}

static void note_output(Node **operand, void *ctx) {
  Fusion *f = ctx;
  f->stored[(*operand)->id] = true;
}

static void find_stored_nodes(Fusion *f) {
  for (size_t i = 0; i < f->groups.len; i++) {
    Check c = {f, f->groups.data[i], NULL};
    for (size_t k = 0; k < c.group->nodes.len; k++)
      each_operand(f, c.group->nodes.data[k], note_stored, &c);
  }
  for (Node *n = f->graph->first; n; n = n->next)
    if (is_insert(n)) f->stored[n->id] = true;
  for (size_t i = 0; i < f->reads.len; i++)
    f->stored[f->reads.data[i].node->args[1].node->id] = true;
  for (size_t i = 0; i < f->loops.len; i++) {
    Node *end = (Node *)f->loops.data[i].end;
    graph_each_use(end, note_output, f);
    graph_each_use(end->args[0].node, note_output, f);
  }
  graph_each_use(f->graph->last, note_output, f);
}

/* Values that must be in memory, and those that windows read many times. */
static bool *kept_values(const Fuser *s) {
  const Graph *g = s->f->graph;
  bool *kept = ARENA_ARRAY(s->f->arena, bool, g->nids);
  for (Node *n = g->first; n; n = n->next)
    kept[n->id] = s->info[n->id].apart || s->info[n->id].repeated;
  return kept;
}

static Fuser new_fuser(Graph *g, Arena *a, const FuseOptions *options) {
  Fusion *f = ARENA_NEW(a, Fusion);
  *f = (Fusion){.graph = g, .arena = a};
  f->of = ARENA_ARRAY(a, Group *, g->nids);
  f->role = ARENA_ARRAY(a, Role, g->nids);
  f->stored = ARENA_ARRAY(a, bool, g->nids);
  f->stop = ARENA_ARRAY(a, FuseStop, g->nids);
  f->once = options->freeze ? constants_find(g, a) : ARENA_ARRAY(a, bool, g->nids);
  Fuser s = {.f = f, .together = options->together, .columns = options->columns};
  s.loops = loops_find(g, a);
  s.info = ARENA_ARRAY(a, Info, g->nids);
  s.last_reader = ARENA_ARRAY(a, Group *, g->nids);
  s.writers = ARENA_ARRAY(a, Writers, g->nids);
  return s;
}

/* ---- loops: their parts share no kernel with steps around them ---- */

static FusionLoop *find_loop(Fusion *f, const Node *end) {
  size_t i = 0;
  while (f->loops.data[i].end != end) i++;
  return &f->loops.data[i];
}

/* Of the loops that began after this one, all have ended. */
static void end_loop(Fusion *f, const Node *end, uint32_t number) {
  FusionLoop *loop = find_loop(f, end);
  loop->past = number;
  loop->inside = (uint32_t)(f->loops.len - 1 - (size_t)(loop - f->loops.data));
}

/* n is the last of its loop's carried values, its test, its end, or one of its results. */
static void note_loop(Fuser *s, Node *n) {
  Fusion *f = s->f;
  uint32_t number = (uint32_t)f->groups.len;
  for (uint32_t i = 0; i < s->loops.n; i++) {
    const Loop *loop = &s->loops.list[i];
    if (n != loop->begin && n != loop->test && n != loop->end) continue;
    f->barrier = number;
    if (n == loop->begin) vec_push(f->arena, &f->loops, ((FusionLoop){loop->end, number, 0, 0, 0}));
    else if (n == loop->test) find_loop(f, loop->end)->body = number;
    else end_loop(f, loop->end, number);
  }
}

/* The memory has its last value when all of the loop has run, as far as groups go. */
static bool assign_loop_node(Fuser *s, Node *n) {
  if (graph_is(n, OP_nereid_carried_default)) s->info[n->id].apart = true;
  if (graph_is(n, OP_nereid_loop_result_default)) {
    s->f->of[n->id] = vec_last(&s->f->groups);
    s->info[n->id].bytes = fuse_node_bytes(s->f->graph, n);
    return true;
  }
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_LOOP;
}

static void assign_node(Fuser *s, Node *n) {
  bool done = s->loops.n && assign_loop_node(s, n);
  if (!done && n->kind == NODE_CALL && prim_kind(n->op) == PRIM_INSERTED) assign_inserted(s, n);
  else if (!done && !is_inlined(s, n) && computes(n)) assign_group(s, n);
  if (s->loops.n) note_loop(s, n);
}

static void assign_groups(Fuser *s) {
  Fusion *f = s->f;
  Graph *g = f->graph;
  for (uint32_t i = 0; i < dims_symbols(g->dims); i++) {
    Dim symbol = dims_symbol_at(g->dims, i);
    if (!symbol->indexed) vec_push(f->arena, &f->symbols, symbol);
  }
  survey_uses(s);
  for (Node *n = g->first; n; n = n->next) {
    if (n->kind == NODE_INPUT && is_tensor(n)) s->info[n->id].bytes = fuse_node_bytes(g, n);
    if (n->kind != NODE_CALL && n->kind != NODE_GETITEM) continue;
    assign_node(s, n);
    if (prim_reads_size(n))
      vec_push(f->arena, &f->reads, ((FusionRead){n, (uint32_t)f->groups.len}));
  }
  find_stored_nodes(f);
}

Fusion *fuse_graph(Graph *g, Arena *a, const FuseOptions *options) {
  Fuser s = new_fuser(g, a, options);
  assign_groups(&s);
  const FusePlace *place = s.together ? fuse_find_places(s.f, kept_values(&s)) : NULL;
  if (place) {
    s = new_fuser(g, a, options);
    s.place = place;
    assign_groups(&s);
  }
  for (size_t i = 0; i < s.f->groups.len && options->columns; i++)
    fuse_find_channels(s.f, s.f->groups.data[i]);
  if (options->strips) fuse_choose_strips(s.f);
  if (g->saves_memory) fuse_order_groups(s.f);
  return s.f;
}

/* ---- text ---- */

static void print_group(Text *out, const Fusion *f, const Group *g) {
  static const char *const kinds[] = {"loops", "matmul", "attention", "library"};
  text_printf(out, "%u: %s%s ", g->number, g->once ? "once " : "", kinds[g->kind]);
  dim_print(out, g->x);
  if (!dim_is(g->r, 1)) {
    text_puts(out, " x ");
    dim_print(out, g->r);
  }
  text_puts(out, ":");
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    text_printf(out, " %s%s", n->name, f->stored[n->id] ? "!" : "");
  }
  text_puts(out, "\n");
}

void fusion_print(Text *out, const Fusion *f) {
  const Graph *g = f->graph;
  for (size_t i = 0; i < f->groups.len; i++) print_group(out, f, f->groups.data[i]);
  for (size_t i = 0; i < g->rewrites.len; i++)
    text_printf(out, "# rule %s made %s\n", g->rewrites.data[i].rule, g->rewrites.data[i].node);
}
