/* Products of matrices become aten.mm and aten.bmm; what is batched with a plain matrix becomes
 * one mm of all rows. */
#include <string.h>

#include "decompose/decompose.h"

/* The numbers along all axes but the last n, multiplied. */
static Dim merged_rows(Build *b, const Node *x, uint32_t n) {
  return infer_product(&b->in, x->type.shape, rank_of(x) - n);
}

static Node *mm(Build *b, Node *x, Node *y) { return build_op2(b, OP_aten_mm_default, x, y); }

/* x[.., k] as one matrix, times y[k, n]: [.., n]. */
static Node *rows_times(Build *b, Node *x, Node *y) {
  Dim k = size_from_end(x, 1), n = size_from_end(y, 1), shape[GRAPH_RANK_MAX];
  Node *rows = build_view(b, x, 2, (Dim[]){merged_rows(b, x, 1), k});
  memcpy(shape, x->type.shape, rank_of(x) * sizeof *shape);
  shape[rank_of(x) - 1] = n;
  return build_view(b, mm(b, rows, y), rank_of(x), shape);
}

Node *decompose_linear(Build *b) {
  Node *x = build_input(b, "input"), *weight = build_input(b, "weight");
  Node *bias = build_input(b, "bias");
  if (rank_of(weight) == 1) weight = build_lead(b, weight, 2);
  Node *y = rows_times(b, x, build_transpose(b, weight, 0, 1));
  if (bias) y = build_add(b, y, bias);
  return build_view(b, y, b->in.n->type.rank, b->in.n->type.shape);
}

/* ---- with a factor and a sum ---- */

static bool is_one(const Arg *a) {
  return a->kind == ARG_FLOAT ? a->number == 1 : a->kind == ARG_INT && dim_is(a->dim, 1);
}

static bool is_zero_arg(const Arg *a) {
  return a->kind == ARG_FLOAT ? a->number == 0 : a->kind == ARG_INT && dim_is(a->dim, 0);
}

static Node *times_param(Build *b, Node *x, const char *param) {
  Arg factor = build_arg(b, param);
  return is_one(&factor) ? x : build_with(b, OP_aten_mul_Tensor, x, factor);
}

/* beta*self + alpha*product; with beta 0 not even a NaN of self counts. */
static Node *add_scaled_product(Build *b, Node *product) {
  Arg beta = build_arg(b, "beta");
  Node *y = times_param(b, product, "alpha");
  if (is_zero_arg(&beta)) return y;
  return build_add(b, y, times_param(b, build_input(b, "self"), "beta"));
}

Node *decompose_addmm(Build *b) {
  return add_scaled_product(b, mm(b, build_input(b, "mat1"), build_input(b, "mat2")));
}

Node *decompose_baddbmm(Build *b) {
  Node *x = build_input(b, "batch1"), *y = build_input(b, "batch2");
  return add_scaled_product(b, build_op2(b, OP_aten_bmm_default, x, y));
}

/* A vector as one column. */
static Node *build_matvec(Build *b, Node *x, Node *v) {
  Node *y = rows_times(b, x, build_unsqueeze(b, v, 1));
  return build_squeeze(b, y, 1u << (rank_of(y) - 1));
}

Node *decompose_addmv(Build *b) {
  return add_scaled_product(b, build_matvec(b, build_input(b, "mat"), build_input(b, "vec")));
}

Node *decompose_mv(Build *b) {
  return build_matvec(b, build_input(b, "self"), build_input(b, "vec"));
}

static Node *build_dot(Build *b, Node *x, Node *y) {
  DType t = b->in.n->type.dtype;
  x = build_widen(b, x);
  y = build_widen(b, y);
  return build_to(b, build_sum(b, build_mul(b, x, y), 1, false), t);
}

Node *decompose_dot(Build *b) {
  return build_dot(b, build_input(b, "self"), build_input(b, "tensor"));
}

Node *decompose_outer(Build *b) {
  return build_mul(b, build_unsqueeze(b, build_input(b, "self"), 1), build_input(b, "vec2"));
}

/* ---- matmul ---- */

/* The sizes that two lists of batch axes broadcast to; `rank` axes each. */
static uint32_t join_batch(Build *b, const Node *x, const Node *y, Dim *out) {
  Operand operands[2] = {infer_tensor_operand(&x->type), infer_tensor_operand(&y->type)};
  for (int i = 0; i < 2; i++) operands[i].rank -= 2;
  return infer_broadcast(&b->in, operands, 2, out);
}

/* x, whose last two axes are matrices, expanded over the batch and with one batch axis. */
static Node *flat_batch(Build *b, Node *x, const Dim *batch, uint32_t n) {
  Dim shape[GRAPH_RANK_MAX];
  if (n) memcpy(shape, batch, n * sizeof *shape);
  shape[n] = size_from_end(x, 2);
  shape[n + 1] = size_from_end(x, 1);
  x = build_expand(b, x, n + 2, shape);
  Dim flat[] = {infer_product(&b->in, batch, n), shape[n], shape[n + 1]};
  return build_view(b, x, 3, flat);
}

/* Multiplies matrices, with batch axes that broadcast. */
Node *decompose_matmul_of(Build *b, Node *x, Node *y) {
  Dim shape[GRAPH_RANK_MAX];
  if (rank_of(y) == 2) return rows_times(b, x, y);
  uint32_t n = join_batch(b, x, y, shape);
  Node *fx = flat_batch(b, x, shape, n), *fy = flat_batch(b, y, shape, n);
  shape[n] = size_from_end(x, 2);
  shape[n + 1] = size_from_end(y, 1);
  return build_view(b, build_op2(b, OP_aten_bmm_default, fx, fy), n + 2, shape);
}

/* A vector on the left is a row, on the right a column. */
Node *decompose_matmul(Build *b) {
  Node *x = build_input(b, "self"), *y = build_input(b, "other");
  uint32_t rx = rank_of(x), ry = rank_of(y);
  if (rx == 1 && ry == 1) return build_dot(b, x, y);
  if (ry == 1) return build_matvec(b, x, y);
  if (rx == 1) x = build_lead(b, x, 2);
  return build_view(b, decompose_matmul_of(b, x, y), b->in.n->type.rank, b->in.n->type.shape);
}

/* ---- axes by their numbers ---- */

/* The axes that are not in `axes`, before those or after them. */
static Node *gather_axes(Build *b, Node *x, const int64_t *dims, uint32_t n, bool behind) {
  uint32_t order[GRAPH_RANK_MAX], set = 0, at = behind ? 0 : n;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t axis = infer_axis(&b->in, dims[i], rank_of(x));
    order[behind ? rank_of(x) - n + i : i] = axis;
    set |= 1u << axis;
  }
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (!(set >> i & 1)) order[at++] = i;
  return build_permute(b, x, order);
}

Node *decompose_tensordot(Build *b) {
  Node *x = build_input(b, "self"), *y = build_input(b, "other");
  int64_t dx[GRAPH_RANK_MAX], dy[GRAPH_RANK_MAX];
  uint32_t n = infer_ints(&b->in, "dims_self", dx);
  infer_ints(&b->in, "dims_other", dy);
  x = gather_axes(b, x, dx, n, true);
  y = gather_axes(b, y, dy, n, false);
  Dim k = infer_product(&b->in, y->type.shape, n);
  x = build_view(b, x, 2, (Dim[]){merged_rows(b, x, n), k});
  y = build_view(b, y, 2, (Dim[]){k, infer_product(&b->in, y->type.shape + n, rank_of(y) - n)});
  return build_finished(b, mm(b, x, y));
}

/* ---- products of groups ---- */

static Node *groups_product(Build *b, Node *x, Node *y, Node *ends, DType t) {
  if (!ends && t == x->type.dtype) return build_op2(b, OP_aten_bmm_default, x, y);
  if (!ends) return build(b, OP_aten_bmm_dtype, ARGS(arg_node(x), arg_node(y), arg_dtype(t)));
  NamedArg dtype = {pool_name(b->in.g->names, "out_dtype"), arg_dtype(t)};
  Arg args[] = {arg_node(x), arg_node(y), arg_node(ends)};
  return build_with_all(b, OP_nereid_grouped_mm_default, 3, args, 1, &dtype);
}

Node *decompose_grouped_mm(Build *b) {
  Node *x = build_self(b), *y = build_input(b, b->in.schema->params[1].name);
  return groups_product(b, x, y, build_input(b, "offs"), b->in.n->type.dtype);
}

/* The group of each of n rows or columns: how many groups end before it or at it. */
static Node *group_of_each(Build *b, Node *ends, Dim n) {
  Node *at = build_to(b, build_arange(b, n), ends->type.dtype);
  Node *before = build_op2(b, OP_aten_le_Tensor, ends, build_unsqueeze(b, at, 1));
  Node *group = build_sum(b, build_to(b, before, DT_I64), 1u << 1, false);
  Dim last = dim_sub(build_dims(b), ends->type.shape[0], build_const(b, 1));
  return build_with(b, OP_aten_clamp_max_default, group, arg_dim(last));
}

/* The scales of rows (`axis` 0) or of columns (1), as they broadcast to the result.  Those of a
 * matrix a group are chosen for each index of the axis that is parted. */
static Node *scales_of(Build *b, Node *scale, uint32_t axis, Node *ends, bool each) {
  const ValueType *t = &b->in.n->type;
  Dim one = build_const(b, 1), size = t->shape[t->rank - 2 + axis];
  if (t->rank == 3)
    return build_view(b, scale, 3, (Dim[]){t->shape[0], axis ? one : size, axis ? size : one});
  if (!each) return build_view(b, scale, 2, (Dim[]){axis ? one : size, axis ? size : one});
  scale = build_view(b, scale, 2, (Dim[]){ends->type.shape[0], size});
  Node *group = group_of_each(b, ends, t->shape[1 - axis]);
  scale = build(b, OP_aten_index_select_default,
                ARGS(arg_node(scale), build_int(b, 0), arg_node(group)));
  return axis ? scale : build_transpose(b, scale, 0, 1);
}

/* The sums of groups in units of 8-bit floats. */
static Node *byte_groups_product(Build *b, Node *x, Node *y, Node *ends) {
  Pool *names = b->in.g->names;
  NamedArg named[] = {
      {pool_name(names, "out_dtype"), arg_dtype(DT_F32)},
      {pool_name(names, "promotes"), arg_bool(!infer_bool(&b->in, "use_fast_accum"))}};
  Arg args[] = {arg_node(x), arg_node(y), arg_node(ends)};
  return build_with_all(b, OP_nereid_grouped_mm_default, 3, args, 2, named);
}

/* A batch of matrices: groups of as many rows as each of them has. */
static Node *byte_batches_product(Build *b, Node *x, Node *y) {
  Dim rows = x->type.shape[1];
  Node *ends = build_with(b, OP_aten_add_Scalar, build_arange(b, x->type.shape[0]),
                          build_int(b, 1));
  ends = build_to(b, build_with(b, OP_aten_mul_Scalar, ends, arg_dim(rows)), DT_I32);
  Node *flat = build_view(b, x, 2, (Dim[]){merged_rows(b, x, 1), x->type.shape[2]});
  return build_view(b, byte_groups_product(b, flat, y, ends), 3, b->in.n->type.shape);
}

/* Multiplies in units of 8-bit floats, or by operands that bf16 holds exactly. */
static Node *scaled_groups_product(Build *b, Node *x, Node *y, Node *ends) {
  bool sums = rank_of(x) == rank_of(y), whole = dim_divisible(size_from_end(x, 1), 16);
  if ((sums && !whole) || !decompose_has_float8_unit(b->in.g))
    return groups_product(b, build_to(b, x, DT_BF16), build_to(b, y, DT_BF16), ends, DT_F32);
  return ends ? byte_groups_product(b, x, y, ends) : byte_batches_product(b, x, y);
}

/* Sums in f32, times scales. */
Node *decompose_scaled_grouped_mm(Build *b) {
  Node *x = build_self(b), *y = build_input(b, "mat2"), *ends = build_input(b, "offs");
  Node *sum = scaled_groups_product(b, x, y, ends);
  sum = build_mul(b, sum, scales_of(b, build_input(b, "scale_a"), 0, ends, rank_of(x) == 3));
  sum = build_mul(b, sum, scales_of(b, build_input(b, "scale_b"), 1, ends, rank_of(y) == 3));
  return build_to_result(b, sum);
}

/* ---- dtypes that the units which multiply matrices do not sum up ---- */

/* A CPU multiplies doubles by the product's template, but for sums of a few products. */
static bool has_double_template(const Graph *g, const Node *x) {
  enum { DEPTH_LEAST = 16 };
  Dim k = x->type.shape[x->type.rank - 1];
  return g->host && x->type.dtype == DT_F64 && !(dim_is_int(k) && k->value < DEPTH_LEAST);
}

/* Integers and doubles: the sum of products of elements; [.., m, k] by [.., k, n] as [.., m, 1, k]
 * by [.., 1, n, k]. */
static Node *matmul_as_sum(Build *b) {
  Node *x = build_input(b, "self"), *y = build_input(b, "mat2");
  uint32_t rank = rank_of(x);
  DType t = x->type.dtype;
  if (build_wide(t) == DT_F32 || has_double_template(b->in.g, x)) return NULL;
  y = build_transpose(b, y, rank - 2, rank - 1);
  Node *all = build_mul(b, build_unsqueeze(b, x, rank - 1), build_unsqueeze(b, y, rank - 2));
  return build_to(b, build_sum(b, all, 1u << rank, false), t);
}

Node *decompose_mm(Build *b) { return matmul_as_sum(b); }
Node *decompose_bmm(Build *b) { return matmul_as_sum(b); }
