/* Reductions, and what is normalized by them along one axis. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx_op.h"

/* ---- reductions ---- */

typedef struct {
  uint32_t set; /* of axes */
  bool keep;
} Reduction;

/* Axes are an attribute, or from the opset on that `input_since` says, input 1.  None: all, or
 * where an attribute says so, none at all. */
static Reduction read_reduction(OnnxCall *c, Node *x, int input_since) {
  int64_t list[GRAPH_RANK_MAX];
  const int64_t *axes = list;
  uint32_t n = 0;
  Reduction r = {.keep = onnx_flag(c, "keepdims", true)};
  bool none = onnx_flag(c, "noop_with_empty_axes", false);
  if (c->opset < input_since) axes = onnx_ints(c, "axes", &n);
  else if (onnx_has(c, 1)) n = onnx_need_ints(c, 1, list);
  if (axes && n) r.set = onnx_axis_set(c, axes, n, rank_of(x));
  else if (!none) r.set = all_axes(x);
  return r;
}

static Reduction reduction(OnnxCall *c, Node *x) {
  return read_reduction(c, x, c->op->id == ONNX_ReduceSum ? 13 : 18);
}

/* The least number of the dtype, or the largest: what an extreme of no elements is. */
static Arg extreme_of_none(OnnxCall *c, DType t, bool most) {
  if (dtype_is_float(t)) return arg_float(most ? -INFINITY : INFINITY);
  if (t == DT_I1) return arg_bool(!most);
  unsigned bits = dtype_bits(t) - dtype_is_signed(t);
  int64_t top = bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
  int64_t low = dtype_is_signed(t) ? -top - 1 : 0;
  return build_int(&c->b, most ? low : top);
}

static bool reduces_nothing(const Node *x, uint32_t set) {
  for (uint32_t i = 0; i < rank_of(x); i++)
    if ((set >> i & 1) && dim_is(x->type.shape[i], 0)) return true;
  return false;
}

/* A tensor of that number in the shape that the reduction of x has. */
static Node *reduced_to(OnnxCall *c, Node *x, const Reduction *r, Arg number) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (!(r->set >> i & 1)) shape[n++] = x->type.shape[i];
    else if (r->keep) shape[n++] = build_const(&c->b, 1);
  return build_full(&c->b, n, shape, number, x->type.dtype);
}

static void set_reduced(OnnxCall *c, OpId op, Node *x) {
  Reduction r = reduction(c, x);
  Node *y = build_reduce(&c->b, op, x, r.set, r.keep);
  onnx_set(c, 0, build_to(&c->b, y, onnx_type(c, 0)->dtype));
}

/* Sets the extreme of no elements, which ATen refuses; the logarithm of no sum is that of 0. */
static bool set_empty(OnnxCall *c, Node *x, bool most) {
  Reduction r = reduction(c, x);
  if (!reduces_nothing(x, r.set)) return false;
  onnx_set(c, 0, reduced_to(c, x, &r, extreme_of_none(c, x->type.dtype, most)));
  return true;
}

void onnx_op_reduce(OnnxCall *c) {
  bool logarithm = c->op->aten == OP_aten_logsumexp_default;
  if (logarithm && set_empty(c, onnx_in(c, 0), true)) return;
  set_reduced(c, c->op->aten, onnx_in(c, 0));
}

/* The sum of elements by their number; of integers without what is left over. */
static Node *mean_of(OnnxCall *c, Node *x, const Reduction *r, Dim count) {
  Build *b = &c->b;
  bool floats = dtype_is_float(x->type.dtype);
  Node *sum = build_sum(b, floats ? build_widen(b, x) : build_to(b, x, DT_I64), r->set, r->keep);
  count = dim_max(onnx_dims(c), count, build_const(b, 1));
  if (floats) return build_with(b, OP_aten_div_Tensor, sum, arg_dim(count));
  Arg trunc = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, "trunc")};
  Node *by = build_full(b, 0, NULL, arg_dim(count), DT_I64);
  return build_with_named(b, OP_aten_div_Tensor_mode, ARGS(arg_node(sum), arg_node(by)),
                          "rounding_mode", trunc);
}

/* The mean of no elements is 0, as in ONNX Runtime: ONNX leaves it open. */
void onnx_op_reduce_mean(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  Reduction r = reduction(c, x);
  Dim count = build_const(b, 1);
  bool floats = dtype_is_float(x->type.dtype), some = true;
  for (uint32_t i = 0; i < rank_of(x); i++) {
    if (!(r.set >> i & 1)) continue;
    count = dim_mul(onnx_dims(c), count, x->type.shape[i]);
    some &= dim_range(onnx_dims(c), x->type.shape[i]).lo > 0;
  }
  if (!r.set || (some && floats)) set_reduced(c, OP_aten_mean_dim, x);
  else if (reduces_nothing(x, r.set))
    onnx_set(c, 0, reduced_to(c, x, &r, floats ? arg_float(0) : build_int(b, 0)));
  else onnx_set(c, 0, build_to(b, mean_of(c, x, &r, count), x->type.dtype));
}

/* The largest of booleans is whether any is true: the extremes of no integers have its sign. */
void onnx_op_reduce_extreme(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  if (set_empty(c, x, c->op->aten == OP_aten_amax_default)) return;
  if (x->type.dtype != DT_I1) {
    set_reduced(c, c->op->aten, x);
    return;
  }
  Reduction r = reduction(c, x);
  Node *y = build_reduce(b, c->op->aten, build_to(b, x, DT_I32), r.set, r.keep);
  onnx_set(c, 0, build_with(b, OP_aten_gt_Scalar, y, build_int(b, 0)));
}

void onnx_op_reduce_l1(OnnxCall *c) {
  set_reduced(c, OP_aten_sum_dim_IntList, build_op1(&c->b, OP_aten_abs_default, onnx_in(c, 0)));
}

void onnx_op_reduce_sum_square(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  set_reduced(c, OP_aten_sum_dim_IntList, build_mul(&c->b, x, x));
}

static void apply_after_reduce(OnnxCall *c, OpId reduce, Node *x, OpId then) {
  Reduction r = reduction(c, x);
  Node *y = build_op1(&c->b, then, build_reduce(&c->b, reduce, x, r.set, r.keep));
  onnx_set(c, 0, build_to(&c->b, y, onnx_type(c, 0)->dtype));
}

void onnx_op_reduce_l2(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  apply_after_reduce(c, OP_aten_sum_dim_IntList, build_mul(&c->b, x, x), OP_aten_sqrt_default);
}

void onnx_op_reduce_log_sum(OnnxCall *c) {
  apply_after_reduce(c, OP_aten_sum_dim_IntList, onnx_in(c, 0), OP_aten_log_default);
}

/* ATen multiplies along one axis at a time. */
void onnx_op_reduce_prod(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  DType t = x->type.dtype;
  Reduction r = reduction(c, x);
  for (uint32_t axis = rank_of(x); axis--;) {
    if (!(r.set >> axis & 1)) continue;
    Arg args[] = {arg_node(x), build_int(b, axis), arg_bool(r.keep)};
    x = build_with_named(b, OP_aten_prod_dim_int, 3, args, "dtype", arg_dtype(t));
  }
  onnx_set(c, 0, x);
}

/* ---- indices of extremes ---- */

/* Along an axis without elements there are places only of no rows; NULL: there are elements. */
static Node *no_places(Build *b, Node *x, uint32_t axis, bool keep) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = 0;
  bool empty = false;
  if (!dim_is(x->type.shape[axis], 0)) return NULL;
  for (uint32_t i = 0; i < rank_of(x); i++) {
    if (i == axis && !keep) continue;
    shape[rank] = i == axis ? build_const(b, 1) : x->type.shape[i];
    empty |= dim_is(shape[rank++], 0);
  }
  return empty ? build_full(b, rank, shape, build_int(b, 0), DT_I64) : NULL;
}

/* The first of equal elements counts, or the last: the first of the reversed axis. */
void onnx_op_arg(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", 0, rank_of(x));
  bool last = onnx_flag(c, "select_last_index", false), keep = onnx_flag(c, "keepdims", true);
  Node *none = no_places(b, x, axis, keep);
  if (none) {
    onnx_set(c, 0, none);
    return;
  }
  if (last) x = build_with(b, OP_aten_flip_default, x, arg_axes(b->in.g, 1u << axis));
  Arg args[] = {arg_node(x), build_int(b, axis), arg_bool(keep)};
  Node *y = build(b, c->op->aten, 3, args);
  if (last) {
    Dim most = dim_sub(onnx_dims(c), x->type.shape[axis], build_const(b, 1));
    y = build_with(b, OP_aten_rsub_Scalar, y, arg_dim(most));
  }
  onnx_set(c, 0, y);
}

/* ---- softmax and its relatives ---- */

/* Before opset 13 they take a matrix: the axes before `axis`, and those from it on. */
typedef struct {
  Node *x;       /* as the operator is to see it */
  uint32_t axis; /* of x */
  Node *whole;   /* the operator's input */
} Rows;

static Rows softmax_rows(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", c->opset < 13 ? 1 : -1, rank_of(x));
  if (c->opset >= 13) return (Rows){x, axis, x};
  Dim shape[2] = {infer_product(&c->b.in, x->type.shape, axis),
                  infer_product(&c->b.in, x->type.shape + axis, rank_of(x) - axis)};
  return (Rows){build_view(&c->b, x, 2, shape), 1, x};
}

static void set_softmax_rows(OnnxCall *c, const Rows *r, Node *y) {
  onnx_set(c, 0, build_view(&c->b, y, rank_of(r->whole), r->whole->type.shape));
}

void onnx_op_softmax(OnnxCall *c) {
  Rows r = softmax_rows(c);
  set_softmax_rows(c, &r, build_with(&c->b, c->op->aten, r.x, build_int(&c->b, r.axis)));
}

/* 1 at the index of the first largest element of a row, else 0.  A row may have no elements, so it
 * is no argmax. */
void onnx_op_hardmax(OnnxCall *c) {
  Build *b = &c->b;
  Rows r = softmax_rows(c);
  Dim size = r.x->type.shape[r.axis];
  Node *most = build_reduce(b, OP_aten_amax_default, r.x, 1u << r.axis, true);
  Node *hit = build_op2(b, OP_aten_eq_Tensor, r.x, most);
  hit = build_op2(b, OP_aten_logical_or_default, hit, build_op1(b, OP_aten_isnan_default, r.x));
  Node *all = build_along(b, build_arange(b, size), r.axis, rank_of(r.x));
  Node *index = build_where(b, hit, arg_node(all), arg_dim(size));
  index = build_reduce(b, OP_aten_amin_default, index, 1u << r.axis, true);
  Node *same = build_op2(b, OP_aten_eq_Tensor, all, index);
  set_softmax_rows(c, &r, build_to(b, same, r.x->type.dtype));
}
