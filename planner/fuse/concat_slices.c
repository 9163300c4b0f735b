/* Concatenations of many tensors.  No kernel computes one alone: the kernel of each source writes
 * it to its slice of the result.
 *
 *   memory = nereid.empty([96, 8], dtype = torch.float32, once = False)
 *   a = nereid.insert_slice(memory, x, 0, 0)       x's value, also written to the slice
 *   b = nereid.insert_slice(memory, y, 0, 1)
 *   cat = nereid.inserted(memory, [a, b, ...])
 *
 * Time and text grow with the number of sources, and a source that is computed needs no copy.
 *
 * Gradients of queries, keys and values are turned after they are joined, to the rows of a matrix.
 * They are turned before, so that each kernel writes its columns of the matrix.  Gradients of parts
 * of the heads are joined in the order in which kernels compute them. */
#include "planner/fuse/fuse.h"

#include "planner/passes.h"

#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/analysis/weight_constants.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/prims.h"

enum {
  PIECES_MAX = 16, /* of a concatenation that a kernel makes element by element */
  MEMORY = 0,
  SOURCE = 1,
  AXIS = 2,
  START = 3
};

/* ---- slices ---- */

Dim insert_index(Graph *g, const Node *n, const Dim *index) {
  const ValueType *whole = &n->args[MEMORY].node->type;
  Dim at[GRAPH_RANK_MAX];
  uint32_t axis = (uint32_t)n->args[AXIS].dim->value;
  memcpy(at, index, whole->rank * sizeof *at);
  at[axis] = dim_add(g->dims, at[axis], n->args[START].dim);
  return linear_of_index(g->dims, at, whole->shape, whole->rank);
}

Dim insert_offset(Graph *g, const Node *n) {
  Dim origin[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < GRAPH_RANK_MAX; i++) origin[i] = dim_int(g->dims, 0);
  return insert_index(g, n, origin);
}

/* ---- which concatenations ---- */

typedef struct {
  Node **items; /* without empty ones */
  uint32_t n, axis;
} Cat;

static Cat cat_of(Graph *g, const Node *n) {
  Arg list = graph_arg(g, n, "tensors");
  int64_t dim = graph_arg(g, n, "dim").dim->value;
  uint32_t rank = n->type.rank;
  Cat c = {ARENA_ARRAY(g->arena, Node *, list.n), 0, (uint32_t)(dim < 0 ? dim + rank : dim)};
  for (uint32_t i = 0; i < list.n; i++) {
    Node *x = list.items[i].node;
    /* Empty tensors of rank 1 may stand in a cat of others. */
    if (x->type.rank == rank && !dim_is(x->type.shape[c.axis], 0)) c.items[c.n++] = x;
  }
  return c;
}

static bool is_cat(const Node *n) { return graph_is(n, OP_aten_cat_default); }

/* All of a weight that the graph does not write to, in any shape? */
static bool is_weight(Graph *g, Node *x) {
  Dim elements = value_numel(g, &x->type);
  while (x->kind == NODE_CALL && prim_kind(x->op) == PRIM_VIEW) x = view_operand(x);
  if (x->kind != NODE_INPUT || x->input.kind == INPUT_USER) return false;
  for (uint32_t i = 0; g->outputs && i < g->last->args[0].n; i++)
    if (g->outputs[i].kind == OUTPUT_MUTATION && g->outputs[i].target == x) return false;
  return dim_is_int(elements) && value_numel(g, &x->type) == elements;
}

static bool are_weights(Graph *g, const Cat *c) {
  bool all = true;
  for (uint32_t i = 0; i < c->n && all; i++) all = is_weight(g, c->items[i]);
  return all;
}

/* ---- nodes ---- */

static Node *slice_call_new(Graph *g, Node *n, OpId op, uint32_t nargs, uint32_t nnamed) {
  Node *made = graph_node(g, NODE_CALL, n, nargs, nnamed);
  made->op = ops_at(op);
  made->location = n->location;
  made->origin = n->origin;
  return made;
}

static Node *concat_memory_new(Graph *g, Node *n, bool once) {
  Node *m = slice_call_new(g, n, OP_nereid_empty_default, 1, 2);
  m->args[0] = arg_list(g, n->type.rank);
  for (uint32_t i = 0; i < n->type.rank; i++) m->args[0].items[i] = arg_dim(n->type.shape[i]);
  Arg dtype = {.kind = ARG_DTYPE, .dtype = n->type.dtype, .name = dtype_torch_name(n->type.dtype)};
  m->named[0] = (NamedArg){pool_name(g->names, "dtype"), dtype};
  m->named[1] = (NamedArg){pool_name(g->names, "once"), {.kind = ARG_BOOL, .flag = once}};
  m->type = n->type;
  graph_fresh_name(g, m, n->name);
  return m;
}

static Node *slice_new(Graph *g, Node *n, Node *memory, Node *piece, uint32_t axis, Dim start) {
  Node *made = slice_call_new(g, n, OP_nereid_insert_slice_default, 4, 0);
  made->args[MEMORY] = arg_node(memory);
  made->args[SOURCE] = arg_node(piece);
  made->args[AXIS] = arg_int(g, axis);
  made->args[START] = arg_dim(start);
  made->type = piece->type;
  graph_fresh_name(g, made, piece->name);
  return made;
}

/* `once`: all is constant. */
static void insert_all(Graph *g, Node *n, const Cat *c, bool once) {
  Node *memory = concat_memory_new(g, n, once || are_weights(g, c));
  Arg slices = arg_list(g, c->n);
  Dim start = dim_int(g->dims, 0);
  for (uint32_t i = 0; i < c->n; i++) {
    slices.items[i] = arg_node(slice_new(g, n, memory, c->items[i], c->axis, start));
    start = dim_add(g->dims, start, c->items[i]->type.shape[c->axis]);
  }
  n->op = ops_at(OP_nereid_inserted_default);
  n->args = ARENA_ARRAY(g->arena, Arg, 2);
  n->args[0] = arg_node(memory);
  n->args[1] = slices;
  n->nargs = 2;
  n->nnamed = 0;
}

/* ---- concatenations of few tensors ---- */

static void note_fused(Node **operand, void *ctx) {
  bool *fused = ctx;
  fused[(*operand)->id] = true;
}

/* Index: a node's id. Does a node that may be computed where its operands are read it, or views?
 * Products and results have it in memory. */
static bool *find_fused(Graph *g) {
  bool *fused = ARENA_ARRAY(g->arena, bool, g->nids);
  for (Node *n = g->last; n; n = n->prev) {
    if (n->kind != NODE_CALL || prim_is_product(prim_kind(n->op))) continue;
    if (!prim_is_view(n)) graph_each_use(n, note_fused, fused);
    else if (fused[n->id]) fused[view_operand(n)->id] = true;
  }
  return fused;
}

/* Index: a node's id.  Does a product compute it where it would read its right operand? */
static bool *find_unpacked(Graph *g) {
  bool *inner = ARENA_ARRAY(g->arena, bool, g->nids);
  for (Node *n = g->last; n; n = n->prev) {
    if (prim_unpacks(n)) inner[n->args[1].node->id] = true;
    else if (inner[n->id] && n->kind == NODE_CALL && !prim_is_product(prim_kind(n->op)))
      graph_each_use(n, note_fused, inner);
  }
  return inner;
}

/* Are some written by a product in any case, and the others created?  On a CPU, where one
 * expression for all of them costs a condition and a load for each. */
static bool are_written(Graph *g, const Cat *c) {
  bool all = g->host && c->n > 1, any = false;
  for (uint32_t i = 0; i < c->n && all; i++) {
    const Node *x = c->items[i];
    while (x->kind == NODE_CALL && prim_kind(x->op) == PRIM_VIEW) x = view_operand(x);
    PrimKind k = x->kind == NODE_CALL ? prim_kind(x->op) : PRIM_NONE;
    bool written = k == PRIM_CONVOLUTION || k == PRIM_MATMUL;
    any |= written;
    all = written || k == PRIM_CREATE;
  }
  return all && any;
}

/* Are all computed element by element, or products, in one shape?  One expression for all of them
 * computes and loads for each element what all of them need; slices share a kernel, and a product
 * writes its own. */
static bool are_computed(Graph *g, const Cat *c) {
  bool all = c->n > 1;
  for (uint32_t i = 0; i < c->n && all; i++) {
    const Node *x = c->items[i];
    PrimKind k = x->kind == NODE_CALL ? prim_kind(x->op) : PRIM_NONE;
    all = k == PRIM_POINTWISE || k == PRIM_MATMUL;
    all &= value_numel(g, &x->type) == value_numel(g, &c->items[0]->type);
  }
  return all;
}

/* A vector of a CPU would have elements of all sources, and each of these would be computed for all
 * of it.  Two sources of an element each are stored as pairs. */
static bool alternates(const Graph *g, const Node *n, const Cat *c) {
  enum { SOURCES_LEAST = 4, LENGTH_MOST = 2 };
  int64_t most = c->n == 2 ? 1 : LENGTH_MOST;
  bool many = c->n == 2 || c->n >= SOURCES_LEAST;
  bool all = g->host && many && c->axis + 1 == n->type.rank;
  for (uint32_t i = 0; i < c->n && all; i++) {
    Dim length = c->items[i]->type.shape[c->axis];
    all = dim_is_int(length) && length->value <= most;
  }
  return all;
}

/* Are sources in long runs of a large result?  A CPU copies each by itself, without a condition. */
static bool are_long_runs(const Graph *g, const Node *n, const Cat *c) {
  enum { RUN_LEAST = 64, ELEMENTS_LEAST = 1 << 15 };
  Dims *d = g->dims;
  bool all = g->host && c->n > 1;
  Dim elements = dim_int(d, 1), run = elements;
  for (uint32_t i = 0; i < n->type.rank; i++) {
    elements = dim_mul(d, elements, n->type.shape[i]);
    if (i > c->axis) run = dim_mul(d, run, n->type.shape[i]);
  }
  all &= dim_is_int(elements) && elements->value >= ELEMENTS_LEAST;
  for (uint32_t i = 0; i < c->n && all; i++)
    all = run->value * c->items[i]->type.shape[c->axis]->value >= RUN_LEAST;
  return all;
}

bool concat_is_computed(Graph *g, const Node *n) {
  if (!is_cat(n) || n->type.rank == 0) return false;
  Cat c = cat_of(g, n);
  return are_computed(g, &c);
}

/* ---- concatenations of gradients of attention ---- */

typedef struct {
  Graph *g;
  uint32_t *uses; /* by node id; those by nodes that are results of the same kernel do not count */
  uint32_t nids;
} Uses;

static void note_use(Node **operand, void *ctx) { ((uint32_t *)ctx)[(*operand)->id]++; }

static Uses find_uses(Graph *g) {
  Uses u = {g, ARENA_ARRAY(g->arena, uint32_t, g->nids), g->nids};
  for (Node *n = g->first; n; n = n->next)
    if (!prim_of_kernel(n)) graph_each_use(n, note_use, u.uses);
  return u;
}

static bool is_used_once(const Uses *u, const Node *n) {
  return n->id < u->nids && u->uses[n->id] == 1;
}

static bool is_gradient(const Node *n) {
  return graph_is_any(n, OP_nereid_attention_grad_query_default,
                      OP_nereid_attention_grad_value_default,
                      OP_nereid_attention_grad_key_default,
                      OP_nereid_attention_grad_parts_default);
}

/* Is it a gradient of the query, of which programs have parts? */
static bool is_sum_of_parts(const Uses *u, const Node *n) {
  if (!graph_is(n, OP_aten_sum_dim_IntList)) return false;
  const Node *of = n->args[0].node;
  return graph_is(of, OP_nereid_attention_grad_parts_default) && is_used_once(u, of);
}

/* Is it a gradient that its kernel rounds where it leaves it? */
static bool is_rounded(const Uses *u, const Node *n) {
  if (!graph_is(n, OP_aten_to_dtype)) return false;
  const Node *of = n->args[0].node;
  return (is_gradient(of) || is_sum_of_parts(u, of)) && is_used_once(u, of);
}

/* The gradient of which n is a view, or its rounding, if nothing else reads that; NULL: none. */
static Node *gradient_of(const Uses *u, Node *n) {
  for (; prim_is_view(n); n = view_operand(n))
    if (n->id < u->nids && !is_used_once(u, n)) return NULL;
  bool found = is_gradient(n) || is_rounded(u, n) || is_sum_of_parts(u, n);
  return found && is_used_once(u, n) ? n : NULL;
}

/* Is it a gradient that nothing else reads, in the order in which its kernel computes it? */
static bool is_own_gradient(const Uses *u, Node *n) {
  static const char *const names[] = {"i0", "i1", "i2", "i3", "i4", "i5"};
  Dims *d = u->g->dims;
  const ValueType *t = &n->type;
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  if (!gradient_of(u, n) || t->rank > sizeof names / sizeof *names) return false;
  for (uint32_t i = 0; i < t->rank; i++)
    at[i] = dim_is(t->shape[i], 1) ? dim_int(d, 0) : dim_shared_index(d, names[i], t->shape[i]);
  Dim own = linear_of_index(d, at, t->shape, t->rank);
  for (; prim_is_view(n); n = view_operand(n)) {
    view_index(u->g, n, at, from);
    memcpy(at, from, sizeof at);
  }
  return linear_of_index(d, at, n->type.shape, n->type.rank) == own;
}

static bool are_own_gradients(const Uses *u, const Cat *c) {
  bool all = c->n > 1;
  for (uint32_t i = 0; i < c->n && all; i++) all = is_own_gradient(u, c->items[i]);
  return all;
}

/* The axis of a view's result along which sources follow each other, that do so along `axis` of
 * what is viewed; -1: there is none.  `count`: the sources, of one size. */
static int axis_in_view(Graph *g, const Node *view, const Node *of, uint32_t axis, int64_t count) {
  const Dim *shape = view->type.shape;
  Dim before = fuse_shape_product(g, of->type.shape, axis), part = of->type.shape[axis];
  Dim counted = dim_int(g->dims, count);
  for (uint32_t i = 0; i < view->type.rank; i++) {
    if (fuse_shape_product(g, shape, i) != before) continue;
    if (shape[i] == counted || shape[i] == part) return (int)i;
  }
  return -1;
}

/* The view of a source; NULL: its elements do not stay together.  *axis becomes that of the result
 * along which sources follow each other. */
static Node *viewed_source(Build *b, Node *view, const Cat *c, Node *source, uint32_t *axis) {
  Graph *g = b->in.g;
  Node *of = view_operand(view);
  uint32_t axes[GRAPH_RANK_MAX];
  if (graph_is(view, OP_aten_permute_default)) {
    if (strided_unpermuted(view, axes) == view) return NULL;
    uint32_t to = 0;
    while (axes[to] != *axis) to++;
    *axis = to;
    return build_permute(b, source, axes);
  }
  if (!graph_is(view, OP_aten_view_default)) return NULL;
  int at = axis_in_view(g, view, of, *axis, c->n);
  if (at < 0) return NULL;
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, view->type.shape, view->type.rank * sizeof *shape);
  shape[at] = shape[at] == of->type.shape[*axis] ? source->type.shape[*axis] : dim_int(g->dims, 1);
  Dim elements = fuse_shape_product(g, shape, view->type.rank);
  if (elements != value_numel(g, &source->type)) return NULL;
  *axis = (uint32_t)at;
  return build_view(b, source, view->type.rank, shape);
}

/* The source as n, views of the concatenation, has it.  *at: the last view by which sources stay
 * together, or the concatenation; later ones, which join axes, are left. */
static Node *turned_source(Build *b, const Cat *c, Node *n, Node *source, uint32_t *axis,
                           Node **at) {
  if (!prim_is_view(n)) {
    *axis = c->axis;
    *at = n;
    return source;
  }
  Node *of = view_operand(n);
  source = turned_source(b, c, of, source, axis, at);
  Node *viewed = *at == of ? viewed_source(b, n, c, source, axis) : NULL;
  if (viewed) *at = n;
  return viewed ? viewed : source;
}

/* Do views from `at` on to n keep the order of elements? */
static bool keep_order(Node *n, const Node *at) {
  while (n != at && graph_is(n, OP_aten_view_default)) n = view_operand(n);
  return n == at;
}

/* n, a copy of views of a concatenation of gradients, becomes a view of the concatenation of their
 * views, which is returned; NULL: it stays. */
static Node *turn_sources(const Uses *u, Node *n) {
  Graph *g = u->g;
  Node *from = n->args[0].node, *at = NULL;
  while (prim_is_view(from) && is_used_once(u, from)) from = view_operand(from);
  if (!is_cat(from) || from->type.rank == 0 || !is_used_once(u, from)) return NULL;
  Build b = build_at(g, n);
  Cat c = cat_of(g, from);
  for (uint32_t i = 0; i < c.n; i++)
    if (!gradient_of(u, c.items[i])) return NULL;
  Cat turned = {ARENA_ARRAY(g->arena, Node *, c.n), c.n, 0};
  for (uint32_t i = 0; i < c.n; i++) {
    Node *last = NULL;
    turned.items[i] =
        turned_source(&b, &c, n->args[0].node, c.items[i], &turned.axis, &last);
    if (i && last != at) return NULL;
    at = last;
  }
  if (!are_own_gradients(u, &turned) || !keep_order(n->args[0].node, at)) return NULL;
  Node *cat = build_cat(&b, turned.n, turned.items, turned.axis);
  build_become(&b, OP_aten_view_default,
               ARGS(arg_node(cat), arg_dims(g, n->type.rank, n->type.shape)));
  return cat;
}

static bool is_identity(const uint32_t *axes, uint32_t rank) {
  bool same = true;
  for (uint32_t i = 0; i < rank && same; i++) same = axes[i] == i;
  return same;
}

/* n, which joins permutations of what kernels compute, becomes the permutation of the concatenation
 * of that, which is returned; NULL: it stays.  Nodes that permute it back read that. */
static Node *unpermute_sources(const Uses *u, Node *n) {
  Graph *g = u->g;
  Cat c = cat_of(g, n);
  uint32_t rank = n->type.rank, axes[GRAPH_RANK_MAX], own[GRAPH_RANK_MAX];
  Dim dims[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < c.n; i++) {
    Node *source = strided_unpermuted(c.items[i], i ? own : axes);
    if (!gradient_of(u, c.items[i]) || !is_own_gradient(u, source)) return NULL;
    if (i && memcmp(own, axes, rank * sizeof *own)) return NULL;
    c.items[i] = source;
  }
  if (c.n < 2 || is_identity(axes, rank)) return NULL;
  Build b = build_at(g, n);
  Node *cat = build_cat(&b, c.n, c.items, axes[c.axis]);
  for (uint32_t i = 0; i < rank; i++) dims[i] = dim_int(g->dims, axes[i]);
  build_become(&b, OP_aten_permute_default, ARGS(arg_node(cat), arg_dims(g, rank, dims)));
  for (Node *m = n->next; m; m = m->next)
    if (graph_is(m, OP_aten_permute_default) && strided_unpermuted(m, own) == cat &&
        is_identity(own, rank))
      graph_replace_later(m, cat, NULL);
  return cat;
}

/* Gradients go to one concatenation each: matrices that products read come first. */
static void join_gradients(Uses *u) {
  for (int copies = 1; copies >= 0; copies--)
    for (Node *n = u->g->first; n; n = n->next) {
      Node *cat = NULL;
      if (copies && graph_is(n, OP_nereid_dense_default)) cat = turn_sources(u, n);
      else if (!copies && is_cat(n) && n->type.rank) cat = unpermute_sources(u, n);
      if (!cat) continue;
      Cat c = cat_of(u->g, cat);
      for (uint32_t i = 0; i < c.n; i++) {
        Node *gradient = gradient_of(u, c.items[i]);
        if (gradient) u->uses[gradient->id]++;
      }
      insert_all(u->g, cat, &c, false);
    }
}

bool pass_concat_in_slices(Graph *g) {
  bool *fused = find_fused(g), *constant = constants_find(g, g->arena);
  const bool *unpacked = find_unpacked(g);
  Uses uses = find_uses(g);
  uint32_t nids = g->nids;
  join_gradients(&uses);
  for (Node *n = g->first; n; n = n->next) {
    bool inner = g->host && n->id < nids && unpacked[n->id];
    if (!is_cat(n) || n->type.rank == 0 || inner) continue;
    Cat c = cat_of(g, n);
    bool known = n->id < nids, once = known && constant[n->id];
    bool many = c.n > PIECES_MAX || ((c.n > 2 || !once) && alternates(g, n, &c));
    bool slices = are_own_gradients(&uses, &c) || are_written(g, &c) ||
                  (known && !fused[n->id] && (are_computed(g, &c) || are_long_runs(g, n, &c)));
    if (many || slices) insert_all(g, n, &c, once);
  }
  return true;
}
