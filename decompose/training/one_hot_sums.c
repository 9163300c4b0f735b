/* Sums of rows in which one element at most is not 0: gradients of losses of classes.
 *
 *   sum(to(mul(where(arange == index, v, 0), r)), axis)  =  f(where(0 <= index < n, v, 0)) + f(0)
 *
 * f is to(mul(_, r)); a row's other elements are f(0), which are 0, or NaN where r is no finite
 * number. */
#include "decompose/decompose.h"

/* The gradient is a kernel of elements then.  Rows that begin within its vectors stay as they are:
 * each element would load its row's numbers.  50,257 columns took 325 us so, 204 by rows (H200). */
enum { CHAIN_MAX = 8, VECTOR = 8 };

typedef struct {
  Build *b;
  uint32_t rank, axis; /* of the sum's operand; the axis that is summed */
  Dim size;            /* of the axis */
} Rows;

/* Is there one number for each row? */
static bool is_of_rows(const Rows *r, const Node *x) {
  uint32_t lead = r->rank - rank_of(x);
  return r->axis < lead || dim_is(x->type.shape[r->axis - lead], 1);
}

static Node *before_views(Node *x) {
  while (graph_is_any(x, OP_aten_view_default, OP_aten_expand_default, OP_aten_to_dtype))
    x = x->args[0].node;
  return x;
}

static bool is_zero(const Rows *r, Node *x) {
  x = before_views(x);
  if (!graph_is(x, OP_aten_full_default)) return false;
  Arg fill = graph_arg(r->b->in.g, x, "fill_value");
  if (fill.kind == ARG_INT) return dim_is(fill.dim, 0);
  return fill.kind == ARG_FLOAT && fill.number == 0;
}

/* Is an element its place along the axis? */
static bool is_place(const Rows *r, Node *x) {
  uint32_t lead = r->rank - rank_of(x);
  Graph *g = r->b->in.g;
  if (r->axis < lead || x->type.shape[r->axis - lead] != r->size) return false;
  if (!dtype_is_int(x->type.dtype) || value_numel(g, &x->type) != r->size) return false;
  while (graph_is_any(x, OP_aten_view_default, OP_aten_to_dtype)) {
    if (!dtype_is_int(x->type.dtype) || dtype_bits(x->type.dtype) < 32) return false; /* wraps */
    x = x->args[0].node;
  }
  if (!graph_is(x, OP_aten_arange_start_step)) return false;
  Arg start = graph_arg(g, x, "start"), step = graph_arg(g, x, "step");
  return start.kind == ARG_INT && dim_is(start.dim, 0) && step.kind == ARG_INT &&
         dim_is(step.dim, 1);
}

/* The index that a condition compares with places; NULL: it is another condition. */
static Node *index_of_place(const Rows *r, const Node *condition) {
  if (!graph_is(condition, OP_aten_eq_Tensor)) return NULL;
  for (int i = 0; i < 2; i++) {
    const Arg *place = &condition->args[i], *index = &condition->args[1 - i];
    if (place->kind != ARG_NODE || index->kind != ARG_NODE) return NULL;
    if (is_place(r, place->node) && is_of_rows(r, index->node) &&
        dtype_is_int(index->node->type.dtype))
      return index->node;
  }
  return NULL;
}

/* f of a number of each row; the chain's first node is its last one. */
static Node *applied(const Rows *r, Node *const *chain, uint32_t n, Node *x) {
  Build *b = r->b;
  while (n-- > 0) {
    Node *f = chain[n];
    if (graph_is(f, OP_aten_to_dtype)) x = build_to(b, x, f->type.dtype);
    else if (is_of_rows(r, f->args[1].node)) x = build_mul(b, x, f->args[1].node);
    else x = build_mul(b, f->args[0].node, x);
  }
  return x;
}

/* The operand of f that is not a number of each row; NULL: f is none of those. */
static Node *next_of_chain(const Rows *r, Node *f) {
  if (graph_is(f, OP_aten_to_dtype) && dtype_is_float(f->type.dtype)) return f->args[0].node;
  if (!graph_is(f, OP_aten_mul_Tensor) || f->args[1].kind != ARG_NODE) return NULL;
  Node *x = f->args[0].node, *y = f->args[1].node;
  if (x->type.dtype != f->type.dtype || y->type.dtype != f->type.dtype) return NULL;
  return is_of_rows(r, y) ? x : is_of_rows(r, x) ? y : NULL;
}

/* Bytes don't hold the size. */
static Node *among(Build *b, Node *index, Dim size) {
  if (dtype_bits(index->type.dtype) < 32) index = build_to(b, index, DT_I64);
  Node *low = build_with(b, OP_aten_ge_Tensor, index, build_int(b, 0));
  return build_and(b, low, build_with(b, OP_aten_lt_Tensor, index, arg_dim(size)));
}

Node *decompose_sum_of_one(Build *b, Node *x, uint32_t axis) {
  Rows r = {b, rank_of(x), axis, x->type.shape[axis]};
  Node *chain[CHAIN_MAX], *sum = x;
  uint32_t n = 0;
  bool vectors = dim_is_int(r.size) && r.size->value && dim_divisible(r.size, VECTOR);
  if (!dtype_is_float(x->type.dtype) || !vectors) return NULL;
  while (!graph_is(x, OP_aten_where_self)) {
    if (n == CHAIN_MAX) return NULL;
    chain[n++] = x;
    x = next_of_chain(&r, x);
    if (!x) return NULL;
  }
  if (x->args[1].kind != ARG_NODE || x->args[2].kind != ARG_NODE) return NULL;
  Node *value = x->args[1].node, *index = index_of_place(&r, x->args[0].node);
  if (!index || !is_of_rows(&r, value) || !is_zero(&r, x->args[2].node)) return NULL;
  Node *zero = build_full(b, 0, NULL, build_int(b, 0), x->type.dtype);
  Node *one = build_where(b, among(b, index, r.size), arg_node(value), arg_node(zero));
  one = build_add(b, applied(&r, chain, n, one), applied(&r, chain, n, zero));
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < r.rank; i++)
    shape[i] = i == axis ? build_const(b, 1) : sum->type.shape[i];
  return build_expand(b, build_lead(b, one, r.rank), r.rank, shape);
}
