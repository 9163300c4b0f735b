/* Elements at indices that tensors of several coordinates say, and writing there. */
#include <math.h>
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_op.h"

/* Coordinate `k` of each index, from the last axis of the indices; negative ones count from the
 * end. */
static Node *raw_coordinate(OnnxCall *c, Node *indices, int64_t k) {
  return build_select(&c->b, indices, rank_of(indices) - 1, build_const(&c->b, k));
}

static Node *coordinate(OnnxCall *c, Node *indices, int64_t k, Dim size) {
  return onnx_from_begin(c, raw_coordinate(c, indices, k), size);
}

static uint32_t coordinates_of(OnnxCall *c, const Node *indices) {
  if (!rank_of(indices)) onnx_fail(c, E_GRAPH_AXES, 1, GRAPH_RANK_MAX, "a scalar");
  Dim n = indices->type.shape[rank_of(indices) - 1];
  if (!dim_is_int(n)) onnx_lack(c, "indices with a symbolic number of coordinates");
  if (n->value > GRAPH_RANK_MAX) onnx_fail(c, E_ONNX_RANK, (size_t)n->value, GRAPH_RANK_MAX);
  return (uint32_t)n->value;
}

/* Coordinates of the first axes, as aten.index takes them: of `batch` axes each index has its own
 * number, along that axis of the indices. */
static Arg coordinate_list(OnnxCall *c, const Node *x, Node *indices, uint32_t batch) {
  Build *b = &c->b;
  uint32_t n = coordinates_of(c, indices);
  if (n + batch > rank_of(x) || batch >= rank_of(indices))
    onnx_fail(c, E_GRAPH_INDICES, n + batch, infer_type_text(&b->in, &x->type));
  Arg list = arg_list(b->in.g, batch + n);
  for (uint32_t i = 0; i < batch; i++) {
    Node *all = build_arange(b, x->type.shape[i]);
    list.items[i] = arg_node(build_along(b, all, i, rank_of(indices) - 1));
  }
  for (uint32_t i = 0; i < n; i++)
    list.items[batch + i] = arg_node(coordinate(c, indices, i, x->type.shape[batch + i]));
  return list;
}

void onnx_op_gather_nd(OnnxCall *c) {
  Node *x = onnx_in(c, 0), *indices = onnx_in(c, 1);
  int64_t batch = onnx_int(c, "batch_dims", 0);
  if (batch < 0 || batch >= rank_of(x)) onnx_fail(c, E_GRAPH_AXIS, (long long)batch, rank_of(x));
  Arg list = coordinate_list(c, x, indices, (uint32_t)batch);
  onnx_set(c, 0, list.n ? build_with(&c->b, OP_aten_index_Tensor, x, list) : x);
}

/* ONNX's names of reductions, and ATen's. */
static const char *scatter_reduction(OnnxCall *c) {
  static const char *const names[][2] = {
      {"add", "sum"}, {"mul", "prod"}, {"max", "amax"}, {"min", "amin"}};
  Name name = onnx_string(c, "reduction", "none");
  if (!strcmp(name, "none")) return NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i][0])) return names[i][1];
  onnx_fail(c, E_ONNX_ATTR_VALUE, "reduction", name);
}

static Node *build_scatter(OnnxCall *c, Node *x, uint32_t axis, Node *index, Node *updates,
                           const char *reduction) {
  Build *b = &c->b;
  Arg args[] = {arg_node(x), build_int(b, axis), arg_node(index), arg_node(updates), arg_none()};
  if (!reduction) return build(b, OP_aten_scatter_src, 4, args);
  args[4] = (Arg){.kind = ARG_STRING, .name = pool_name(b->in.g->names, reduction)};
  return build(b, OP_aten_scatter_reduce_two, 5, args);
}

void onnx_op_scatter_elements(OnnxCall *c) {
  Node *x = onnx_in(c, 0), *updates = onnx_in(c, 2);
  uint32_t axis = onnx_axis_attr(c, "axis", 0, rank_of(x));
  Node *index = onnx_from_begin(c, onnx_in(c, 1), x->type.shape[axis]);
  onnx_set(c, 0, build_scatter(c, x, axis, index, updates, scatter_reduction(c)));
}

/* The axes that coordinates are of become one, and so do the others: rows that are written.  Each
 * coordinate is checked, since the row may be in range where one of them is not. */
static Node *scatter_rows(OnnxCall *c, Node *x, Node *indices, Node *updates,
                          const char *reduction) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  uint32_t n = coordinates_of(c, indices);
  const Dim *shape = x->type.shape;
  Node *row = NULL;
  for (uint32_t i = 0; i < n; i++) {
    Node *raw = raw_coordinate(c, indices, i), *k = onnx_from_begin(c, raw, shape[i]);
    build_check_index(b, raw, shape[i], true, arg_none(), c->out[0]->name);
    if (row) row = build_with(b, OP_aten_mul_Tensor, row, arg_dim(shape[i]));
    row = row ? build_add(b, row, k) : k;
  }
  Dim rows = infer_product(&b->in, shape, n);
  Dim width = infer_product(&b->in, shape + n, rank_of(x) - n);
  Dim nrows = infer_product(&b->in, indices->type.shape, rank_of(indices) - 1);
  Dim flat[] = {rows, width}, updated[] = {nrows, width}, column[] = {nrows, dim_int(d, 1)};
  Node *index = build_expand(b, build_view(b, row, 2, column), 2, updated);
  Node *y = build_scatter(c, build_view(b, x, 2, flat), 0, index,
                          build_view(b, updates, 2, updated), reduction);
  return build_view(b, y, rank_of(x), shape);
}

void onnx_op_scatter_nd(OnnxCall *c) {
  Node *x = onnx_in(c, 0), *indices = onnx_in(c, 1), *updates = onnx_in(c, 2);
  const char *reduction = scatter_reduction(c);
  uint32_t n = coordinates_of(c, indices);
  if (n > rank_of(x)) onnx_fail(c, E_GRAPH_INDICES, n, infer_type_text(&c->b.in, &x->type));
  if (!n) onnx_lack(c, "indices without coordinates");
  onnx_set(c, 0, scatter_rows(c, x, indices, updates, reduction));
}

/* ---- tensors of zeros and ones, or of two values ---- */

static Dim index_depth(OnnxCall *c) {
  if (!dtype_is_float(onnx_need(c, 1)->dtype)) return onnx_need_dim(c, 1);
  double depth = onnx_need_number(c, 1);
  if (!(fabs(depth) < 9e15)) onnx_lack(c, "a depth of %g", depth);
  return build_const(&c->b, (int64_t)depth);
}

/* values[1] where an index is met along the new axis, else values[0]. */
void onnx_op_one_hot(OnnxCall *c) {
  Build *b = &c->b;
  Node *indices = onnx_in(c, 0), *values = onnx_in(c, 2);
  Dim depth = index_depth(c);
  uint32_t rank = rank_of(indices) + 1, axis = onnx_axis_attr(c, "axis", -1, rank);
  indices = onnx_from_begin(c, indices, depth);
  Node *all = build_along(b, build_arange(b, depth), axis, rank);
  Node *met = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, indices, axis), all);
  Node *off = build_select(b, values, 0, build_const(b, 0));
  Node *on = build_select(b, values, 0, build_const(b, 1));
  onnx_set(c, 0, build_where(b, met, arg_node(on), arg_node(off)));
}

void onnx_op_eye_like(OnnxCall *c) {
  Build *b = &c->b;
  const ValueType *x = onnx_type(c, 0);
  infer_rank(&b->in, x, 2, 2);
  DType t = onnx_dtype_attr(c, "dtype", x->dtype);
  Arg k = build_int(b, onnx_int(c, "k", 0));
  Node *rows = build_along(b, build_arange(b, x->shape[0]), 0, 2);
  Node *columns = build_along(b, build_arange(b, x->shape[1]), 1, 2);
  rows = build_with(b, OP_aten_add_Tensor, rows, k);
  onnx_set(c, 0, build_to(b, build_op2(b, OP_aten_eq_Tensor, columns, rows), t));
}

/* ---- parts that are reversed, each up to a length of its own ---- */

/* Position t of a sequence of length n becomes n-1-t if t < n. */
void onnx_op_reverse_sequence(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t rank = rank_of(x);
  uint32_t batch = onnx_axis_attr(c, "batch_axis", 1, rank);
  uint32_t time = onnx_axis_attr(c, "time_axis", 0, rank);
  Node *n = build_along(b, build_to(b, onnx_in(c, 1), DT_I64), batch, rank);
  Node *t = build_along(b, build_arange(b, x->type.shape[time]), time, rank);
  Node *back = build_with(b, OP_aten_sub_Tensor, build_sub(b, n, t), build_int(b, 1));
  Node *index = build_where(b, build_op2(b, OP_aten_lt_Tensor, t, n), arg_node(back), arg_node(t));
  index = build_expand(b, index, rank, x->type.shape);
  Arg args[] = {arg_node(x), build_int(b, time), arg_node(index)};
  onnx_set(c, 0, build(b, OP_aten_gather_default, 3, args));
}

/* ---- what is kept: a mask that is known decides the shape ---- */

/* How many flags of a mask count: an axis may be shorter than it. */
static uint32_t flags_within(OnnxCall *c, const OnnxKnown *mask, Dim size) {
  int64_t most = dim_range(onnx_dims(c), size).hi;
  uint32_t end = most < mask->n ? (uint32_t)most : mask->n;
  while (end && !mask->at[end - 1].dim->value) end--;
  return end;
}

/* Where flags hold that data decides, as far as the axis goes. */
static Node *kept_at_run_time(OnnxCall *c, Dim size) {
  Build *b = &c->b;
  Node *mask = onnx_in(c, 1);
  infer_rank(&b->in, &mask->type, 1, 1);
  if (mask->type.dtype != DT_I1) onnx_fail(c, E_ONNX_FLAGS, c->in[1]->name);
  mask = build_slice(b, mask, 0, build_const(b, 0), size, 1);
  return build_select(b, build_op1(b, OP_aten_nonzero_default, mask), 1, build_const(b, 0));
}

static Node *kept_of_known(OnnxCall *c, const OnnxKnown *mask, Dim size) {
  int64_t n = 0;
  uint32_t end = flags_within(c, mask, size);
  for (uint32_t i = 0; i < end; i++) n += mask->at[i].dim->value != 0;
  OnnxKnown *kept = onnx_known_new(c, DT_I64, 1, &n);
  for (uint32_t i = 0, to = 0; i < end; i++)
    if (mask->at[i].dim->value) kept->at[to++].dim = build_const(&c->b, i);
  return onnx_constant(c, kept);
}

/* Without an axis, of the tensor as a vector. */
void onnx_op_compress(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  bool data = onnx_has(c, 1) && !onnx_known(c, 1) && !onnx_is_of_run(c, 1);
  const OnnxKnown *mask = data ? NULL : onnx_need(c, 1);
  if (mask && mask->dtype != DT_I1) onnx_fail(c, E_ONNX_FLAGS, c->in[1]->name);
  uint32_t axis = 0;
  if (onnx_has_attr(c, "axis")) {
    axis = onnx_axis_attr(c, "axis", 0, rank_of(x));
  } else {
    Dim n = infer_product(&b->in, x->type.shape, rank_of(x));
    x = build_view(b, x, 1, &n);
  }
  Dim size = x->type.shape[axis];
  /* An open axis may be too short for some flags. */
  bool cut = mask && dim_range(onnx_dims(c), size).lo < flags_within(c, mask, size);
  Node *kept = mask && !cut ? kept_of_known(c, mask, size) : kept_at_run_time(c, size);
  Arg args[] = {arg_node(x), build_int(b, axis), arg_node(kept)};
  onnx_set(c, 0, build(b, OP_aten_index_select_default, 3, args));
}

/* ---- TensorScatter: rows that are appended to a cache ---- */

/* The index of each row of the cache in the update of its batch. */
static Node *index_in_update(OnnxCall *c, const Node *cache, uint32_t axis) {
  Build *b = &c->b;
  Node *index = build_along(b, build_arange(b, cache->type.shape[axis]), axis, rank_of(cache));
  if (!onnx_has(c, 2)) return index;
  Node *first = build_to(b, onnx_in(c, 2), DT_I64);
  index = build_sub(b, index, build_along(b, first, 0, rank_of(cache)));
  Name mode = onnx_string(c, "mode", "linear");
  if (!strcmp(mode, "circular"))
    return build_with(b, OP_aten_remainder_Tensor, index, arg_dim(cache->type.shape[axis]));
  if (strcmp(mode, "linear")) onnx_fail(c, E_ONNX_ATTR_VALUE, "mode", mode);
  return index;
}

void onnx_op_tensor_scatter(OnnxCall *c) {
  Build *b = &c->b;
  Node *cache = onnx_in(c, 0), *update = onnx_in(c, 1);
  uint32_t axis = onnx_axis_attr(c, "axis", -2, rank_of(cache));
  infer_rank(&b->in, &update->type, rank_of(cache), rank_of(cache));
  Node *index = index_in_update(c, cache, axis);
  onnx_ignore(c, "mode");
  Dim size = update->type.shape[axis], last = dim_sub(onnx_dims(c), size, build_const(b, 1));
  Node *new = build_op2(b, OP_aten_logical_and_default,
                        build_with(b, OP_aten_ge_Scalar, index, build_int(b, 0)),
                        build_with(b, OP_aten_lt_Scalar, index, arg_dim(size)));
  Node *at = build(b, OP_aten_clamp_default, ARGS(arg_node(index), build_int(b, 0), arg_dim(last)));
  at = build_expand(b, at, rank_of(cache), cache->type.shape);
  Node *rows =
      build(b, OP_aten_gather_default, ARGS(arg_node(update), build_int(b, axis), arg_node(at)));
  onnx_set(c, 0, build_where(b, new, arg_node(rows), arg_node(cache)));
}
