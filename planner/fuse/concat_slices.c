/* Concatenations of many tensors.  No kernel computes one alone: the kernel of each source writes
 * it to its slice of the result.
 *
 *   memory = nereid.empty([96, 8], dtype = torch.float32, once = False)
 *   a = nereid.insert_slice(memory, x, 0, 0)       x's value, also written to the slice
 *   b = nereid.insert_slice(memory, y, 0, 1)
 *   cat = nereid.inserted(memory, [a, b, ...])
 *
 * Time and text grow with the number of sources, and a source that is computed needs no copy. */
#include "planner/fuse/fuse.h"

#include "planner/passes.h"

#include <string.h>

#include "graph/analysis/weight_constants.h"
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

bool concat_is_computed(Graph *g, const Node *n) {
  if (!is_cat(n) || n->type.rank == 0) return false;
  Cat c = cat_of(g, n);
  return are_computed(g, &c);
}

bool pass_concat_in_slices(Graph *g) {
  bool *fused = find_fused(g), *constant = constants_find(g, g->arena);
  uint32_t nids = g->nids;
  for (Node *n = g->first; n; n = n->next) {
    if (!is_cat(n) || n->type.rank == 0) continue;
    Cat c = cat_of(g, n);
    bool many = c.n > PIECES_MAX;
    bool known = n->id < nids;
    if (many || (known && !fused[n->id] && are_computed(g, &c)))
      insert_all(g, n, &c, known && constant[n->id]);
  }
  return true;
}
