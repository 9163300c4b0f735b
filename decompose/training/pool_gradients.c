/* Gradients of pooling.
 *
 * An element of the input is in few windows: the one that begins last before it, and those that
 * begin earlier and reach it.  So its gradient is a sum of what is read at these windows, in an
 * order that does not change from run to run. */
#include <string.h>

#include "decompose/scatter.h"
#include "decompose/windows/pooling.h"

enum { WINDOWS_MOST = 16 }; /* that an element is in, and that are written out */

/* How many windows along axis i an element is in at most; 0: not known. */
static int64_t windows_of_element(const Pooling *p, uint32_t i) {
  if (!dim_is_int(p->kernel[i]) || !dim_is_int(p->stride[i]) || !dim_is(p->dilation[i], 1))
    return 0;
  return (p->kernel[i]->value + p->stride[i]->value - 1) / p->stride[i]->value;
}

/* Positions along an axis, in 32 bits where padding, windows and their places fit, too. */
static Node *positions(Build *b, Dim size) {
  bool narrow = dim_is_int(size) && size->value <= INT32_MAX / 4;
  Arg args[] = {build_int(b, 0), arg_dim(size), build_int(b, 1)};
  return build_with_named(b, OP_aten_arange_start_step, sizeof args / sizeof *args, args, "dtype",
                          arg_dtype(narrow ? DT_I32 : DT_I64));
}

/* For each index along axis i of the input: of the window that is `before` ones before the last
 * that begins there or earlier, the index, and is there one that has the element? */
typedef struct {
  Node *index, *there;
} WindowAt;

static WindowAt window_at(Build *b, const Pooling *p, uint32_t i, int64_t before) {
  Dim zero = build_const(b, 0), size = p->x->type.shape[p->first + i];
  Node *at = build_add_dim(b, positions(b, size), p->padding[i]);
  Node *index = build_with(b, OP_aten_floor_divide_Scalar, at, arg_dim(p->stride[i]));
  index = build_add_dim(b, index, build_const(b, -before));
  Node *inside = build_sub(b, at, build_mul_dim(b, index, p->stride[i]));
  WindowAt w = {index, build_with(b, OP_aten_lt_Scalar, inside, arg_dim(p->kernel[i]))};
  w.there = build_and(b, w.there, build_with(b, OP_aten_ge_Scalar, index, arg_dim(zero)));
  w.there = build_and(b, w.there, build_with(b, OP_aten_lt_Scalar, index, arg_dim(p->windows[i])));
  Dim last = dim_sub(build_dims(b), p->windows[i], build_const(b, 1));
  w.index = build(b, OP_aten_clamp_default, ARGS(arg_node(index), arg_dim(zero), arg_dim(last)));
  return w;
}

static Node *select_along(Build *b, Node *x, uint32_t axis, Node *index) {
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, axis), arg_node(index)));
}

static Node *sum_with(Build *b, Node *sum, Node *x) { return sum ? build_add(b, sum, x) : x; }

/* ---- maxima ---- */

/* The number of each element in its plane. */
static Node *plane_numbers(Build *b, const Pooling *p) {
  Node *number = NULL;
  for (uint32_t i = 0; i < p->n; i++) {
    Dim size = p->x->type.shape[p->first + i];
    Node *at = build_along(b, build_arange(b, size), i, p->n);
    number = number ? build_add(b, build_mul_dim(b, number, size), at) : at;
  }
  return number;
}

/* Numbers of elements from an integer of fewer bits are compared as such; PyTorch's have 64. */
static Node *narrow_indices(Node *indices) {
  Node *x = graph_is(indices, OP_aten_to_dtype) ? indices->args[0].node : indices;
  return dtype_is_signed(x->type.dtype) ? x : indices;
}

/* The gradients of the windows at `before`, where the element was the largest. */
static Node *taken_gradient(Build *b, const Pooling *p, Node *grad, Node *indices,
                            const int64_t *before, Node *numbers) {
  Node *there = NULL;
  for (uint32_t i = 0; i < p->n; i++) {
    WindowAt w = window_at(b, p, i, before[i]);
    grad = select_along(b, grad, p->first + i, w.index);
    indices = select_along(b, indices, p->first + i, w.index);
    there = build_and(b, there, build_along(b, w.there, i, p->n));
  }
  there = build_and(b, there, build_op2(b, OP_aten_eq_Tensor, indices, numbers));
  return build_where(b, there, arg_node(grad), build_int(b, 0));
}

static bool next_windows(const Pooling *p, int64_t *before) {
  for (uint32_t i = p->n; i-- > 0;) {
    if (++before[i] < windows_of_element(p, i)) return true;
    before[i] = 0;
  }
  return false;
}

/* Each gradient is added to the element of its plane that the index names. */
static Node *scattered_gradient(Build *b, uint32_t n) {
  Node *grad = build_wide_input(b, "grad_output"), *indices = build_input(b, "indices");
  const ValueType *t = &b->in.n->type;
  uint32_t inner = ((1u << n) - 1) << (t->rank - n);
  Dim planes = build_count(b, grad, all_axes(grad) & ~inner);
  Dim size = infer_product(&b->in, t->shape + t->rank - n, n);
  Dim shape[] = {planes, build_count(b, grad, inner)}, all = dim_mul(build_dims(b), planes, size);
  if (!b->in.g->unchecked) build_check_index(b, indices, size, false, arg_none(), b->in.n->name);
  Node *plane = build_mul_dim(b, build_along(b, build_arange(b, planes), 0, 2), size);
  Node *at = build_add(b, plane, build_view(b, indices, 2, shape));
  Node *none = build_full(b, 1, &all, build_int(b, 0), grad->type.dtype);
  if (!scatter_empty(b, grad)) none = scatter_add_up(b, none, at, build_view(b, grad, 2, shape));
  return build_to_result(b, build_finished(b, none));
}

static Node *maximum_gradient(Build *b, uint32_t n) {
  Node *grad = build_wide_input(b, "grad_output"), *indices = build_input(b, "indices"),
       *sum = NULL;
  Pooling p = pooling_read(b, n, &grad->type);
  int64_t count = 1, before[WINDOW_AXES] = {0};
  for (uint32_t i = 0; i < n; i++) count *= windows_of_element(&p, i);
  if (!count || count > WINDOWS_MOST) return scattered_gradient(b, n);
  Node *numbers = plane_numbers(b, &p);
  indices = narrow_indices(indices);
  if (indices->type.dtype != DT_I64) numbers = build_to(b, numbers, DT_I32);
  do sum = sum_with(b, sum, taken_gradient(b, &p, grad, indices, before, numbers));
  while (next_windows(&p, before));
  return build_to_result(b, sum);
}

Node *decompose_max_pool2d_backward(Build *b) { return maximum_gradient(b, 2); }
Node *decompose_max_pool3d_backward(Build *b) { return maximum_gradient(b, 3); }
Node *decompose_adaptive_max_pool2d_backward(Build *b) { return scattered_gradient(b, 2); }
Node *decompose_adaptive_max_pool3d_backward(Build *b) { return scattered_gradient(b, 3); }

/* ---- averages: one axis after the other ---- */

/* Products along an axis with a matrix of [windows, size]. */
static Node *product_along(Build *b, Node *x, uint32_t axis, Node *matrix) {
  uint32_t last = rank_of(x) - 1;
  x = build_transpose(b, x, axis, last);
  return build_transpose(b, decompose_matmul_of(b, x, matrix), axis, last);
}

/* Which elements (columns) are in which windows (rows), from bounds of the windows. */
static Node *membership(Build *b, Node *start, Node *end, Dim size) {
  Node *at = build_arange(b, size);
  Node *from = build_op2(b, OP_aten_ge_Tensor, at, build_unsqueeze(b, start, 1));
  return build_and(b, from, build_op2(b, OP_aten_lt_Tensor, at, build_unsqueeze(b, end, 1)));
}

static Node *spread_by_windows(Build *b, const Pooling *p, Node *grad, uint32_t i) {
  int64_t count = windows_of_element(p, i);
  uint32_t axis = p->first + i;
  if (!count || count > WINDOWS_MOST) {
    Node *start = build_mul_dim(b, build_arange(b, p->windows[i]), p->stride[i]);
    start = build_add_dim(b, start, dim_sub(build_dims(b), build_const(b, 0), p->padding[i]));
    Node *in = membership(b, start, build_add_dim(b, start, p->kernel[i]), p->x->type.shape[axis]);
    return product_along(b, grad, axis, build_to(b, in, grad->type.dtype));
  }
  Node *sum = NULL;
  for (int64_t before = 0; before < count; before++) {
    WindowAt w = window_at(b, p, i, before);
    Node *there = build_along(b, w.there, axis, rank_of(grad));
    Node *found = select_along(b, grad, axis, w.index);
    sum = sum_with(b, sum, build_where(b, there, arg_node(found), build_int(b, 0)));
  }
  return sum;
}

static Node *average_gradient(Build *b, uint32_t n) {
  Node *grad = build_wide_input(b, "grad_output");
  Pooling p = pooling_read(b, n, &grad->type);
  grad = pooling_divide(b, &p, grad);
  for (uint32_t i = 0; i < n; i++) grad = spread_by_windows(b, &p, grad, i);
  return build_to_result(b, grad);
}

Node *decompose_avg_pool2d_backward(Build *b) { return average_gradient(b, 2); }
Node *decompose_avg_pool3d_backward(Build *b) { return average_gradient(b, 3); }

/* ---- averages of adaptive windows ---- */

/* Windows of `times` elements each: every one of the gradient's is repeated. */
static Node *repeat_along(Build *b, Node *x, uint32_t axis, Dim times) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x);
  memcpy(shape, x->type.shape, (axis + 1) * sizeof *shape);
  shape[axis + 1] = times;
  memcpy(shape + axis + 2, x->type.shape + axis + 1, (rank - axis - 1) * sizeof *shape);
  Node *y = build_expand(b, build_unsqueeze(b, x, axis + 1), rank + 1, shape);
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  shape[axis] = dim_mul(build_dims(b), shape[axis], times);
  y = build_view(b, y, rank, shape);
  return build_with(b, OP_aten_div_Tensor, y, arg_dim(times));
}

static Node *spread_adaptive(Build *b, Node *grad, uint32_t axis, Dim size) {
  Dim windows = grad->type.shape[axis];
  if (dim_is_int(windows) && windows->value > 0 && dim_divisible(size, windows->value))
    return repeat_along(b, grad, axis, dim_floordiv(build_dims(b), size, windows));
  Node *start = pooling_adaptive_bound(b, size, windows, false);
  Node *end = pooling_adaptive_bound(b, size, windows, true);
  Node *count = build_unsqueeze(b, build_sub(b, end, start), 1);
  Node *in = build_to(b, membership(b, start, end, size), grad->type.dtype);
  return product_along(b, grad, axis, build_div(b, in, build_to(b, count, grad->type.dtype)));
}

static Node *adaptive_gradient(Build *b, uint32_t n) {
  Node *grad = build_wide_input(b, "grad_output");
  const ValueType *t = &b->in.n->type;
  for (uint32_t axis = t->rank - n; axis < t->rank; axis++)
    grad = spread_adaptive(b, grad, axis, t->shape[axis]);
  return build_to_result(b, grad);
}

Node *decompose_adaptive_avg_pool2d_backward(Build *b) { return adaptive_gradient(b, 2); }
Node *decompose_adaptive_avg_pool3d_backward(Build *b) { return adaptive_gradient(b, 3); }
