/* Gradients of parts of tensors, and of what copies elements: padding, choosing by a mask. */
#include <math.h>
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/scatter.h"
#include "graph/builders/mask_builder.h"

/* ---- parts: the rest is 0 ---- */

static Node *zeros_of_result(Build *b) {
  const ValueType *t = &b->in.n->type;
  return build_full(b, t->rank, t->shape, build_int(b, 0), t->dtype);
}

Node *decompose_select_backward(Build *b) {
  return build(b, OP_aten_select_scatter_default,
               ARGS(arg_node(zeros_of_result(b)), arg_node(build_self(b)), build_arg(b, "dim"),
                    build_arg(b, "index")));
}

Node *decompose_slice_backward(Build *b) {
  return build(b, OP_aten_slice_scatter_default,
               ARGS(arg_node(zeros_of_result(b)), arg_node(build_self(b)), build_arg(b, "dim"),
                    build_arg(b, "start"), build_arg(b, "end"), build_arg(b, "step")));
}

Node *decompose_diagonal_backward(Build *b) {
  return build(b, OP_aten_diagonal_scatter_default,
               ARGS(arg_node(zeros_of_result(b)), arg_node(build_self(b)), build_arg(b, "offset"),
                    build_arg(b, "dim1"), build_arg(b, "dim2")));
}

/* The elements where the mask holds, in their order. */
Node *decompose_masked_scatter_backward(Build *b) {
  Node *grad = build_self(b);
  Node *mask = build_expand(b, build_input(b, "mask"), rank_of(grad), grad->type.shape);
  Dim all = value_numel(b->in.g, &b->in.n->type);
  Node *none = build_full(b, 1, &all, build_int(b, 0), grad->type.dtype);
  if (scatter_empty(b, grad) || dim_is(all, 0)) return build_finished(b, none);
  mask = build_flat(b, mask);
  Node *number = build_where(b, mask, arg_node(build_mask_number(b, mask)), build_int(b, -1));
  Node *writer = scatter_writers(b, all, number);
  return build_finished(b, scatter_take(b, none, writer, build_flat(b, grad)));
}

/* ---- padding, one axis after the other ---- */

/* x at [from, to) along an axis, among zeros: the axis is `size` long, x begins at `at`. */
static Node *placed(Build *b, Node *x, uint32_t axis, Dim at, Dim size) {
  Dims *d = build_dims(b);
  uint32_t after = rank_of(x) - 1 - axis;
  Arg pads = arg_list(b->in.g, 2 * (after + 1));
  for (uint32_t i = 0; i < 2 * after; i++) pads.items[i] = build_int(b, 0);
  pads.items[2 * after] = arg_dim(at);
  pads.items[2 * after + 1] = arg_dim(dim_sub(d, dim_sub(d, size, at), x->type.shape[axis]));
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), pads, build_int(b, 0)));
}

typedef struct {
  uint32_t axis;
  Dim before, after, size; /* of the operand */
} Padding;

/* What a side's gradient adds: mirrored into the operand, or summed up at its edge. */
static Node *side_gradient(Build *b, const Padding *p, Node *grad, bool high, bool reflects) {
  Dims *d = build_dims(b);
  Dim one = build_const(b, 1), zero = build_const(b, 0), inner = dim_add(d, p->before, p->size);
  Dim from = high ? inner : zero, to = high ? dim_add(d, inner, p->after) : p->before;
  Dim last = dim_sub(d, p->size, one);
  Node *side = build_slice(b, grad, p->axis, from, to, 1);
  if (!reflects)
    return placed(b, build_sum(b, side, 1u << p->axis, true), p->axis, high ? last : zero, p->size);
  side = build_with(b, OP_aten_flip_default, side, arg_axes(b->in.g, 1u << p->axis));
  return placed(b, side, p->axis, high ? dim_sub(d, last, p->after) : one, p->size);
}

/* Grad with zeros for the elements that a negative padding has cut off. */
static Node *uncut(Build *b, Node *grad, Padding *p) {
  Dim *sides[] = {&p->before, &p->after}, none = build_const(b, 0);
  for (int high = 0; high < 2; high++) {
    Dim side = *sides[high];
    if (!dim_is_int(side) || side->value >= 0) continue;
    Dim size = dim_sub(build_dims(b), grad->type.shape[p->axis], side);
    grad = placed(b, grad, p->axis, high ? none : build_const(b, -side->value), size);
    *sides[high] = none;
  }
  return grad;
}

static Node *padding_gradient(Build *b, bool reflects) {
  Node *grad = build_wide_input(b, "grad_output"), *x = build_input(b, "self");
  Arg list = build_arg(b, "padding");
  for (uint32_t i = 0; i < list.n / 2; i++) {
    uint32_t axis = rank_of(x) - 1 - i;
    Padding p = {axis, infer_dim_of(&b->in, &list.items[2 * i]),
                 infer_dim_of(&b->in, &list.items[2 * i + 1]), x->type.shape[axis]};
    grad = uncut(b, grad, &p);
    Node *y = build_slice(b, grad, axis, p.before, dim_add(build_dims(b), p.before, p.size), 1);
    if (!dim_is(p.before, 0)) y = build_add(b, y, side_gradient(b, &p, grad, false, reflects));
    if (!dim_is(p.after, 0)) y = build_add(b, y, side_gradient(b, &p, grad, true, reflects));
    grad = y;
  }
  return build_to_result(b, grad);
}

Node *decompose_reflection_pad_backward(Build *b) { return padding_gradient(b, true); }
Node *decompose_replication_pad_backward(Build *b) { return padding_gradient(b, false); }

/* ---- windows along an axis, which are added where they overlap ---- */

enum { OVERLAPS_MOST = 16 }; /* windows with one element that are terms of a sum as written */

typedef struct {
  int64_t size, step; /* of a window, from one to the next */
} Windows;

/* Rows of `step` elements, the j-th of each window, at row j on among those of all windows: [rows,
 * windows + overlaps - 1, step] */
static Node *row_of_windows(Build *b, Node *x, const Windows *w, int64_t j, int64_t overlaps) {
  int64_t from = j * w->step, to = from + w->step < w->size ? from + w->step : w->size;
  int64_t pads[] = {0, w->step - (to - from), j, overlaps - 1 - j};
  Arg list = arg_list(b->in.g, 4);
  for (uint32_t i = 0; i < 4; i++) list.items[i] = build_int(b, pads[i]);
  x = build_slice(b, x, 2, build_const(b, from), build_const(b, to), 1);
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), list, build_int(b, 0)));
}

/* x: [rows, windows, size]; gives [rows, total], with zeros where no window is. */
static Node *sum_of_rows(Build *b, Node *x, const Windows *w, Dim total) {
  int64_t overlaps = (w->size + w->step - 1) / w->step;
  Node *y = NULL;
  for (int64_t j = 0; j < overlaps; j++) {
    Node *row = row_of_windows(b, x, w, j, overlaps);
    y = y ? build_add(b, y, row) : row;
  }
  Dims *d = build_dims(b);
  Dim all = dim_mul(d, y->type.shape[1], y->type.shape[2]), more = dim_sub(d, total, all);
  y = build_view(b, y, 2, (Dim[]){y->type.shape[0], all});
  if (dim_is(more, 0)) return y;
  Arg pads = arg_list(b->in.g, 2);
  pads.items[0] = build_int(b, 0);
  pads.items[1] = arg_dim(more); /* negative: cut */
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(y), pads, build_int(b, 0)));
}

static Node *sum_of_columns(Build *b, Node *x, const Windows *w, Dim total) {
  Dim one = build_const(b, 1), zero = build_const(b, 0);
  Dim sizes[][2] = {{one, total}, {one, build_const(b, w->size)}, {one, one}, {zero, zero},
                    {one, build_const(b, w->step)}};
  Arg pairs[5];
  for (int i = 0; i < 5; i++) pairs[i] = arg_dims(b->in.g, 2, sizes[i]);
  Node *y = build(b, OP_aten_col2im_default,
                  ARGS(arg_node(build_transpose(b, x, 1, 2)), pairs[0], pairs[1], pairs[2],
                       pairs[3], pairs[4]));
  return build_view(b, y, 2, (Dim[]){x->type.shape[0], total});
}

/* All rows may have the windows of one: torch.istft adds the squares of its window so. */
Node *decompose_unfold_backward(Build *b) {
  const ValueType *t = &b->in.n->type;
  Node *grad = build_wide_input(b, "grad_in");
  Windows w = {infer_int(&b->in, "size"), infer_int(&b->in, "step")};
  if (!w.size || scatter_empty(b, grad)) return zeros_of_result(b);
  if (!t->rank) return build_to_result(b, build_sum(b, grad, 1, false));
  uint32_t axis = infer_axis_arg(&b->in, "dim", t->rank), last = t->rank - 1;
  Dim shape[GRAPH_RANK_MAX];
  grad = build_transpose(b, grad, axis, last);
  memcpy(shape, grad->type.shape, last * sizeof *shape);
  Dim rows[] = {infer_product(&b->in, shape, last), grad->type.shape[last], build_const(b, w.size)};
  grad = build(b, OP_aten_reshape_default, ARGS(arg_node(grad), arg_dims(b->in.g, 3, rows)));
  bool few = w.size <= OVERLAPS_MOST * w.step;
  Node *y = (few ? sum_of_rows : sum_of_columns)(b, grad, &w, t->shape[axis]);
  shape[last] = t->shape[axis];
  y = build(b, OP_aten_reshape_default, ARGS(arg_node(y), arg_dims(b->in.g, t->rank, shape)));
  y = build_expand(b, build_transpose(b, y, axis, last), t->rank, t->shape);
  return build_to_result(b, y);
}

/* ---- distances ---- */

static Node *power_of(Build *b, Node *x, double exponent) {
  if (exponent == 1) return x;
  return build_with(b, OP_aten_pow_Tensor_Scalar, x, arg_float(exponent));
}

/* The derivative of |gap| in the norm of order p by gap, except for the sum over all: a gap of 0
 * has none. */
static Node *norm_slope(Build *b, Node *gap, Node *dist, double p) {
  Node *size = build_op1(b, OP_aten_abs_default, gap),
       *zero = build_full(b, 0, NULL, build_int(b, 0), gap->type.dtype);
  Node *sign = build_op1(b, OP_aten_sign_default, gap);
  if (p == 1) return sign;
  if (isinf(p)) {
    Node *largest = build_op2(b, OP_aten_eq_Tensor, size, dist);
    return build_where(b, largest, arg_node(sign), arg_node(zero));
  }
  Node *slope =
      build_div(b, build_mul(b, sign, power_of(b, size, p - 1)), power_of(b, dist, p - 1));
  Node *none = build_op2(b, OP_aten_eq_Tensor, p < 1 ? gap : dist, zero);
  return build_where(b, none, arg_node(zero), arg_node(slope));
}

/* Each row of x1 has a distance to each of x2: a sum over these. */
Node *decompose_cdist_backward(Build *b) {
  Node *x = build_wide_input(b, "x1"), *y = build_wide_input(b, "x2");
  double p = infer_number(&b->in, "p");
  if (p == 0) return zeros_of_result(b);
  Node *grad = build_wide_input(b, "grad"), *dist = build_wide_input(b, "cdist");
  uint32_t rank = rank_of(grad);
  Node *gap =
      build_sub(b, build_unsqueeze(b, x, rank_of(x) - 1), build_unsqueeze(b, y, rank_of(y) - 2));
  Node *slope = norm_slope(b, gap, build_unsqueeze(b, dist, rank), p);
  Node *all = build_mul(b, slope, build_unsqueeze(b, grad, rank));
  return build_to_result(b, build_sum(b, all, 1u << (rank - 1), false));
}

/* ---- weights by length and direction ---- */

/* w = v * g / |v|, lengths being over all axes but one. */
Node *decompose_weight_norm_backward(Build *b) {
  Node *grad = build_wide_input(b, "grad_w"), *v = build_wide_input(b, "saved_v");
  Node *g = build_wide_input(b, "saved_g"), *length = build_wide_input(b, "saved_norms");
  uint32_t others = all_axes(v) & ~(1u << infer_axis_arg(&b->in, "dim", rank_of(v)));
  Node *along = build_sum(b, build_mul(b, grad, v), others, true);
  Node *of_g = build_div(b, along, length);
  Node *rest = build_sub(b, grad, build_mul(b, v, build_div(b, of_g, length)));
  return build_results(b, 2, (Node *[]){build_mul(b, rest, build_div(b, g, length)), of_g});
}
