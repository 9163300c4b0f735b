/* Writing at indices that data says.  Rows, and parts along an axis, go one after the other on CPUs
 * (decompose/scatter_rows.c).  All else becomes nereid.scatter, by atomics:
 *
 *   sums      are added up where they go, those of 16-bit floats in f32
 *   extremes  likewise; floats are compared as integers of their order
 *   products  have no atomics: every element goes through the indices along the axis
 *   a value   where several are written to one element, the last of them in row-major order stays:
 *             each element gets the largest number of those that are written there, its *writer*,
 *             and takes the value from it */
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/messages.h"
#include "decompose/scatter.h"
#include "graph/builders/mask_builder.h"

static Node *scatter_at(Build *b, Node *to, Node *indices, Arg src, const char *reduce) {
  Arg how = {.kind = ARG_STRING, .name = reduce};
  return build(b, OP_nereid_scatter_default, ARGS(arg_node(to), arg_node(indices), src, how));
}

static Node *like(Build *b, Node *x, const Node *of) {
  return build_view(b, x, rank_of(of), of->type.shape);
}

/* ---- writers ---- */

/* For each of n elements the number of the last that is written there, -1: none is. */
Node *scatter_writers(Build *b, Dim n, Node *indices) {
  Dim count = value_numel(b->in.g, &indices->type);
  DType t = dim_range(build_dims(b), count).hi <= INT32_MAX ? DT_I32 : DT_I64;
  Node *none = build_full(b, 1, &n, build_int(b, -1), t);
  Node *number = like(b, build_to(b, build_arange(b, count), t), indices);
  return scatter_at(b, none, indices, arg_node(number), "amax");
}

Node *scatter_written(Build *b, Node *writer) {
  return build_with(b, OP_aten_ge_Tensor, writer, build_int(b, 0));
}

bool scatter_empty(Build *b, const Node *x) { return dim_is(value_numel(b->in.g, &x->type), 0); }

/* x with the rows (its first axis) that `writer` says from `values`. */
Node *scatter_take(Build *b, Node *x, Node *writer, Node *values) {
  Node *on = scatter_written(b, writer);
  Node *taken =
      build(b, OP_aten_index_select_default,
            ARGS(arg_node(values), build_int(b, 0), arg_node(build_to(b, writer, DT_I64))));
  if (rank_of(x) > 1) on = build_unsqueeze(b, on, 1);
  return build_where(b, on, arg_node(taken), arg_node(x));
}

Node *scatter_from_start(Build *b, Node *index, Dim size) {
  index = build_to(b, index, DT_I64);
  Node *low = build_with(b, OP_aten_lt_Tensor, index, build_int(b, 0));
  return build_where(b, low, arg_node(build_with(b, OP_aten_add_Tensor, index, arg_dim(size))),
                     arg_node(index));
}

/* ---- reductions ---- */

typedef enum { SCATTER_SUM, SCATTER_PROD, SCATTER_MEAN, SCATTER_AMAX, SCATTER_AMIN } Reduce;

DType scatter_sum_dtype(DType t) {
  if (dtype_is_float(t)) return build_wide(t);
  return t == DT_I64 ? t : DT_I32;
}

static Node *one_column(Build *b, Node *x) {
  return build_view(b, x, 2, (Dim[]){value_numel(b->in.g, &x->type), build_const(b, 1)});
}

Node *scatter_add_up(Build *b, Node *to, Node *indices, Node *src) {
  DType t = scatter_sum_dtype(to->type.dtype);
  if (b->in.g->deterministic && dtype_is_float(t)) {
    Dim n = value_numel(b->in.g, &to->type);
    Node *row = build_flat(b, indices),
         *low = build_with(b, OP_aten_lt_Scalar, row, build_int(b, 0));
    row = build_where(b, low, arg_dim(n), arg_node(row));
    Node *sum = scatter_sum_rows(b, n, row, one_column(b, build_to(b, src, t)));
    return build_to(b, build_add(b, build_to(b, to, t), like(b, sum, to)), to->type.dtype);
  }
  Node *sum = scatter_at(b, build_to(b, to, t), indices, arg_node(build_to(b, src, t)), "sum");
  return build_to(b, sum, to->type.dtype);
}

/* Which row is each of n?  A product with that matrix adds up in one order, too. */
static Node *sum_by_product(Build *b, Dim n, Node *row, Node *values) {
  Node *which = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, build_arange(b, n), 1),
                          build_unsqueeze(b, row, 0));
  which = build_to(b, which, values->type.dtype);
  return build_product(b, OP_aten_mm_default, which, values, ROUNDS_NEVER);
}

/* ---- sums of rows, in order ---- */

/* Sums of rows on a CPU. */
static Node *add_in_order(Build *b, Dim n, Node *row, Node *values) {
  Dim shape[] = {n, values->type.shape[1]};
  DType t = build_wide(values->type.dtype);
  return scatter_rows(b, &(ScatteredRows){.to = build_full(b, 2, shape, build_int(b, 0), t),
                                          .index = row,
                                          .src = values,
                                          .outer = build_const(b, 1),
                                          .rows = n,
                                          .columns = shape[1],
                                          .count = row->type.shape[0],
                                          .reduce = "sum"});
}

Node *scatter_sum_rows(Build *b, Dim n, Node *row, Node *values) {
  enum { FEW = 64 };
  if (b->in.g->host) return add_in_order(b, n, row, values);
  if (dim_is_int(n) && n->value <= FEW && build_wide(values->type.dtype) == DT_F32)
    return sum_by_product(b, n, row, values);
  Arg among[] = {arg_node(row), build_int(b, 0), arg_dim(n)};
  row = build(b, OP_aten_clamp_default, 3, among); /* so that 32 bits are known to hold it */
  Node *sorted =
      build_with_named(b, OP_aten_sort_stable, ARGS(arg_node(row)), "stable", arg_bool(true));
  Dim bounds = dim_add(build_dims(b), n, build_const(b, 1));
  Node *starts =
      build_op2(b, OP_aten_searchsorted_Tensor, build_item(b, sorted, 0), build_arange(b, bounds));
  values = scatter_before_widening(b, values);
  return build(b, OP_nereid_segment_sum_default,
               ARGS(arg_node(values), arg_node(build_item(b, sorted, 1)), arg_node(starts)));
}

Node *scatter_count(Build *b, Dim n, Node *index) {
  Node *none = build_full(b, 1, &n, build_int(b, 0), DT_I32);
  Node *one = build_full(b, 1, index->type.shape, build_int(b, 1), DT_I32);
  if (b->in.g->host)
    return scatter_rows(b, &(ScatteredRows){.to = none,
                                            .index = index,
                                            .src = one,
                                            .outer = build_const(b, 1),
                                            .rows = n,
                                            .columns = build_const(b, 1),
                                            .count = index->type.shape[0],
                                            .reduce = "sum"});
  Node *inside = build_with(b, OP_aten_lt_Scalar, index, arg_dim(n));
  return scatter_add_up(b, none, build_where(b, inside, arg_node(index), build_int(b, -1)), one);
}

static Node *sort_key(Build *b, Node *x) {
  DType t = x->type.dtype;
  if (dtype_is_float(t)) return build_op1(b, OP_nereid_sort_key_default, x);
  return build_to(b, x, t == DT_I64 ? t : DT_I32);
}

static Node *of_key(Build *b, Node *key, DType t) {
  if (!dtype_is_float(t)) return build_to(b, key, t);
  return build_to(b, build_op1(b, OP_nereid_of_sort_key_default, key), t);
}

/* The least of floats is what is left of the largest with signs turned, so that NaN wins. */
static Node *scatter_extreme(Build *b, Node *to, Node *indices, Node *src, bool max) {
  DType t = to->type.dtype;
  bool turn = dtype_is_float(t) && !max;
  if (turn)
    to = build_op1(b, OP_aten_neg_default, to), src = build_op1(b, OP_aten_neg_default, src);
  const char *reduce = max || turn ? "amax" : "amin";
  Node *key = scatter_at(b, sort_key(b, to), indices, arg_node(sort_key(b, src)), reduce);
  Node *y = of_key(b, key, t);
  return turn ? build_op1(b, OP_aten_neg_default, y) : y;
}

/* ---- along an axis ---- */

/* The linear index in x, in row-major order, of each element of index. */
static Node *indices_along(Build *b, const Node *x, uint32_t axis, Node *index) {
  Node *linear = NULL;
  Dim stride = build_const(b, 1);
  for (uint32_t i = rank_of(x); i-- > 0;) {
    Node *at = i == axis ? build_to(b, index, DT_I64)
                         : build_along(b, build_arange(b, index->type.shape[i]), i, rank_of(x));
    at = build_mul_dim(b, at, stride);
    linear = linear ? build_add(b, at, linear) : at;
    stride = dim_mul(build_dims(b), stride, x->type.shape[i]);
  }
  return linear;
}

/* The elements of src for which there is an index. */
static Node *indexed_part(Build *b, Node *src, const Node *index) {
  for (uint32_t i = 0; i < rank_of(src); i++)
    src = build_slice(b, src, i, build_const(b, 0), index->type.shape[i], 1);
  return src;
}

typedef struct {
  Node *x, *index;
  uint32_t axis;
} Along;

/* Tensors without axes have one. */
static Along along_of(Build *b) {
  Dim one = build_const(b, 1);
  Along a = {build_self(b), build_input(b, "index"), 0};
  a.axis = infer_axis_arg(&b->in, "dim", rank_of(a.x));
  if (!rank_of(a.x)) a.x = build_view(b, a.x, 1, &one);
  if (!rank_of(a.index)) a.index = build_view(b, a.index, 1, &one);
  return a;
}

/* The values to write, one for each element of the index; a number is expanded. */
static Node *scatter_source(Build *b, const Along *a) {
  Dim one = build_const(b, 1);
  if (!infer_takes(&b->in, "src"))
    return build_full(b, rank_of(a->index), a->index->type.shape, build_arg(b, "value"),
                      a->x->type.dtype);
  Node *src = build_input(b, "src");
  if (!rank_of(src)) src = build_view(b, src, 1, &one);
  return indexed_part(b, src, a->index);
}

/* Each row along the axis is written at a few places, as a class of it is: then every element finds
 * out whether it is one of them, and nothing is scattered. */
static bool writes_few(const Along *a) {
  enum { FEW = 4 };
  Dim count = a->index->type.shape[a->axis];
  bool few = dim_is_int(count) && count->value <= FEW && rank_of(a->x) == rank_of(a->index);
  for (uint32_t i = 0; few && i < rank_of(a->x); i++)
    few = i == a->axis || a->x->type.shape[i] == a->index->type.shape[i];
  return few;
}

/* Is there an element at position i of each row?  Indices that 32 bits do not hold are refused
 * before. */
static Node *is_at_place(Build *b, const Along *a, int64_t i) {
  Dim at = build_const(b, i), end = build_const(b, i + 1), size = a->x->type.shape[a->axis];
  DType t = dim_range(build_dims(b), size).hi <= INT32_MAX ? DT_I32 : DT_I64;
  Node *place = build_along(b, build_to(b, build_arange(b, size), t), a->axis, rank_of(a->x));
  Node *index = build_to(b, a->index, t);
  return build_op2(b, OP_aten_eq_Tensor, place, build_slice(b, index, a->axis, at, end, 1));
}

static Node *write_few(Build *b, const Along *a, bool adds) {
  Node *src = scatter_source(b, a), *y = a->x;
  Node *zero = build_full(b, 0, NULL, build_int(b, 0), y->type.dtype);
  for (int64_t i = 0; i < a->index->type.shape[a->axis]->value; i++) {
    Dim at = build_const(b, i), end = build_const(b, i + 1);
    Node *new = build_slice(b, src, a->axis, at, end, 1), *here = is_at_place(b, a, i);
    if (adds) y = build_add(b, y, build_where(b, here, arg_node(new), arg_node(zero)));
    else y = build_where(b, here, arg_node(new), arg_node(y));
  }
  return build_finished(b, y);
}

Node *decompose_scatter(Build *b) {
  if (scatter_empty(b, build_input(b, "index"))) return build_self(b);
  Along a = along_of(b);
  if (writes_few(&a)) return write_few(b, &a, false);
  Dim all = value_numel(b->in.g, &a.x->type);
  Node *writer = scatter_writers(b, all, indices_along(b, a.x, a.axis, a.index));
  if (infer_takes(&b->in, "src"))
    return build_finished(
        b, scatter_take(b, build_flat(b, a.x), writer, build_flat(b, scatter_source(b, &a))));
  Node *value = build_full(b, 0, NULL, build_arg(b, "value"), a.x->type.dtype);
  Node *on = like(b, scatter_written(b, writer), a.x);
  return build_finished(b, build_where(b, on, arg_node(value), arg_node(a.x)));
}

/* The index of each place along the axis, if it is the same for all others; NULL: it is not. */
static Node *index_along(const Along *a) {
  uint32_t rank = rank_of(a->x);
  if (rank == 1) return a->index;
  if (!graph_is(a->index, OP_aten_expand_default)) return NULL;
  Node *row = a->index->args[0].node;
  bool whole = rank_of(row) == rank && row->type.shape[a->axis] == a->index->type.shape[a->axis];
  for (uint32_t i = 0; i < rank && whole; i++)
    whole = i == a->axis ||
            (dim_is(row->type.shape[i], 1) && a->x->type.shape[i] == a->index->type.shape[i]);
  return whole ? row : NULL;
}

/* The index of each row, if all of a row is written to one row; NULL: it is not. */
static Node *index_of_rows(Build *b, const Along *a) {
  Node *row = a->axis || rank_of(a->x) < 2 ? NULL : index_along(a);
  return row ? build_flat(b, row) : NULL;
}

/* Is it a part of x along the axis, or several, of which all others are whole?  Then a CPU goes
 * through it in order. */
static bool goes_in_order(Build *b, const Along *a, ScatteredRows *r) {
  uint32_t rank = rank_of(a->x);
  if (!b->in.g->host || rank_of(a->index) != rank) return false;
  for (uint32_t i = 0; i < rank; i++)
    if (i != a->axis && a->x->type.shape[i] != a->index->type.shape[i]) return false;
  uint32_t before = (1u << a->axis) - 1, after = all_axes(a->x) & ~(2 * before + 1);
  Node *row = index_along(a);
  *r = (ScatteredRows){.index = row ? row : a->index,
                       .each = !row,
                       .outer = build_count(b, a->x, before),
                       .rows = a->x->type.shape[a->axis],
                       .columns = build_count(b, a->x, after),
                       .count = a->index->type.shape[a->axis]};
  return true;
}

/* `to`, of x's shape, reduced so with src. */
static Node *reduce_in_order(Build *b, ScatteredRows r, Node *to, Node *src, const char *reduce) {
  DType t = to->type.dtype;
  r.to = build_to(b, to, scatter_sum_dtype(t));
  r.src = src;
  r.reduce = reduce;
  return build_to(b, scatter_rows(b, &r), t);
}

Node *decompose_scatter_add(Build *b) {
  ScatteredRows r;
  if (scatter_empty(b, build_input(b, "index"))) return build_self(b);
  Along a = along_of(b);
  if (writes_few(&a)) return write_few(b, &a, true);
  if (goes_in_order(b, &a, &r))
    return build_finished(b, reduce_in_order(b, r, a.x, scatter_source(b, &a), "sum"));
  Node *row = index_of_rows(b, &a);
  if (row)
    return build_finished(b, build(b, OP_aten_index_add_default,
                                   ARGS(arg_node(a.x), build_int(b, 0), arg_node(row),
                                        arg_node(scatter_source(b, &a)))));
  Node *indices = indices_along(b, a.x, a.axis, a.index);
  return build_finished(b, scatter_add_up(b, a.x, indices, scatter_source(b, &a)));
}

/* For each element of x the product of the values written to it, 1 without any. */
static Node *products_along(Build *b, const Along *a, Node *src) {
  uint32_t rank = rank_of(a->x);
  Node *at = build_along(b, build_arange(b, a->x->type.shape[a->axis]), a->axis, rank + 1);
  Node *here = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, a->index, a->axis), at);
  DType t = build_wide(src->type.dtype);
  Node *one = build_full(b, 0, NULL, build_int(b, 1), t);
  src = build_to(b, build_unsqueeze(b, src, a->axis), t);
  Node *factors = build_where(b, here, arg_node(src), arg_node(one));
  Node *y = build(b, OP_aten_prod_dim_int, ARGS(arg_node(factors), build_int(b, a->axis + 1)));
  Arg pads = arg_list(b->in.g, 2 * rank);
  bool smaller = false;
  for (uint32_t i = 0; i < rank; i++) {
    Dim more = dim_sub(build_dims(b), a->x->type.shape[i], y->type.shape[i]);
    pads.items[2 * (rank - 1 - i)] = build_int(b, 0);
    pads.items[2 * (rank - 1 - i) + 1] = arg_dim(more);
    smaller |= !dim_is(more, 0);
  }
  if (smaller)
    y = build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(y), pads, build_int(b, 1)));
  return y;
}

static Node *multiply_along(Build *b, const Along *a, Node *to, Node *src) {
  Node *factor = products_along(b, a, src);
  Node *y = build_mul(b, build_to(b, to, factor->type.dtype), factor);
  return build_to(b, y, a->x->type.dtype);
}

static Node *divide_mean(Build *b, Node *sum, Node *count) {
  if (dtype_is_float(sum->type.dtype))
    return build_div(b, sum, build_to(b, count, build_wide(sum->type.dtype)));
  return build_op2(b, OP_aten_floor_divide_default, sum, build_to(b, count, sum->type.dtype));
}

static Reduce reduce_of(Build *b) {
  static const char *const names[] = {"sum", "prod", "mean", "amax", "amin"};
  Name name = infer_string(&b->in, "reduce");
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i], name)) return (Reduce)i;
  if (!strcmp(name, "add")) return SCATTER_SUM;
  if (!strcmp(name, "multiply")) return SCATTER_PROD;
  infer_fail(&b->in, E_GRAPH_REDUCE, name);
}

static Node *neutral_like(Build *b, const Node *x, Reduce how) {
  DType t = x->type.dtype;
  Node *one = how == SCATTER_AMAX || how == SCATTER_AMIN
                  ? build_limit(b, t, how == SCATTER_AMAX)
                  : build_full(b, 0, NULL, build_int(b, how == SCATTER_PROD), t);
  return build_expand(b, one, rank_of(x), x->type.shape);
}

static Node *reduce_along(Build *b, const Along *a, Node *to, Node *src, Reduce how) {
  static const char *const names[] = {"sum", "prod", "sum", "amax", "amin"};
  ScatteredRows r;
  if (goes_in_order(b, a, &r)) return reduce_in_order(b, r, to, src, names[how]);
  if (how == SCATTER_PROD) return multiply_along(b, a, to, src);
  Node *indices = indices_along(b, a->x, a->axis, a->index);
  if (how == SCATTER_AMAX || how == SCATTER_AMIN)
    return scatter_extreme(b, to, indices, src, how == SCATTER_AMAX);
  return scatter_add_up(b, to, indices, src);
}

/* How many are written to each of x's elements, without those that were there. */
static Node *count_written(Build *b, const Along *a) {
  Node *none = build_full(b, rank_of(a->x), a->x->type.shape, build_int(b, 0), DT_I32);
  Node *one = build_full(b, rank_of(a->index), a->index->type.shape, build_int(b, 1), DT_I32);
  ScatteredRows r;
  if (goes_in_order(b, a, &r)) return reduce_in_order(b, r, none, one, "sum");
  Node *indices = indices_along(b, a->x, a->axis, a->index);
  return scatter_at(b, none, indices, arg_node(one), "sum");
}

Node *decompose_scatter_reduce(Build *b) {
  if (scatter_empty(b, build_input(b, "index"))) return build_self(b);
  Along a = along_of(b);
  Reduce how = reduce_of(b);
  bool include = !infer_takes(&b->in, "include_self") || infer_bool(&b->in, "include_self");
  Node *src = scatter_source(b, &a);
  Node *to = include ? a.x : neutral_like(b, a.x, how);
  Node *y = reduce_along(b, &a, to, src, how);
  if (include && how != SCATTER_MEAN) return build_finished(b, y);
  Node *count = count_written(b, &a), *zero = build_full(b, 0, NULL, build_int(b, 0), DT_I32);
  Node *on = build_op2(b, OP_aten_gt_Tensor, count, zero);
  if (how == SCATTER_MEAN) {
    count = include ? build_add_dim(b, count, build_const(b, 1))
                    : build_with(b, OP_aten_clamp_default, count, build_int(b, 1));
    y = build_to(b, divide_mean(b, y, count), a.x->type.dtype);
  }
  return build_finished(b, include ? y : build_where(b, on, arg_node(y), arg_node(a.x)));
}
