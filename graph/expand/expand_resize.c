/* Expansions of gradients of resized images.  A resized image is a product with a matrix along each
 * axis; the matrix is what resizing makes of the unit matrix.  An element of the image counts for
 * few elements of the result, which are next to each other: its gradient is the sum over this
 * window. */
#include <math.h>
#include <string.h>

#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

typedef struct {
  OpId op;           /* resizes images of `axes` axes */
  uint32_t axes;     /* 1; 2 of kernels that there are for two axes alone */
  bool takes_corners;
  double reach;      /* elements on either side that count, where images grow */
} Resizing;

/* The largest window; the least axis on a CPU, where products are faster up to there: measured on
 * 2 cores (256 elements: windows take 2.5 times as long; 512: half; 1024: a quarter). */
enum { WINDOW_MOST = 16, AXIS_LEAST_ON_HOST = 384 };

/* An axis before and after. */
typedef struct {
  Dim from, to;
  Arg factor;
} ResizedAxis;

/* The factor of spatial axis i of n, or None. */
static Arg factor_of(Build *b, uint32_t i, uint32_t n) {
  static const char *const named[] = {"scales_d", "scales_h", "scales_w"};
  return build_arg(b, n == 1 ? "scales" : named[i + 3 - n]);
}

/* How many axes the operator resizes. */
static uint32_t axes_resized(Build *b) {
  return infer_takes(&b->in, "scales") ? 1 : infer_takes(&b->in, "scales_d") ? 3 : 2;
}

/* [from, to]: row i is the image of which element i is 1. */
static Node *weights(Build *b, const Resizing *r, const ResizedAxis *a, DType t) {
  Dim one = build_const(b, 1), size[] = {a->to, one};
  Node *row = build_unsqueeze(b, build_arange(b, a->from), 1);
  Node *unit = build_op2(b, OP_aten_eq_Tensor, row, build_arange(b, a->from));
  unit = build_unsqueeze(b, build_to(b, unit, t), 0);
  if (r->axes == 2) unit = build_unsqueeze(b, unit, 3);
  Arg args[5] = {arg_node(unit), arg_dims(b->in.g, r->axes, size)};
  uint32_t n = 2;
  if (r->takes_corners) args[n++] = build_arg(b, "align_corners");
  args[n++] = a->factor;
  if (r->axes == 2) args[n++] = arg_none();
  Node *y = build(b, r->op, n, args);
  return build_squeeze(b, y, r->axes == 2 ? 1u << 0 | 1u << 3 : 1u << 0);
}

/* ---- an axis ---- */

static Node *times_matrix(Build *b, Node *x, uint32_t axis, Node *matrix) {
  uint32_t last = rank_of(x) - 1;
  Node *y = build_product(b, OP_aten_matmul_default, build_transpose(b, x, axis, last), matrix,
                          ROUNDS_NEVER);
  return build_transpose(b, y, axis, last);
}

/* The most elements of the result that one of the image counts for; 0: that is not known. */
static int64_t window_most(Build *b, const Resizing *r, const ResizedAxis *a) {
  if (!dim_is_int(a->from) || !dim_is_int(a->to) || !a->from->value || !a->to->value) return 0;
  if (b->in.g->host && a->from->value < AXIS_LEAST_ON_HOST) return 0;
  double from = (double)a->from->value, to = (double)a->to->value, grows = to / from;
  bool corners = r->takes_corners && build_arg(b, "align_corners").flag;
  if (a->factor.kind != ARG_NONE && a->factor.kind != ARG_FLOAT) return 0;
  if (corners) grows = from > 1 ? (to - 1) / (from - 1) : to;
  else if (a->factor.kind == ARG_FLOAT && a->factor.number > 0) grows = a->factor.number;
  if (!corners && fabs(from * grows - to) > 1) return 0; /* not a factor of these sizes */
  int64_t most = (int64_t)ceil(2 * r->reach * fmax(grows, 1)) + 2;
  return most < a->to->value && most <= WINDOW_MOST ? most : 0;
}

/* The sum over the window of `most` elements from the first one that each row of the matrix has,
 * term by term: a reduction over so few would be slower. */
static Node *sum_windows(Build *b, Node *x, uint32_t axis, Node *matrix, int64_t most) {
  Arg to = arg_dim(matrix->type.shape[1]), dim = build_int(b, 1);
  Dim last = dim_sub(build_dims(b), matrix->type.shape[1], build_const(b, 1));
  Node *counts = build_to(b, build_with(b, OP_aten_ne_Scalar, matrix, build_int(b, 0)), DT_I32);
  Node *first = build(b, OP_aten_argmax_default, ARGS(arg_node(counts), dim)), *sum = NULL;
  for (int64_t i = 0; i < most; i++) {
    Node *at = build_with(b, OP_aten_add_Tensor, first, build_int(b, i));
    Node *within = build_with(b, OP_aten_lt_Scalar, at, to);
    at = build_with(b, OP_aten_clamp_max_default, at, arg_dim(last));
    Node *w = build(b, OP_aten_gather_default,
                    ARGS(arg_node(matrix), dim, arg_node(build_unsqueeze(b, at, 1))));
    w = build_where(b, within, arg_node(build_squeeze(b, w, 1u << 1)), build_int(b, 0));
    w = build_along(b, w, axis, rank_of(x));
    Node *y = build(b, OP_aten_index_select_default,
                    ARGS(arg_node(x), build_int(b, axis), arg_node(at)));
    /* An infinite element with weight 0 would give NaN. */
    Node *counted = build_with(b, OP_aten_ne_Scalar, w, build_int(b, 0));
    y = build_where(b, counted, arg_node(build_mul(b, y, w)), build_int(b, 0));
    sum = sum ? build_add(b, sum, y) : y;
  }
  return sum;
}

/* Copies of each element next to each other are added. */
static Node *sum_copies(Build *b, Node *x, uint32_t axis, int64_t copies) {
  Node *sum = NULL;
  for (int64_t i = 0; i < copies; i++) {
    Node *y = build_slice(b, x, axis, build_const(b, i), x->type.shape[axis], copies);
    sum = sum ? build_add(b, sum, y) : y;
  }
  return sum;
}

/* How many copies of each element an image without weights has; 0: not the same of all. */
static int64_t copies_of(const Resizing *r, const ResizedAxis *a) {
  if (r->reach > 0.5 || !dim_is_int(a->from) || !dim_is_int(a->to)) return 0;
  int64_t from = a->from->value, copies = from > 0 ? a->to->value / from : 0;
  bool same = a->factor.kind == ARG_NONE ||
              (a->factor.kind == ARG_FLOAT && a->factor.number == (double)copies);
  bool whole = copies > 0 && copies * from == a->to->value;
  return same && whole && copies <= WINDOW_MOST ? copies : 0;
}

static Node *axis_gradient(Build *b, const Resizing *r, Node *y, uint32_t axis,
                           const ResizedAxis *a) {
  int64_t copies = copies_of(r, a);
  if (copies) return sum_copies(b, y, axis, copies);
  Node *w = weights(b, r, a, y->type.dtype);
  int64_t most = window_most(b, r, a);
  return most ? sum_windows(b, y, axis, w, most)
              : times_matrix(b, y, axis, build_transpose(b, w, 0, 1));
}

static Node *resized_gradient(Build *b, Resizing r) {
  Node *grad = build_input(b, "grad_output");
  Dim from[GRAPH_RANK_MAX], to[GRAPH_RANK_MAX];
  DType t = grad->type.dtype;
  uint32_t rank = infer_sizes(&b->in, "input_size", from);
  uint32_t n = infer_sizes(&b->in, "output_size", to);
  infer_need_float(&b->in, t);
  if (n != axes_resized(b))
    infer_fail(&b->in, E_GRAPH_PER_AXIS, "output_size", n, axes_resized(b));
  infer_rank(&b->in, &grad->type, n + 2, n + 2);
  if (rank != n + 2)
    infer_fail(&b->in, E_GRAPH_AXES_EXACT, n + 2, infer_shape_text(&b->in, from, rank));
  Node *y = build_widen(b, grad);
  for (uint32_t i = 0; i < n; i++) {
    infer_same_size(&b->in, grad->type.shape[2 + i], to[i], "the sizes of the gradient");
    ResizedAxis axis = {from[2 + i], to[i], factor_of(b, i, n)};
    y = axis_gradient(b, &r, y, 2 + i, &axis);
  }
  return build_to(b, y, t);
}

Node *expand_resize_nearest_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten_upsample_nearest1d_default, 1, false, 0.5});
}
Node *expand_resize_exact_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten__upsample_nearest_exact1d_default, 1, false, 0.5});
}
Node *expand_resize_linear_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten_upsample_linear1d_default, 1, true, 1});
}
Node *expand_resize_cubic_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten_upsample_bicubic2d_default, 2, true, 2});
}
Node *expand_resize_linear_smooth_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten__upsample_bilinear2d_aa_default, 2, true, 1});
}
Node *expand_resize_cubic_smooth_backward(Build *b) {
  return resized_gradient(b, (Resizing){OP_aten__upsample_bicubic2d_aa_default, 2, true, 2});
}
