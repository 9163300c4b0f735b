/* Passes gemv_to_reduction, transpose_products and split_k, for matrix products whose operands or
 * sizes do not suit tiles.
 *   gemv_to_reduction   a product with a vector becomes a sum, which reads the matrix once in order
 *   transpose_products  a product of few columns whose left operand has columns one after the other
 *                       in memory is computed as its transpose
 *   split_k             a long sum over k becomes a batch of products in f32 that a reduction adds,
 *                       where tiles are fewer than processors */
#include <string.h>

#include "graph/analysis/gather.h"
#include "graph/analysis/weight_constants.h"
#include "graph/builders/node_builder.h"
#include "graph/builders/round_once.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"
#include "tiling/tiling.h"

static Node *as_is(Build *b, Node *y) {
  const ValueType *t = &b->in.n->type;
  if (dtype_is_half(t->dtype) && y->type.dtype == DT_F32) {
    round_once(b, build_view(b, y, t->rank, t->shape));
    return NULL;
  }
  Arg args[] = {arg_node(build_to(b, y, t->dtype)), arg_dims(b->in.g, t->rank, t->shape)};
  return build_become(b, OP_aten_view_default, 2, args);
}

/* x[1, k] by y[k, n], or x[m, k] by y[k, 1]: sums of rows of the matrix; of each batch. */
static Node *vector_product(Build *b, Node *x, Node *y, bool row) {
  uint32_t last = rank_of(x) - 1;
  Node *v = build_widen(b, row ? x : build_transpose(b, y, last - 1, last));
  Node *matrix = build_widen(b, row ? build_transpose(b, y, last - 1, last) : x);
  return as_is(b, build_sum(b, build_mul(b, v, matrix), 1u << last, false));
}

/* [m, k] as [parts, m, k / parts]. */
static Node *cut_into_parts(Build *b, Node *x, int parts) {
  Dim k = dim_int(b->in.g->dims, x->type.shape[1]->value / parts);
  Node *y = build_view(b, x, 3, (Dim[]){x->type.shape[0], build_const(b, parts), k});
  return build_permute(b, y, (uint32_t[]){1, 0, 2});
}

/* [b, m, k] as [b * parts, m, k / parts]; `turned`: [b, k, n]. */
static Node *cut_batches(Build *b, Node *x, int parts, bool turned) {
  const Dim *size = x->type.shape;
  int64_t k = size[turned ? 1 : 2]->value / parts, batches = size[0]->value * parts;
  Dim depth = build_const(b, k), part = build_const(b, parts), all = build_const(b, batches);
  if (turned) return build_view(b, x, 3, (Dim[]){all, depth, size[2]});
  Node *y = build_view(b, x, 4, (Dim[]){size[0], size[1], part, depth});
  y = build_permute(b, y, (uint32_t[]){0, 2, 1, 3});
  return build_view(b, y, 3, (Dim[]){all, size[1], depth});
}

static Node *batches_in_parts(Build *b, Node *x, Node *y, int parts) {
  const Dim *size = b->in.n->type.shape;
  Node *left = cut_batches(b, x, parts, false), *right = cut_batches(b, y, parts, true);
  Arg args[] = {arg_node(left), arg_node(right), arg_dtype(DT_F32)};
  Node *z = build(b, OP_aten_bmm_dtype, 3, args);
  z = build_view(b, z, 4, (Dim[]){size[0], build_const(b, parts), size[1], size[2]});
  return as_is(b, build_sum(b, z, 2, false));
}

static Node *in_parts(Build *b, Node *x, Node *y, int parts) {
  if (x->type.shape[1]->value % parts) {
    Arg args[] = {arg_node(x), arg_node(y), arg_int(b->in.g, parts)};
    return as_is(b, build_sum(b, build(b, OP_nereid_parted_mm_default, 3, args), 1, false));
  }
  Node *left = cut_into_parts(b, x, parts);
  Node *right = build_transpose(b, cut_into_parts(b, build_transpose(b, y, 0, 1), parts), 1, 2);
  Arg args[] = {arg_node(left), arg_node(right), arg_dtype(DT_F32)};
  OpId op = prim_unpacks(b->in.n) ? OP_nereid_packed_mm_default : OP_aten_bmm_dtype;
  return as_is(b, build_sum(b, build(b, op, 3, args), 1, false));
}

static Node *cut_k(Build *b, Node *x, uint32_t axis, int64_t begin, int64_t end) {
  return build_slice(b, x, axis, build_const(b, begin), build_const(b, end), 1);
}

/* [parts, m, n] in f32 of k's elements from `begin` to `end`. */
static Node *parts_between(Build *b, Node *x, Node *y, int parts, int64_t begin, int64_t end) {
  Node *left = cut_into_parts(b, cut_k(b, x, 1, begin, end), parts);
  Node *right = build_transpose(b, cut_k(b, y, 0, begin, end), 0, 1);
  right = build_transpose(b, cut_into_parts(b, right, parts), 1, 2);
  Arg args[] = {arg_node(left), arg_node(right), arg_dtype(DT_F32)};
  return build(b, OP_aten_bmm_dtype, 3, args);
}

/* Parts of `whole` elements of k, which are as long as each other, and the rest, which alone has
 * masks. */
static void in_parts_and_rest(Build *b, Node *x, Node *y, int parts, int64_t whole) {
  Node *sum = build_sum(b, parts_between(b, x, y, parts, 0, whole), 1, true);
  Node *rest = parts_between(b, x, y, 1, whole, x->type.shape[1]->value);
  as_is(b, build_add(b, sum, rest));
}

/* Products of floats of known sizes. */
static bool is_product(const Node *n) {
  if (!graph_is(n, OP_aten_mm_default) && !graph_is(n, OP_nereid_packed_mm_default)) return false;
  if (n->type.rank != 2) return false;
  const ValueType *x = &n->args[0].node->type;
  return dim_is_int(n->type.shape[0]) && dim_is_int(n->type.shape[1]) && dim_is_int(x->shape[1]) &&
         dtype_is_float(x->dtype);
}

static bool is_batch(const Node *n) {
  return graph_is(n, OP_aten_bmm_default) && dtype_is_float(n->args[0].node->type.dtype);
}

static bool has_known_sizes(const Node *n) {
  bool known = dim_is_int(n->args[0].node->type.shape[2]);
  for (int i = 0; i < 3; i++) known &= dim_is_int(n->type.shape[i]);
  return known;
}

/* Does nothing but the product read the matrices, which indices choose, in runs of `RUN` elements
 * at least?  A sum takes each of them from where it is. */
static bool is_gathered(Graph *g, const Node *n, const uint32_t *uses) {
  enum { RUN = 64 };
  while (prim_is_view(n) && uses[n->id] == 1) n = view_operand(n);
  if (n->kind != NODE_CALL || prim_kind(n->op) != PRIM_GATHER || uses[n->id] != 1) return false;
  Dim at[GRAPH_RANK_MAX], size = n->type.shape[n->type.rank - 1];
  Gather x;
  for (uint32_t i = 0; i < n->type.rank; i++)
    at[i] = dim_shared_index(g->dims, "i", n->type.shape[i]);
  gather_of(g, n, at, &x);
  uint32_t rank = x.data->type.rank;
  return rank && x.element[rank - 1] == at[n->type.rank - 1] && dim_is_int(size) &&
         size->value >= RUN;
}

/* A CPU multiplies a row by a small weight in panels (pack), which lie in its caches. */
static bool fits_panels(Graph *g, const Node *n, const bool *constant) {
  enum { BYTES_MOST = 1 << 23, COLUMNS_LEAST = 64 };
  const Node *y = n->args[1].node;
  const Dim *size = y->type.shape;
  return g->host && graph_is(n, OP_aten_mm_default) && constant[y->id] && y->type.dtype == DT_F32 &&
         size[1]->value >= COLUMNS_LEAST && size[0]->value * size[1]->value * 4 <= BYTES_MOST;
}

/* On a CPU batches of matrices times a column become sums, too.  Tiles of a row by f32 stay: their
 * vectors go along the columns. */
static void find_vector(Build *b, Node *n, const uint32_t *uses, const bool *constant) {
  if (prim_unpacks(n) || fits_panels(b->in.g, n, constant)) return;
  Graph *g = b->in.g;
  Node *x = n->args[0].node, *y = n->args[1].node;
  uint32_t last = n->type.rank - 1;
  bool row = dim_is(n->type.shape[last - 1], 1) && view_stride(g, y, last - 1) == 1;
  bool column = dim_is(n->type.shape[last], 1) && view_stride(g, x, last) == 1;
  bool alone = last == 1 || dim_is(n->type.shape[0], 1), half = dtype_is_half(x->type.dtype);
  row &= alone || (g->host && half) || is_gathered(g, y, uses);
  column &= alone || g->host || is_gathered(g, x, uses);
  if (row || column) vector_product(b, x, y, row);
}

/* Vectors go along the columns of a result, and along the rows of its operand's memory: of an image
 * with its channels first, rows are pixels. */
static bool is_by_columns(Graph *g, const Node *n) {
  enum { COLUMNS_MOST = 128, ROWS_FOR_EACH = 8 };
  Node *x = n->args[0].node;
  if (!graph_is(n, OP_aten_mm_default) || x->type.dtype != DT_F32) return false;
  Dim m = n->type.shape[0], columns = n->type.shape[1], k = x->type.shape[1];
  if (!dim_is_int(columns) || columns->value > COLUMNS_MOST || !dim_is_int(k) || k->value < 2)
    return false;
  int64_t rows = dim_is_int(m) ? m->value : dim_likely(g->dims, m);
  return rows >= ROWS_FOR_EACH * columns->value && view_stride(g, x, 0) == 1;
}

static void turn_product(Build *b, Node *n) {
  Node *x = build_transpose(b, n->args[0].node, 0, 1);
  Node *y = build_transpose(b, n->args[1].node, 0, 1);
  y = build_op1(b, OP_aten_clone_default, y); /* which programs read by rows */
  as_is(b, build_transpose(b, build_op2(b, OP_aten_mm_default, y, x), 0, 1));
}

static void split_product(Build *b, Node *n) {
  Node *x = n->args[0].node, *y = n->args[1].node;
  bool batches = n->type.rank == 3;
  const Dim *size = n->type.shape + batches;
  Product p = {.gpu = b->in.g->gpu, .dtype = x->type.dtype, .m = size[0]->value};
  p.batch = batches ? n->type.shape[0]->value : 1;
  p.n = size[1]->value;
  p.k = x->type.shape[1 + batches]->value;
  p.before = n->rounds == ROUNDS_BEFORE;
  p.rounds = p.before;
  bool host = b->in.g->host, packed = prim_unpacks(n);
  p.uneven = !batches && !host && !packed && tiling_has_rings(&p);
  int64_t whole = p.k;
  int parts = host && packed ? 1
              : host         ? tiling_cpu_parts(&p, batches ? NULL : &whole)
              : packed       ? tiling_packed_parts(&p)
                             : tiling_parts(&p);
  if (whole < p.k) in_parts_and_rest(b, x, y, parts, whole);
  else if (parts > 1 && batches) batches_in_parts(b, x, y, parts);
  else if (parts > 1) in_parts(b, x, y, parts);
}

bool pass_gemv_to_reduction(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  const uint32_t *uses = graph_use_counts(g, scratch);
  const bool *constant = constants_find(g, scratch);
  for (Node *n = g->first, *next, *last = g->last; n; n = n == last ? NULL : next) {
    next = n->next;
    if (!is_product(n) && !is_batch(n)) continue;
    Build b = build_at(g, n);
    if (!setjmp(b.in.failed)) find_vector(&b, n, uses, constant);
  }
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}

bool pass_transpose_products(Graph *g) {
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    if (n->kind != NODE_CALL || !is_by_columns(g, n)) continue;
    Build b = build_at(g, n);
    if (!setjmp(b.in.failed)) turn_product(&b, n);
  }
  return diag_errors(g->diags) == 0;
}

bool pass_split_k(Graph *g) {
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    if (!is_product(n) && !(is_batch(n) && has_known_sizes(n))) continue;
    Build b = build_at(g, n);
    if (!setjmp(b.in.failed)) split_product(&b, n);
  }
  return diag_errors(g->diags) == 0;
}
