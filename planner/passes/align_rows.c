/* Pass align_rows: for GPUs, operands of products get rows that begin at multiples of 16 bytes.
 *
 * Rows of 16-bit elements that begin anywhere, as those of a vocabulary of 50257 do, are read
 * neither by vectors nor by the copy engine: a product takes up to four times as long, by kernels
 * and by libraries alike.  A copy with a few more elements a row is worth a kernel where products
 * read the operand long enough, and none where a kernel computes the operand element by element.
 *
 *   mm(x[4096, 50257], y)  =  mm(pad(x), pad(y))          rows along the sum: zeros are added
 *   mm(y, x[4096, 50257])  =  mm(y, slice(pad(x)))        rows along the result
 *
 * All later users of the operand read the padded one, so that it is in memory once. */
#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "planner/passes.h"

enum {
  ROW_BYTES = 16, /* rows begin at multiples of this */
  ROWS_MIN = 256, /* of an operand */
  COLUMNS_MIN = 1024,
  /* The least sum of the sizes of the products' other operands.  An H200 copies an element in the
   * time of 200 more of a product at half its speed. */
  PASSES_MIN = 512
};

/* ---- rows ---- */

static Dim last_size(const Node *n) { return size_from_end(n, 1); }

/* The matrix whose rows are next to each other in memory, of which n is the transpose, or n. */
static Node *rows_of(Node *n) {
  bool turned = graph_is(n, OP_aten_permute_default) && rank_of(n) == 2;
  return turned ? view_operand(n) : n;
}

/* The value whose rows those of the matrix are, before its other axes are joined. */
static Node *source_of(Node *n) {
  while (graph_is(n, OP_aten_view_default) && rank_of(view_operand(n)) &&
         last_size(view_operand(n)) == last_size(n))
    n = view_operand(n);
  return n;
}

static int64_t missing(Dim size, DType t) {
  int64_t unit = ROW_BYTES / (int64_t)dtype_bytes(t);
  return (unit - size->value % unit) % unit;
}

/* Do rows of the matrix begin anywhere, and are they many and long? */
static bool has_unaligned_rows(Graph *g, Node *n) {
  Strided s;
  const Dim *size = n->type.shape;
  if (rank_of(n) != 2 || !dim_is_int(size[0]) || !dim_is_int(size[1])) return false;
  if (dtype_bytes(n->type.dtype) != 2 || size[0]->value < ROWS_MIN || size[1]->value < COLUMNS_MIN)
    return false;
  bool known = strided_of(g, n, &s) && dim_is_int(s.stride[0]) && dim_is(s.stride[1], 1);
  return known && s.stride[0] == size[1] && missing(size[1], n->type.dtype);
}

/* The value with zeros after the last elements of an axis, up to whole units of a row. */
static Node *pad_axis(Build *b, Node *n, uint32_t axis) {
  uint32_t pairs = rank_of(n) - axis;
  Arg pads = arg_list(b->in.g, 2 * pairs);
  for (uint32_t i = 0; i < 2 * pairs; i++) pads.items[i] = build_int(b, 0);
  pads.items[2 * pairs - 1] = build_int(b, missing(n->type.shape[axis], n->type.dtype));
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(n), pads, build_int(b, 0)));
}

/* Values that the graph returns are not padded. */
static void pad_rows(Graph *g, Node *source) {
  Build b = build_at(g, source->kind == NODE_INPUT ? graph_after_inputs(g) : source->next);
  uint32_t axis = rank_of(source) - 1;
  Node *padded = pad_axis(&b, source, axis);
  Node *first = build_slice(&b, padded, axis, build_const(&b, 0), last_size(source), 1);
  graph_replace_later(source, first, g->last);
}

/* ---- sums over padded rows ---- */

/* The value padded by this pass, whose nodes have ids from `nids` on, of which the matrix has the
 * first elements of each row; NULL: it is another. */
static Node *padded_of(Node *n, uint32_t nids) {
  Node *first = source_of(n);
  if (first->id < nids || !graph_is(first, OP_aten_slice_Tensor)) return NULL;
  return first->args[0].node;
}

/* Does the product sum along the rows in memory of its operand i? */
static bool sums_rows(const Node *product, int i) {
  bool turned = rows_of(product->args[i].node) != product->args[i].node;
  return turned == (i == 1);
}

/* Has each operand that number of elements in a sum, and no symbol for it? */
static bool has_known_sum(const Node *product) {
  Dim k = product->args[0].node->type.shape[1];
  return dim_is_int(k) && product->args[1].node->type.shape[0] == k;
}

/* The operand with as many elements of the sum as the rows have. */
static Node *lengthen(Build *b, Node *product, int i, uint32_t nids) {
  Node *n = product->args[i].node, *rows = rows_of(n);
  Node *whole = sums_rows(product, i) ? padded_of(rows, nids) : NULL;
  if (!whole) return pad_axis(b, n, i ? 0 : 1);
  whole = build_view(b, whole, 2, (Dim[]){rows->type.shape[0], last_size(whole)});
  return rows == n ? whole : build_transpose(b, whole, 0, 1);
}

static void lengthen_sum(Graph *g, Node *product, uint32_t nids) {
  bool padded = false;
  for (int i = 0; i < 2; i++)
    padded |= sums_rows(product, i) && padded_of(rows_of(product->args[i].node), nids);
  if (!padded || !has_known_sum(product)) return;
  Build b = build_at(g, product);
  Node *a = lengthen(&b, product, 0, nids), *c = lengthen(&b, product, 1, nids);
  product->args[0] = arg_node(a);
  product->args[1] = arg_node(c);
}

/* ---- the pass ---- */

/* Counts by node id how often products read it, an element of their result each. */
static int64_t *count_passes(Graph *g, Arena *scratch) {
  int64_t *passes = ARENA_ARRAY(scratch, int64_t, g->nids);
  for (Node *n = g->first; n; n = n->next) {
    if (!graph_is(n, OP_aten_mm_default)) continue;
    for (int i = 0; i < 2; i++) {
      Node *other = n->args[1 - i].node;
      Dim size = other->type.shape[i ? 0 : 1];
      if (dim_is_int(size)) passes[rows_of(n->args[i].node)->id] += size->value;
    }
  }
  return passes;
}

bool pass_align_rows(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  uint32_t nids = g->nids;
  const int64_t *passes = count_passes(g, scratch);
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    bool worth = n->id < nids && passes[n->id] >= PASSES_MIN;
    if (worth && n->kind != NODE_OUTPUT && has_unaligned_rows(g, n)) pad_rows(g, source_of(n));
  }
  for (Node *n = g->first; n; n = n->next)
    if (graph_is(n, OP_aten_mm_default)) lengthen_sum(g, n, nids);
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}
