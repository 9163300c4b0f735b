/* Pass dense_operands: for GPUs, operands of products become matrices in memory where the kernel
 * that computes them anyway can write them so.
 *
 * A product reads an operand through views.  Axes that are exchanged and then joined, as the
 * gradients of queries, keys and values of all heads are, leave no matrix: an address takes
 * quotients and remainders of the row and the column, no copy of a tile is a box of memory, and no
 * library takes it.
 *
 *   mm(view(permute(cat(..))), y)  =  mm(dense(view(permute(cat(..)))), y)
 *
 * What is concatenated or computed element by element, and read through these views alone, is
 * fused with its copy.  A copy of anything else would be a kernel.
 *
 * Rows of memory that begin at no multiple of 16 bytes, as those of a vocabulary of 50257 do, can
 * neither be read by vectors nor by the copy engine, and take twice as long.  A copy with a few
 * more elements a row is worth a kernel, where products read the operand long enough:
 *
 *   mm(x[4096, 50257], y)  =  mm(slice(pad(x)), y) */
#include "graph/analysis/strided.h"
#include "graph/infer/node_builder.h"
#include "graph/ops/prims.h"
#include "graph/passes.h"

enum {
  ROW_BYTES = 16, /* rows begin at multiples of this */
  ROWS_MIN = 256, /* of an operand */
  COLUMNS_MIN = 1024,
  /* Of the products' other operands: the sum of their sizes.  An H200 copies an element in the time
   * of 200 more of a product at half its speed. */
  PASSES_MIN = 512
};

typedef struct {
  Graph *g;
  uint32_t *uses;  /* by node id */
  Node **user;     /* by node id: the last one that uses it */
  int64_t *passes; /* by node id: how often products read it, an element of their result each */
  uint32_t nids;
  Node *at; /* whose operands are noted */
} Users;

static bool is_written_by_element(const Node *n) {
  if (n->kind != NODE_CALL) return false;
  PrimKind k = prim_kind(n->op);
  return k == PRIM_CONCAT || (k == PRIM_POINTWISE && !graph_is(n, OP_nereid_dense_default));
}

/* The last of the views that follow on n, each the only use of the one before. */
static Node *end_of_views(const Users *u, Node *n) {
  while (n->id < u->nids && u->uses[n->id] == 1 && prim_is_view(u->user[n->id]) &&
         !prim_reads_size(u->user[n->id]))
    n = u->user[n->id];
  return n;
}

/* Has it rows, or columns, of elements next to each other? */
static bool is_matrix(Graph *g, Node *n) {
  Strided s;
  uint32_t rank = rank_of(n);
  return rank >= 2 && strided_of(g, n, &s) &&
         (dim_is(s.stride[rank - 1], 1) || dim_is(s.stride[rank - 2], 1));
}

typedef struct {
  Node *from, *to;
} Replacing;

static void replace_use(Node **use, void *ctx) {
  const Replacing *r = ctx;
  if (*use == r->from) *use = r->to;
}

static void write_as_is(Graph *g, Node *n) {
  Build b = build_at(g, n->next);
  Replacing r = {n, build_op1(&b, OP_nereid_dense_default, n)};
  for (Node *user = r.to->next; user; user = user->next) graph_each_use(user, replace_use, &r);
}

static void order_operand(Users *u, Node *operand) {
  if (is_matrix(u->g, operand)) return;
  Node *source = operand;
  while (source->kind == NODE_CALL && prim_kind(source->op) == PRIM_VIEW)
    source = view_operand(source);
  if (!is_written_by_element(source)) return;
  Node *end = end_of_views(u, source);
  bool passed = false;
  for (Node *n = operand; n != source && !passed; n = view_operand(n)) passed = n == end;
  if (passed && !strided_is_dense(u->g, end)) write_as_is(u->g, end);
}

/* ---- rows that are not aligned ---- */

/* The matrix whose rows are next to each other in memory, of which n is the transpose, or n. */
static Node *rows_of(Node *n) {
  bool turned = graph_is(n, OP_aten_permute_default) && rank_of(n) == 2;
  return turned ? view_operand(n) : n;
}

/* Do rows of the matrix begin anywhere, and are they many and long? */
static bool has_unaligned_rows(Graph *g, Node *n) {
  Strided s;
  if (rank_of(n) != 2 || !dim_is_int(n->type.shape[0]) || !dim_is_int(n->type.shape[1]))
    return false;
  if (n->type.shape[0]->value < ROWS_MIN || n->type.shape[1]->value < COLUMNS_MIN) return false;
  bool known = strided_of(g, n, &s) && dim_is_int(s.stride[0]) && dim_is(s.stride[1], 1);
  return known && s.stride[0]->value * dtype_bytes(n->type.dtype) % ROW_BYTES != 0;
}

static void pad_rows(Graph *g, Node *n) {
  Build b = build_at(g, n->next);
  int64_t columns = n->type.shape[1]->value, unit = ROW_BYTES / dtype_bytes(n->type.dtype);
  Arg pads = arg_list(g, 2);
  pads.items[0] = arg_int(g, 0);
  pads.items[1] = arg_int(g, unit - columns % unit);
  Node *padded = build(&b, OP_aten_constant_pad_nd_default, ARGS(arg_node(n), pads, arg_int(g, 0)));
  Arg slice[] = {arg_node(padded), arg_int(g, 1), arg_int(g, 0), arg_int(g, columns)};
  Replacing r = {n, build(&b, OP_aten_slice_Tensor, sizeof slice / sizeof *slice, slice)};
  for (Node *user = r.to->next; user != g->last; user = user->next)
    graph_each_use(user, replace_use, &r);
}

static void note_passes(Users *u, const Node *product) {
  for (int i = 0; i < 2; i++) {
    Node *rows = rows_of(product->args[i].node), *other = product->args[1 - i].node;
    Dim size = other->type.shape[rank_of(other) - (i ? 2 : 1)];
    if (rows->id < u->nids && dim_is_int(size)) u->passes[rows->id] += size->value;
  }
}

static void align_rows(Users *u) {
  for (Node *n = u->g->first; n; n = n->next)
    if (graph_is(n, OP_aten_mm_default)) note_passes(u, n);
  for (Node *n = u->g->first, *next; n; n = next) {
    next = n->next;
    bool worth = n->id < u->nids && u->passes[n->id] >= PASSES_MIN;
    if (worth && n->kind != NODE_OUTPUT && has_unaligned_rows(u->g, n)) pad_rows(u->g, n);
  }
}

/* ---- the pass ---- */

static void note_user(Node **use, void *ctx) {
  Users *u = ctx;
  u->user[(*use)->id] = u->at;
}

bool pass_dense_operands(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  Users u = {.g = g, .nids = g->nids};
  u.uses = graph_use_counts(g, scratch);
  u.user = ARENA_ARRAY(scratch, Node *, g->nids);
  u.passes = ARENA_ARRAY(scratch, int64_t, g->nids);
  for (u.at = g->first; u.at; u.at = u.at->next) graph_each_use(u.at, note_user, &u);
  for (Node *n = g->first; n; n = n->next) {
    if (!graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default, OP_aten_bmm_dtype)) continue;
    for (int i = 0; i < 2; i++) order_operand(&u, n->args[i].node);
  }
  align_rows(&u);
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}
