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
 * Operands of nereid.float8_mm and nereid.int8_mm whose elements along the sum are apart are copied
 * in any case, and so are those of nereid.grouped_mm if they are 8-bit floats whose sum is in
 * groups. */
#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"

typedef struct {
  Graph *g;
  uint32_t *uses; /* by node id */
  Node **user;    /* by node id: the last one that uses it */
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

static void write_as_is(Graph *g, Node *n) {
  Build b = build_at(g, n->next);
  graph_replace_later(n, build_op1(&b, OP_nereid_dense_default, n), NULL);
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

/* ---- 8-bit elements ---- */

/* Units of 8-bit elements read operands whose elements along the sum are next to each other; a
 * kernel would transpose each tile of another, byte by byte, as often as a tile is read. */
static void write_along_sum(Build *b, Node *product, int operand) {
  Node *x = product->args[operand].node;
  uint32_t axis = operand ? 0 : 1;
  Strided s;
  if (strided_of(b->in.g, x, &s) && (dim_is(s.stride[axis], 1) || dim_is(x->type.shape[axis], 1)))
    return;
  if (operand) x = build_transpose(b, x, 0, 1);
  x = build_op1(b, OP_nereid_dense_default, x);
  product->args[operand].node = operand ? build_transpose(b, x, 0, 1) : x;
}

static bool multiplies_bytes(const Node *n) {
  if (graph_is_any(n, OP_nereid_float8_mm_default, OP_nereid_int8_mm_default)) return true;
  return graph_is(n, OP_nereid_grouped_mm_default) && prim_groups(n) == GROUPS_OF_SUM &&
         dtype_bits(n->args[0].node->type.dtype) == 8;
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
  for (u.at = g->first; u.at; u.at = u.at->next) graph_each_use(u.at, note_user, &u);
  for (Node *n = g->first; n; n = n->next) {
    Build b = build_at(g, n);
    for (int i = 0; i < 2 && multiplies_bytes(n); i++) write_along_sum(&b, n, i);
    if (!graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default, OP_aten_bmm_dtype)) continue;
    for (int i = 0; i < 2; i++) order_operand(&u, n->args[i].node);
  }
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}
