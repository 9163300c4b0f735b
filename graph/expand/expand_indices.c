/* Expansions of operators that read and write elements at indices. */
#include <string.h>

#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

/* ---- under a mask: where it does not hold an index may be out of range ---- */

/* The mask has the shape of the result, not of the indices if some of them are None. */
static Arg indices_within(Build *b, const Node *x) {
  Arg list = build_arg(b, "indices"), within = arg_list(b->in.g, list.n);
  if (list.n > rank_of(x))
    infer_fail(&b->in, E_GRAPH_INDICES, list.n, infer_type_text(&b->in, &x->type));
  for (uint32_t i = 0; i < list.n; i++) {
    within.items[i] = list.items[i];
    if (list.items[i].kind != ARG_NODE) continue;
    Dim size = x->type.shape[i], one = build_const(b, 1), zero = build_const(b, 0);
    Arg least = arg_dim(dim_sub(build_dims(b), zero, size));
    Arg most = arg_dim(dim_sub(build_dims(b), size, one));
    within.items[i] = arg_node(build(b, OP_aten_clamp_default, ARGS(list.items[i], least, most)));
  }
  return within;
}

Node *expand_masked_index(Build *b) {
  Node *x = build_self(b);
  if (is_empty(x)) { /* no index is within */
    Dim one[GRAPH_RANK_MAX];
    for (uint32_t i = 0; i < rank_of(x); i++) one[i] = build_const(b, 1);
    x = build_full(b, rank_of(x), one, build_int(b, 0), x->type.dtype);
  }
  Node *found = build_with(b, OP_aten__unsafe_index_Tensor, x, indices_within(b, x));
  Node *outside = build_op1(b, OP_aten_logical_not_default, build_input(b, "mask"));
  return build(b, OP_aten_masked_fill_Scalar,
               ARGS(arg_node(found), arg_node(outside), build_arg(b, "fill")));
}

Node *expand_masked_index_put(Build *b) {
  Node *x = build_self(b), *values = build_input(b, "values");
  if (is_empty(x)) return build_op1(b, OP_aten_clone_default, x);
  values = masked(b, build_input(b, "mask"), values);
  return build(b, OP_aten_index_put_default,
               ARGS(arg_node(x), indices_within(b, x), arg_node(values), arg_bool(true)));
}

/* ---- along an axis ---- */

Node *expand_index_reduce(Build *b) {
  Node *x = build_self(b), *source = build_input(b, "source"), *index = build_input(b, "index");
  bool scalar = !rank_of(x);
  Dim one = build_const(b, 1);
  if (scalar) x = build_view(b, x, 1, &one);
  if (!rank_of(source)) source = build_view(b, source, 1, &one);
  if (!rank_of(index)) index = build_view(b, index, 1, &one);
  infer_rank(&b->in, &source->type, rank_of(x), rank_of(x));
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  infer_same_size(&b->in, index->type.shape[0], source->type.shape[axis], "indices and sources");
  index = build_along(b, index, axis, rank_of(source));
  index = build_expand(b, index, rank_of(source), source->type.shape);
  Node *y = build_with_named(b, OP_aten_scatter_reduce_two,
                             ARGS(arg_node(x), build_int(b, axis), arg_node(index),
                                  arg_node(source), build_arg(b, "reduce")),
                             "include_self", build_arg(b, "include_self"));
  return scalar ? build_view(b, y, 0, NULL) : y;
}

/* The start is an element of a tensor, which may count from the end. */
Node *expand_narrow(Build *b) {
  Node *x = build_self(b), *start = build_input(b, "start");
  infer_rank(&b->in, &x->type, 1, GRAPH_RANK_MAX);
  infer_rank(&b->in, &start->type, 0, 0);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim size = x->type.shape[axis];
  start = build_to(b, start, DT_I64);
  Node *from_end = build_with(b, OP_aten_add_Tensor, start, arg_dim(size));
  start = choose(b, build_with(b, OP_aten_lt_Scalar, start, build_int(b, 0)), from_end, start);
  Node *index = build_add(b, build_arange(b, infer_size(&b->in, "length")), start);
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, axis), arg_node(index)));
}

/* ---- of all elements, in their order ---- */

Node *expand_put(Build *b) {
  Node *x = build_self(b), *index = build_flat(b, build_input(b, "index"));
  Node *source = build_flat(b, build_input(b, "source"));
  infer_same_size(&b->in, index->type.shape[0], source->type.shape[0], "indices and sources");
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(index);
  Node *y = build(b, OP_aten_index_put_default,
                  ARGS(arg_node(build_flat(b, x)), list, arg_node(source),
                       build_arg(b, "accumulate")));
  return build_view(b, y, rank_of(x), x->type.shape);
}

/* Places of elements of a tensor with those sizes and strides, in one that has no holes. */
static Node *strided_places(Build *b, uint32_t rank, const Dim *size, const Dim *stride,
                            Dim first) {
  Node *place = build_full(b, 0, NULL, arg_dim(first), DT_I64);
  for (uint32_t i = 0; i < rank; i++) {
    Node *at = build_with(b, OP_aten_mul_Tensor, build_arange(b, size[i]), arg_dim(stride[i]));
    place = build_add(b, place, build_along(b, at, i, rank));
  }
  return place;
}

Node *expand_as_strided_scatter(Build *b) {
  Node *x = build_self(b), *src = build_input(b, "src");
  Dim size[GRAPH_RANK_MAX], stride[GRAPH_RANK_MAX], first = build_const(b, 0);
  uint32_t rank = infer_sizes(&b->in, "size", size), n = infer_sizes(&b->in, "stride", stride);
  if (rank != n) infer_fail(&b->in, E_GRAPH_STRIDES, n, rank);
  if (infer_has(&b->in, "storage_offset")) first = infer_size(&b->in, "storage_offset");
  Dim last = first, one = build_const(b, 1), all = value_numel(b->in.g, &x->type);
  for (uint32_t i = 0; i < rank; i++) {
    if (dim_is(size[i], 0)) return build_op1(b, OP_aten_clone_default, x);
    if (dim_is_int(stride[i]) && stride[i]->value < 0)
      infer_fail(&b->in, E_GRAPH_STEP, (long long)stride[i]->value);
    last = dim_add(build_dims(b), last,
                   dim_mul(build_dims(b), dim_sub(build_dims(b), size[i], one), stride[i]));
  }
  if (!dim_is_int(last) || !dim_is_int(all) || last->value >= all->value || last->value < 0)
    infer_fail(&b->in, E_GRAPH_OUTSIDE, infer_dim_text(&b->in, last),
               infer_type_text(&b->in, &x->type));
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(build_flat(b, strided_places(b, rank, size, stride, first)));
  Node *y = build(b, OP_aten_index_put_default,
                  ARGS(arg_node(build_flat(b, x)), list, arg_node(build_flat(b, src))));
  return build_view(b, y, rank_of(x), x->type.shape);
}

/* ---- elements that are not 0 ---- */

/* `size` places: the first such elements', then -1. */
static Node *first_places(Build *b, Node *mask, Dim size) {
  Dim room = dim_add(build_dims(b), size, build_const(b, 1));
  Node *order = build(b, OP_aten_cumsum_default,
                      ARGS(arg_node(build_to(b, mask, DT_I64)), build_int(b, 0)));
  Node *within = build_and(b, mask, build_with(b, OP_aten_le_Tensor, order, arg_dim(size)));
  Node *past = build_full(b, 0, NULL, arg_dim(size), DT_I64);
  Node *to = choose(b, within, plus_int(b, order, -1), past);
  Node *none = build_full(b, 1, &room, build_int(b, -1), DT_I64);
  Node *found = build(b, OP_aten_scatter_src,
                      ARGS(arg_node(none), build_int(b, 0), arg_node(to),
                           arg_node(build_arange(b, mask->type.shape[0]))));
  return build_slice(b, found, 0, build_const(b, 0), size, 1);
}

Node *expand_nonzero_static(Build *b) {
  Node *x = build_self(b), *columns[GRAPH_RANK_MAX];
  Dim size = infer_size(&b->in, "size"), shape[] = {size, build_const(b, rank_of(x))};
  Arg fill = build_arg(b, "fill_value");
  if (!rank_of(x) || is_empty(x) || dim_is(size, 0)) return build_full(b, 2, shape, fill, DT_I64);
  Node *flat = build_flat(b, x);
  Node *mask = x->type.dtype == DT_I1 ? flat : compared(b, OP_aten_ne_Scalar, flat, 0);
  Node *place = first_places(b, mask, size);
  Node *filled = build_with(b, OP_aten_lt_Scalar, place, build_int(b, 0));
  for (uint32_t i = rank_of(x); i-- > 0;) {
    Arg extent = arg_dim(x->type.shape[i]);
    Node *at = i ? build_with(b, OP_aten_remainder_Tensor, place, extent) : place;
    at = build(b, OP_aten_masked_fill_Scalar, ARGS(arg_node(at), arg_node(filled), fill));
    columns[i] = build_unsqueeze(b, at, 1);
    if (i) place = build_with(b, OP_aten_floor_divide_default, place, extent);
  }
  return build_cat(b, rank_of(x), columns, 1);
}

/* A size that data decides: the one that the type of the Build's node has, if that is known. */
static Dim counted_size(Build *b, uint32_t axis) {
  const ValueType *t = &b->in.n->type;
  if (t->kind == VALUE_LIST && t->nitems) t = t->items;
  bool known = t->kind == VALUE_TENSOR && axis < t->rank && t->shape[axis]->kind == DIM_SYMBOL;
  return known ? t->shape[axis] : infer_unknown(&b->in);
}

/* A vector of indices for each axis. */
Node *expand_nonzero_numpy(Build *b) {
  Node *x = build_self(b);
  if (!rank_of(x)) x = build_unsqueeze(b, x, 0);
  Node *rows = build_op1(b, OP_aten_nonzero_default, x);
  Dim shape[] = {counted_size(b, 0), build_const(b, rank_of(x))};
  rows->type = infer_type(&b->in, DT_I64, 2, shape);
  b->nitems = rank_of(x);
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, b->nitems);
  for (uint32_t i = 0; i < b->nitems; i++)
    b->items[i] = build_select(b, rows, 1, build_const(b, i));
  return NULL;
}

/* ---- repeats ---- */

/* Results that there is room for where data decides their number, which the model does not bound:
 * on average REPEATS_EACH of an element, and REPEATS_MORE. */
enum { REPEATS_EACH = 8, REPEATS_MORE = 1 << 16 };

static Dim room_of_repeats(Build *b, Dim size, Dim n) {
  Dims *d = build_dims(b);
  int64_t bound = dim_range(d, size).hi;
  Dim most = dim_mul(d, n, dim_int(d, REPEATS_EACH));
  most = bound <= INT32_MAX ? dim_int(d, bound) : dim_add(d, most, dim_int(d, REPEATS_MORE));
  if (size->kind == DIM_SYMBOL) dim_limit(d, size, (DimRange){0, dim_range(d, most).hi});
  return most;
}

/* The sum; a negative number where there is one among them, which is refused when it is read. */
static Node *repeats_count(Build *b, Node *repeats) {
  Node *zero = build_full(b, 1, (Dim[]){build_const(b, 1)}, build_int(b, 0), DT_I64);
  Node *low = build_cat(b, 2, (Node *[]){repeats, zero}, 0);
  low = build_reduce(b, OP_aten_amin_default, low, 1, false);
  Node *negative = build_with(b, OP_aten_lt_Scalar, low, build_int(b, 0));
  return choose(b, negative, low, build_sum(b, repeats, 1, false));
}

/* Index i as often as repeats[i] says: along `axis` of the Build's node. */
static Node *repeated_indices(Build *b, Node *repeats, uint32_t axis) {
  infer_rank(&b->in, &repeats->type, 0, 1);
  if (!rank_of(repeats)) repeats = build_unsqueeze(b, repeats, 0);
  repeats = build_to(b, repeats, DT_I64);
  Node *ends = build_with(b, OP_aten_cumsum_default, repeats, build_int(b, 0));
  bool given = infer_has(&b->in, "output_size");
  Dim size = given ? infer_size(&b->in, "output_size") : counted_size(b, axis);
  Dim room = given ? size : room_of_repeats(b, size, repeats->type.shape[0]);
  Node *all = build_arange(b, room);
  Node *indices = build_with_named(b, OP_aten_searchsorted_Tensor,
                                   ARGS(arg_node(ends), arg_node(all)), "right", arg_bool(true));
  if (given) return indices;
  return build(b, OP_nereid_counted_default,
               ARGS(arg_node(indices), arg_node(repeats_count(b, repeats)), arg_dim(size)));
}

Node *expand_repeat_indices(Build *b) {
  Node *repeats = build_input(b, "repeats");
  return build_to(b, repeated_indices(b, repeats, 0), repeats->type.dtype);
}

Node *expand_repeat_interleave(Build *b) {
  Node *x = build_self(b), *repeats = build_input(b, "repeats");
  uint32_t axis = 0;
  if (infer_has(&b->in, "dim")) axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  else x = build_flat(b, x);
  Dim n = infer_axis_size(&b->in, &x->type, axis);
  if (!rank_of(repeats) || dim_is(repeats->type.shape[0], 1))
    repeats = build_expand(b, build_view(b, repeats, 1, (Dim[]){build_const(b, 1)}), 1, &n);
  else infer_same_size(&b->in, repeats->type.shape[0], n, "repeats and elements");
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, axis), arg_node(repeated_indices(b, repeats, axis))));
}

/* ---- rows of embeddings ---- */

/* Rows that indices name are made no longer than max_norm. */
Node *expand_embedding_renorm(Build *b) {
  Node *x = build_self(b), *index = build_flat(b, build_input(b, "indices"));
  infer_rank(&b->in, &x->type, 2, 2);
  Node *none = build_full(b, 1, x->type.shape, arg_bool(false), DT_I1);
  Node *named = build(b, OP_aten_index_fill_int_Scalar,
                      ARGS(arg_node(none), build_int(b, 0), arg_node(index), arg_bool(true)));
  Node *norm = build(b, OP_aten_linalg_vector_norm_default,
                     ARGS(arg_node(build_widen(b, x)), build_arg(b, "norm_type"),
                          arg_axes(b->in.g, 2), arg_bool(true)));
  Node *more = build_with(b, OP_aten_gt_Tensor, norm, build_arg(b, "max_norm"));
  Node *most = build_full(b, 0, NULL, build_arg(b, "max_norm"), norm->type.dtype);
  Node *scale = build_div(b, most, plus(b, norm, 1e-7));
  Node *shorter = build_to(b, build_mul(b, x, scale), x->type.dtype);
  return choose(b, build_and(b, more, build_unsqueeze(b, named, 1)), shorter, x);
}
