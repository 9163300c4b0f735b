/* The elements that updates by index or by mask write, and their new values.
 *
 * New values that are added to old ones are sums over equal indices (atomics, in memory for the new
 * values alone), to which the old value is added once; the last of equal indices writes it. */
#include <string.h>

#include "graph/analysis/element_value.h"
#include "decompose/scatter.h"
#include "planner/passes/reinplace.h"

typedef struct {
  Node *x, *values;
  bool adds;                   /* the values to the old ones */
  Node *index[GRAPH_RANK_MAX]; /* by axis of x; NULL: all of it */
  uint32_t set;                /* the axes that are indexed */
  uint32_t first;              /* how many axes of x precede those of the indices in the values */
  Dim shape[GRAPH_RANK_MAX];   /* of the indices, broadcast */
  uint32_t rank;
} Indexed;

/* ---- arguments ---- */

/* The values to write to slices along an axis: one value, or the slices of `source`. */
static Node *slice_values(Build *b, const Indexed *x) {
  if (!infer_takes(&b->in, "source")) {
    Dim shape[GRAPH_RANK_MAX];
    memcpy(shape, x->x->type.shape, rank_of(x->x) * sizeof *shape);
    shape[x->first] = x->shape[0];
    return build_expand(b, build_scalar_arg(b, "value", x->x->type.dtype), rank_of(x->x), shape);
  }
  Node *source = build_input(b, "source");
  return infer_takes(&b->in, "alpha") ? scatter_scaled(b, source) : source;
}

static bool survey_slices(Build *b, Indexed *x) {
  Node *index = build_input(b, "index");
  if (!rank_of(x->x)) return false;
  x->first = infer_axis_arg(&b->in, "dim", rank_of(x->x));
  x->set = 1u << x->first;
  x->shape[0] = value_numel(b->in.g, &index->type);
  x->rank = 1;
  x->index[x->first] = build_view(b, index, 1, x->shape);
  x->values = slice_values(b, x);
  x->adds = infer_takes(&b->in, "alpha");
  return rank_of(x->values) == rank_of(x->x);
}

static bool survey_put(Build *b, Indexed *x) {
  Operand operands[GRAPH_RANK_MAX];
  uint32_t n, count = 0, first = 0;
  Node **index = build_inputs(b, "indices", &n);
  x->adds = infer_bool(&b->in, "accumulate");
  for (uint32_t i = 0; i < n; i++) {
    if (!index[i]) continue;
    if (!count) first = i;
    x->index[i] = index[i];
    x->set |= 1u << i;
    operands[count++] = infer_tensor_operand(&index[i]->type);
  }
  if (!count) return false;
  x->rank = infer_broadcast(&b->in, operands, count, x->shape);
  bool together = x->set >> first == (1u << count) - 1;
  x->first = together ? first : 0;
  x->values = build_input(b, "values");
  return rank_of(x->x) - count + x->rank <= GRAPH_RANK_MAX;
}

/* ---- which rows ---- */

/* `x`, of the indices' axes, beside the axes of x that follow them. */
static Node *append_ones(Build *b, const Indexed *x, Node *of) {
  uint32_t kept = rank_of(x->x) - (uint32_t)__builtin_popcount(x->set) - x->first, n = rank_of(of);
  Dim shape[2 * GRAPH_RANK_MAX];
  if (n) memcpy(shape, of->type.shape, n * sizeof *shape);
  for (uint32_t i = 0; i < kept; i++) shape[n++] = build_const(b, 1);
  return build_view(b, of, n, shape);
}

static Node *is_index_inside(Build *b, Node *row, Dim size) {
  Node *low = build_with(b, OP_aten_ge_Tensor, row, build_int(b, 0));
  return build_and(b, low, build_with(b, OP_aten_lt_Tensor, row, arg_dim(size)));
}

/* Is each element of a vector known to be greater than the one before, or each to be less? */
static bool is_monotonic(Build *b, Node *index) {
  Graph *g = b->in.g;
  if (rank_of(index) != 1) return false;
  Dim i = dim_index(g->dims, "i", index->type.shape[0]);
  Dim next = dim_add(g->dims, i, dim_int(g->dims, 1));
  Dim at = element_value(g, index, &i), then = element_value(g, index, &next);
  if (!at || !then || dim_range(g->dims, at).lo < 0) return false;
  Dim step = dim_sub(g->dims, then, at);
  return dim_is_int(step) && step->value != 0;
}

/* Compares a few, without a reduction. */
static Node *is_last_of_few(Build *b, Node *row, Node *number, int64_t count) {
  Node *last = NULL;
  for (int64_t i = 1; i < count; i++) {
    Node *other = build_select(b, row, 0, build_const(b, i));
    Node *differs = build_op2(b, OP_aten_ne_Tensor, row, other);
    Node *precedes = build_with(b, OP_aten_ge_Tensor, number, build_int(b, i));
    last = build_and(b, last, build_op2(b, OP_aten_logical_or_default, differs, precedes));
  }
  return last;
}

/* The number of the last of the rows that are the same, in i64; of each. */
static Node *last_equal(Build *b, Node *row, Dim rows) {
  Node *writer = scatter_writers(b, rows, row);
  Node *last = build(b, OP_aten_index_select_default,
                     ARGS(arg_node(writer), build_int(b, 0), arg_node(row)));
  return build_to(b, last, DT_I64);
}

/* Is a row of a vector the last among equal ones?  NULL: all differ. */
static Node *is_last(Build *b, Node *row, Dim rows) {
  enum { FEW = 8, PAIRS_MAX = 256 };
  Dim count = row->type.shape[0];
  Node *number = build_arange(b, count);
  if (dim_is_int(count) && count->value <= FEW) return is_last_of_few(b, row, number, count->value);
  if (!dim_is_int(count) || count->value > PAIRS_MAX)
    return build_op2(b, OP_aten_eq_Tensor, last_equal(b, row, rows), number);
  Node *same = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, row, 1), row);
  Node *later = build_op2(b, OP_aten_gt_Tensor, number, build_unsqueeze(b, number, 1));
  Node *again = build_with(b, OP_aten_any_dim, build_and(b, same, later), build_int(b, 1));
  return build_op1(b, OP_aten_logical_not_default, again);
}

/* ---- addresses ---- */

/* How far apart in memory neighbours along an indexed axis are; false if that is no number of
 * their own for each axis, which `address` then has no sum of. */
static bool find_strides(Build *b, const Indexed *x, Node *address, Dim *stride) {
  Graph *g = b->in.g;
  Dim at[GRAPH_RANK_MAX], origin[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(address); i++) {
    at[i] = dim_index(g->dims, "i", address->type.shape[i]);
    origin[i] = x->set >> i & 1 ? dim_int(g->dims, 0) : at[i];
  }
  Dim base = element_value(g, address, origin), all = element_value(g, address, at);
  if (!base || !all) return false;
  for (uint32_t i = 0; i < rank_of(address); i++) {
    if (!(x->set >> i & 1)) continue;
    origin[i] = dim_int(g->dims, 1);
    Dim next = element_value(g, address, origin);
    origin[i] = dim_int(g->dims, 0);
    if (!next) return false;
    stride[i] = dim_sub(g->dims, next, element_value(g, address, origin));
    if (stride[i]->indexed) return false;
    base = dim_add(g->dims, base, dim_mul(g->dims, at[i], stride[i]));
  }
  return base == all;
}

/* The address of the first element of each indexed axis, in the shape of the written values. */
static Node *first_addresses(Build *b, const Indexed *x, Node *address) {
  Dim shape[2 * GRAPH_RANK_MAX];
  for (uint32_t i = rank_of(address); i-- > 0;)
    if (x->set >> i & 1) address = build_select(b, address, i, build_const(b, 0));
  uint32_t n = rank_of(address);
  if (x->first) memcpy(shape, address->type.shape, x->first * sizeof *shape);
  for (uint32_t i = 0; i < x->rank; i++) shape[x->first + i] = build_const(b, 1);
  for (uint32_t i = x->first; i < n; i++) shape[x->rank + i] = address->type.shape[i];
  return build_view(b, address, n + x->rank, shape);
}

static Node *number_of_row(Build *b, const Indexed *x, Node *const *row, Dim *rows) {
  Node *number = NULL;
  for (uint32_t i = rank_of(x->x); i-- > 0;) {
    if (!row[i]) continue;
    Node *part = build_mul_dim(b, row[i], *rows);
    number = number ? build_add(b, part, number) : part;
    *rows = dim_mul(b->in.g->dims, *rows, x->x->type.shape[i]);
  }
  return build_flat(b, build_expand(b, number, x->rank, x->shape));
}

/* Is no index known to be another's equal? */
static bool all_differ(Build *b, const Indexed *x) {
  Node *only = NULL;
  for (uint32_t i = 0; i < rank_of(x->x); i++)
    if (x->index[i]) only = x->index[i];
  return __builtin_popcount(x->set) == 1 && is_monotonic(b, only);
}

/* The condition under which an index is in range, and no later one writes to the same element. */
static Node *rows_to_write(Build *b, const Indexed *x, Node *const *row) {
  Node *good = NULL;
  Dim rows = build_const(b, 1);
  for (uint32_t i = 0; i < rank_of(x->x); i++)
    if (row[i]) good = build_and(b, good, is_index_inside(b, row[i], x->x->type.shape[i]));
  if (all_differ(b, x)) return good;
  Node *number = number_of_row(b, x, row, &rows);
  Node *last = is_last(b, number, rows);
  return last ? build_and(b, good, build_view(b, last, x->rank, x->shape)) : good;
}

/* ---- sums ---- */

/* The axes of the indices first, then those around them. */
static uint32_t indices_first(const Indexed *x, uint32_t rank, uint32_t *axes) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->rank; i++) axes[n++] = x->first + i;
  for (uint32_t i = 0; i < rank; i++)
    if (i < x->first || i >= x->first + x->rank) axes[n++] = i;
  return n;
}

/* The sum of equal rows of values ([M, elements]) is at the last row with its index. */
static Node *sum_equal(Build *b, const Indexed *x, Node *const *row, Node *values) {
  uint32_t axes[2 * GRAPH_RANK_MAX], back[2 * GRAPH_RANK_MAX], rank = rank_of(values);
  Dim permuted[2 * GRAPH_RANK_MAX], rows = build_const(b, 1);
  indices_first(x, rank, axes);
  for (uint32_t i = 0; i < rank; i++) back[axes[i]] = i;
  Node *first = build_permute(b, values, axes);
  memcpy(permuted, first->type.shape, rank * sizeof *permuted);
  Node *number = number_of_row(b, x, row, &rows);
  Node *last = last_equal(b, number, rows);
  Dim shape[] = {last->type.shape[0],
                 build_count(b, first, all_axes(first) & ~((1u << x->rank) - 1))};
  Node *indices = build_add(b, build_mul_dim(b, build_unsqueeze(b, last, 1), shape[1]),
                            build_arange(b, shape[1]));
  Node *none = build_full(b, 2, shape, build_int(b, 0), values->type.dtype);
  Node *sum = scatter_add_up(b, none, indices, build_view(b, first, 2, shape));
  return build_permute(b, build_view(b, sum, rank, permuted), back);
}

/* The old values where the indices say. */
static Node *old_values(Build *b, const Indexed *x) {
  Arg list = arg_list(b->in.g, rank_of(x->x));
  for (uint32_t i = 0; i < rank_of(x->x); i++)
    list.items[i] = x->index[i] ? arg_node(x->index[i]) : (Arg){.kind = ARG_NONE};
  return build(b, OP_aten_index_Tensor, ARGS(arg_node(x->x), list));
}

static Node *sums_with_old(Build *b, const Indexed *x, Node *const *row, Node *values) {
  DType t = x->x->type.dtype, sum = scatter_sum_dtype(t);
  Dim count = build_const(b, 1);
  for (uint32_t i = 0; i < x->rank; i++) count = dim_mul(b->in.g->dims, count, x->shape[i]);
  values = build_to(b, values, sum);
  if (!dim_is(count, 1) && !all_differ(b, x)) values = sum_equal(b, x, row, values);
  return build_to(b, build_add(b, build_to(b, old_values(b, x), sum), values), t);
}

/* ---- updates ---- */

static bool put_indexed(Build *b, const Indexed *x, Node *address, Puts *out) {
  Dim stride[GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX];
  Node *row[GRAPH_RANK_MAX] = {NULL};
  if (!find_strides(b, x, address, stride)) return false;
  Node *at = first_addresses(b, x, address);
  for (uint32_t i = 0; i < rank_of(x->x); i++) {
    if (!x->index[i]) continue;
    row[i] = scatter_from_start(b, x->index[i], x->x->type.shape[i]);
    at = build_add(b, at, append_ones(b, x, build_mul_dim(b, row[i], stride[i])));
  }
  at = build_where(b, append_ones(b, x, rows_to_write(b, x, row)), arg_node(at), build_int(b, -1));
  uint32_t rank = infer_copy_shape(&at->type, shape);
  Node *values = build_to(b, x->values, x->x->type.dtype);
  values = build_expand(b, values, rank, shape);
  bool adds = x->adds && !scatter_empty(b, values);
  *out = (Puts){at, adds ? sums_with_old(b, x, row, values) : values};
  return true;
}

static bool put_masked(Build *b, Node *address, Puts *out) {
  MaskedPut p;
  if (!scatter_masked_put(b, &p)) return false;
  bool adds = infer_takes(&b->in, "accumulate") && infer_bool(&b->in, "accumulate");
  out->src = adds ? build_add(b, build_input(b, "self"), p.values) : p.values;
  out->index = build_where(b, p.mask, arg_node(address), build_int(b, -1));
  return true;
}

/* Is it masked_fill, masked_scatter, or index_put by a mask? */
static bool takes_mask(Build *b) {
  uint32_t n;
  if (!infer_takes(&b->in, "indices")) return infer_takes(&b->in, "mask");
  Node **index = build_inputs(b, "indices", &n);
  for (uint32_t i = 0; i < n; i++)
    if (scatter_is_mask(index[i])) return true;
  return false;
}

bool reinplace_elements(Build *b, Node *address, Puts *out) {
  Indexed x = {.x = build_input(b, "self")};
  if (takes_mask(b)) return put_masked(b, address, out);
  if (!(infer_takes(&b->in, "indices") ? survey_put : survey_slices)(b, &x)) return false;
  if (x.adds && x.x->type.dtype == DT_I1) return false; /* a disjunction */
  return put_indexed(b, &x, address, out);
}
